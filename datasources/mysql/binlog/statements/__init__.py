"""Statements in the binlog: their words by the sql_mode of the session, what they do, which tables they name."""
