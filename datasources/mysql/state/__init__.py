"""What a batch is: where it begins and ends in the binlog and which chunks it reads.

`mysql_state` is the connector state in the offset, `snapshot_scan` how far tables are read, `range_report` what a
reader reports.
"""
