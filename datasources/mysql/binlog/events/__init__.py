"""Events: blocks in one buffer, their types, checksums, compressed payloads, and events that are read one by one."""
