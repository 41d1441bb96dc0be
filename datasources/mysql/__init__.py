"""MySQL and MariaDB: a snapshot of the tables, then every change.

`source` turns options into a scan. The splits are the binlog and the snapshot readers. On the driver `planning` plans
batches, using `server` for the server and its log; a batch of the snapshot has chunks and the position as of which they
are read. On executors `reader` reads the binlog (`binlog`) and chunks (`snapshot`). `state` is the connector state of a
batch, `scan` the settings made from options. `preflight` checks server, login and tables, `ddl` classifies statements,
`tables` describes columns and keys, `types` decodes values, `connection` opens connections, `config` defines the
options.
"""
