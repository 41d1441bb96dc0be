"""Tables of MySQL and MariaDB as sinks (`'connector' = 'jdbc'`).

Theory of operation. A batch is one transaction: the upserts, the deletes, and the batch's number in the table
`_tidemark_batches` beside the target. A batch whose number is there is skipped, so each is applied exactly once.

The rows pass through the driver, because a transaction has one connection. Tasks turn them into SQL text, column by
column, some thousand rows to a statement, and the driver hands the texts on without looking at them. The other way,
tasks that load a staging table from which one transaction copies, writes each row twice, needs the privileges to create
and drop tables, and leaves tables behind when the driver is killed; the server applies one transaction on one thread
in both cases.

What the target takes is checked before the first batch (`target_table`, `column_checks`): the server never rounds, cuts
or merges values in silence. Values that the check of types cannot decide are checked one by one (`sql_literals`) or by
the server, whose strict mode is switched on.
"""
