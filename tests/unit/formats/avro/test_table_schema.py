"""The Avro schema of a table's columns, as Flink derives it, and the format `avro` that needs it."""

from __future__ import annotations

import io
import json

import fastavro
import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.format import ColumnsRequest, DecoderSettings
from datasources.formats.avro.schema.table_schema import schema_of_table
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema

NAME = "org.apache.flink.avro.generated.record"


def schema_of(ddl: str) -> dict:
    return json.loads(schema_of_table(parse_schema(ddl)).text)


def test_columns_become_flinks_schema():
    found = schema_of("id BIGINT NOT NULL, d DATE, tags ARRAY<STRING>, price DECIMAL(10,2) NOT NULL")
    assert found == {
        "type": "record",
        "name": NAME,
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "d", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None},
            {"name": "tags", "type": ["null", {"type": "array", "items": ["null", "string"]}], "default": None},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        ],
    }


def test_nested_records_have_names_of_their_own():
    found = schema_of("a STRUCT<x: INT NOT NULL> NOT NULL, m MAP<STRING, STRUCT<y: DOUBLE>>")
    assert found["fields"][0]["type"] == {
        "type": "record",
        "name": f"{NAME}_a",
        "fields": [{"name": "x", "type": "int"}],
    }
    assert found["fields"][1]["type"][1]["values"][1]["name"] == f"{NAME}_m"


@pytest.mark.parametrize(
    ("ddl", "message"),
    [
        ("at TIMESTAMP", "column 'at': whether its TIMESTAMP was written in milliseconds or in microseconds"),
        ("a STRUCT<at: TIMESTAMP_NTZ>", "column 'a.at': whether its TIMESTAMP_NTZ"),
        ("m MAP<INT, INT>", "column 'm': a map of Avro has STRING keys, not INT"),
    ],
)
def test_columns_from_which_the_written_type_does_not_follow_are_refused(ddl, message):
    with pytest.raises(SchemaError, match=message):
        schema_of(ddl)


def test_records_are_read_by_the_tables_schema_or_by_the_given_one():
    columns = parse_schema("id BIGINT NOT NULL, name STRING, price DECIMAL(10,2)")
    given = '{"type":"record","name":"r","fields":[{"name":"name","type":"string"},{"name":"id","type":"int"}]}'
    for schema, options in ((schema_of_table(columns).text, {}), (given, {"schema": given})):
        out = io.BytesIO()
        fastavro.schemaless_writer(
            out, fastavro.parse_schema(json.loads(schema)), {"id": 5, "name": "n", "price": None}
        )
        decoder = FORMATS["avro"].decoder(DecoderSettings(schema=columns, options=options))
        found = decoder.decode(pa.array([out.getvalue()], pa.binary()))
        assert found.columns.to_pylist() == [{"id": 5, "name": "n", "price": None}]
    assert FORMATS["avro"].columns(ColumnsRequest(options={"schema": given}, subject=None)) == parse_schema(
        "name STRING NOT NULL, id INT NOT NULL"
    )


@pytest.mark.parametrize("name", ["avro", "avro-confluent"])
def test_a_text_that_is_no_schema_is_an_error_of_its_option(name):
    settings = DecoderSettings(schema=parse_schema("id INT"), options={"schema": "{", "url": "http://r:1"})
    with pytest.raises(OptionError, match=f"option '{name}.schema'"):
        FORMATS[name].check(settings)
    with pytest.raises(OptionError):
        FORMATS[name].columns(ColumnsRequest(options={}, subject="t-value"))
