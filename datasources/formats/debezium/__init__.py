"""The format `debezium-json`: change events as rows of a changelog.

`debezium_json` is the format; `schema_envelope` unwraps records that carry their schema, `change_events` turns events
into rows, `source_columns` reads an event's metadata.
"""
