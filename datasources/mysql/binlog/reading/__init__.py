"""Following a dump.

`binlog_reader` turns blocks into row changes and statements, `run_reader` decodes runs of events, `committed` puts
changes into the order of commit, `log_scan` passes a range without decoding, `opening` opens readers.
"""
