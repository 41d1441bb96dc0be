"""Positions in a binlog: file and position, GTID sets, read transactions, and errors that name a transaction."""
