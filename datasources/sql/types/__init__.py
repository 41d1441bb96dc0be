"""SQL's types.

`sql_types` are the types, `type_names` and `spark_names` their texts, `assignability` is the rule of
assignments, `expression_types` looks up the type of an expression, `time_kind` is the kind of a time attribute.
"""
