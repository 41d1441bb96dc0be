"""Reads a dump.

`binlog_reader` turns blocks into row changes and statements, `run_reader` decodes runs of events, `committed` orders
changes by commit, `log_scan` scans a range without decoding, `opening` opens readers.
"""
