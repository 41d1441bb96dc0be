"""Temporal joins: planned with the needs of each table, executed above the loaded scans."""
