"""Columns that C fills record by record, nested ones included; shared by the formats with a native path.

`column_tree` numbers the columns of a schema, `column_buffers` receives their values and grows, `partial_rows` is the
result that a native path passes to the slow path. `datasources/native/columns.h` is C's side.
"""
