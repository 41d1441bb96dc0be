"""SQL's types.

`sql_types` are the types, `type_names` and `spark_names` their texts, `assignability` says which may be assigned to
which, `expression_types` asks for the type of an expression, `time_kind` is which time a column is.
"""
