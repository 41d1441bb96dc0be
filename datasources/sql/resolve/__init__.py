"""From a definition to a table whose every name and type is known.

`table_resolver` is the sequence: columns, expressions, watermarks. `type_spelling`, `timestamp_calls` and
`flink_timestamps` give Flink's meaning to what Spark spells otherwise. `resolved_table` is the result.
"""
