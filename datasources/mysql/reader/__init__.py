"""The executors' side: ranges of the binlog and chunks of tables as rows of the scan.

`reader_factory` is sent to executors, `mysql_reader` reads the splits of a batch, `change_reader` a range of the
binlog, `change_chunks` collects changes in commit order into full chunks, `row_columns` builds columns.
`table_compatibility` checks tables, `table_statements` and `types_before` handle DDL; `prepared_transactions` and
`prepared_before` find XA transactions.
"""
