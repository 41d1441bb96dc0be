"""The state of a batch: where it begins and ends in the binlog, and which chunks it reads.

`mysql_state` is the connector state in the offset, `snapshot_scan` the progress through the tables, `range_report` what
a reader reports at the end of its range.
"""
