"""MySQL and MariaDB: tables as they are, then every change.

`source` turns options into a scan. On the driver `planning` decides what each batch reads, with what `server` knows
about the server and its log; on executors `reader` reads the binlog (`binlog`) and chunks of tables (`snapshot`).
`state` is what a batch is, `scan` what options decided. `preflight` checks server, login and tables, `ddl` classifies
statements, `tables` knows columns and keys, `types` decodes values, `connection` opens connections, `config` has the
options. `upsert` is for MERGE in foreachBatch.
"""
