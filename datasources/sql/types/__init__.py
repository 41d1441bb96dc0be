"""SQL's types.

`type_names` and `spark_names` are their texts, `assignability` is the rule of
assignments, `expression_types` looks up the type of an expression, `time_kind` is the kind of a time attribute.
"""
