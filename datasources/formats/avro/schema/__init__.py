"""Avro schemas.

`avro_types` is the model, `avro_schema` reads the JSON text, `avro_defaults` encodes the values that fields have when
they are absent, and `avro_columns` derives columns.
"""
