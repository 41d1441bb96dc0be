"""The format `json`, with the results of Spark's `from_json`.

`json_format` is the format and `json_engine` chooses the path of each document, which never shows in its row:
`native_path` (flat documents, in C), `fast_path` (DuckDB, by templates), `slow_path` (record by record,
complete). `partial_rows` is the result that one path passes to the next, `json_types` lists the types JSON supports.
"""
