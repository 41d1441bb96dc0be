"""Joins with tables as of a time: planned with the tables' needs, run above the loaded scans."""
