"""Binlog events: blocks in one buffer, types, checksums, compressed payloads, and events that are read one by one."""
