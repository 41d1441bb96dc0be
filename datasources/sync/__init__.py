"""`tidemark mysql sync`: copies of all tables of a MySQL database, kept equal while rows and columns change.

`sync_request` is what was asked for. `sync_command` starts Spark and runs the loop, `database_sync`: it begins with
tables that appear, and ends with the first error. `table_sync` is the query of one table: it stops at a new column, and
is started again with it; `restarts` says when after an error that may pass. What happens to the copy is in
`sinks.lake.delta_copy`.
"""
