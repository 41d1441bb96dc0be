"""The driver's side: what each batch reads of tables and of the binlog.

`mysql_enumerator` is the sequence. `startup_resolver` and `startup_modes` find where a query starts, `batch_end`
where a batch ends, `chunk_plan` which chunks come next, `irrelevant_ranges` passes over binlog without captured
tables. `batch_read` is a batch query.
"""
