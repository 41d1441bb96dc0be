"""Statements in the binlog: their tokens under the session's sql_mode, their kinds, and the tables that they name."""
