"""The executors' side: ranges of the binlog and chunks of tables as rows of the scan.

`reader_factory` travels, `mysql_reader` reads the splits of a batch, `change_reader` a range of the binlog,
`change_chunks` puts changes into commit order and full chunks, `row_columns` builds columns. `table_compatibility`,
`table_statements` and `types_before` decide about statements and tables that changed; `prepared_transactions` and
`prepared_before` are XA.
"""
