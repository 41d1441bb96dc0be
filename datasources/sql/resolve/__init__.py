"""From a definition to a table with bound names and types.

`table_resolver` is the sequence: columns, expressions, watermarks. `type_spelling`, `timestamp_calls` and
`flink_timestamps` give Flink's meaning to constructs that Spark spells differently. `resolved_table` is the result.
"""
