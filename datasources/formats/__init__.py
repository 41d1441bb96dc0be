"""Formats: bytes to typed Arrow columns.

`format_table` lists them: `raw`, `json`, `avro`, `protobuf`, `debezium-json` and others. A new one is a module with a
`Format` (`api.format`) and a line there. `api` is the interface and the policy for bad records, `columns` receives the
values of native paths, `schema_text` reads schemas, `values` is shared.
"""
