"""The formats of Debezium: change events as rows of a changelog.

`debezium_json` and `debezium_avro` are the formats; `envelope` has the fields of an event and makes rows of them,
`schema_envelope` unwraps JSON records that carry their schema, `change_events` decides the rows of each event,
`source_columns` reads an event's metadata.
"""
