"""Columns that C fills record by record, nested ones included; shared by the formats with a native path.

`column_tree` numbers the columns of a schema, `column_buffers` receives their values and grows, `partial_rows` is the
result that a native path passes to the slow path. `native_batch` runs C on binary records, `record_engine` both paths.
`datasources/native/columns.h` is C's side.
"""
