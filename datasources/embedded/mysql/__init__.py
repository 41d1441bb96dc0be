"""A MySQL or MariaDB on loopback.

`mysql_server`, its configuration, its data directory, and which version runs here.
"""
