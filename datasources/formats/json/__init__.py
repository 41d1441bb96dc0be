"""The formats `json` and `json-confluent`, with the results of Spark's `from_json`.

`json_format` is the format and `json_engine` chooses the path of each document, which never shows in its row:
`native_path` (whole batches, in C) or `slow_path` (record by record, complete). `json_types` lists the types JSON
supports. `json_confluent` is the format behind ids of schemas, `json_schema_columns` derives columns from a schema.
"""
