"""Places in a binlog: file and position, GTID sets, passed transactions, and errors that name a transaction."""
