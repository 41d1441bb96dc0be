"""Asking a server for its binlog: the dump, its packets, its errors, how long it may be silent."""
