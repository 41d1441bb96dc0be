"""What is decoded of a document is one thing, by what it is judged another."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from datasources.formats.api.decoder import RecordStatus
from datasources.formats.json.fast_path.template_decoder import TemplateDecoder
from datasources.formats.json.json_engine import JsonEngine
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.zones import find_zone

pytestmark = pytest.mark.usefixtures("both_ways")

UTC = find_zone("UTC")
SCHEMA = parse_schema(
    "a INT NOT NULL, s STRUCT<x: INT NOT NULL, y: STRING, t: STRUCT<u: INT, v: DATE>>, m MAP<STRING, INT>"
)
# The second half is in single quotes, which the fast path does not know.
GOOD = [
    '{"a":1,"s":{"x":1,"y":"k","t":{"u":2,"v":"2026-01-02"}},"m":{"p":1}}',
    '{"a":2,"s":null,"m":null}',
    '{"a":3,"s":{"x":2,"y":null,"t":null},"m":{}}',
]
DOCUMENTS = [*GOOD, *(text.replace('"', "'") for text in GOOD)]


def engine(*wanted: str, **types: pa.DataType) -> JsonEngine:
    fields = [pa.field(name, types.get(name, SCHEMA.field(name).type)) for name in wanted]
    return JsonEngine(SCHEMA, fields, UTC)


def decode(used: JsonEngine, *documents: str | None):
    return used.decode(pa.array([None if d is None else d.encode() for d in documents], pa.binary()))


def test_a_struct_may_be_decoded_in_part_on_every_path():
    narrow = pa.struct([pa.field("t", pa.struct([pa.field("u", pa.int32())])), pa.field("y", pa.string())])
    (column,) = decode(engine("s", s=narrow), *DOCUMENTS).columns
    assert column.type == narrow
    assert column.to_pylist() == [{"t": {"u": 2}, "y": "k"}, None, {"t": None, "y": None}] * 2


@pytest.mark.parametrize("wanted", [(), ("a",), ("s", "a"), ("m",)])
def test_a_document_is_bad_whatever_is_wanted_of_it(wanted):
    bad = ['{"s":null,"m":null}', '{"a":1,"s":{"y":"k"}}', '{"a":1,"m":{"p":"x"}}', "{", '{"a":1} x']
    found = decode(engine(*wanted), GOOD[0], *bad, None, GOOD[1])
    assert found.statuses.tolist() == [
        RecordStatus.OK,
        *[RecordStatus.BAD] * 5,
        RecordStatus.NULL_VALUE,
        RecordStatus.OK,
    ]
    assert sorted(found.reasons) == [1, 2, 3, 4, 5]
    assert [len(column) for column in found.columns] == [8] * len(wanted)


def done(ddl: str, documents: list[str], *, wanted: list[str] | None = None) -> list[bool]:
    schema = parse_schema(ddl)
    part = TemplateDecoder(schema, schema.names if wanted is None else wanted, UTC).decode(pa.array(documents))
    return [] if part is None else part.is_done.tolist()


def test_documents_without_wanted_columns_take_the_fast_path():
    documents = [json.dumps({"a": n, "b": "x"}) for n in range(50)]
    assert done("a INT, b STRING", [*documents, '{"a":"x"}'], wanted=[]) == [True] * 50 + [False]


def test_alternating_documents_take_the_fast_path_at_once():
    kinds = ['{"a":null,"op":"c"}', '{"op":"u","a":{"x":1}}', '{"op":"d"}']
    assert done("a STRUCT<x: INT>, op STRING", [kinds[n % 3] for n in range(600)]) == [True] * 600


def test_binary_values_in_structs_take_the_fast_path():
    ddl = "s STRUCT<b: BINARY, i: STRUCT<c: BINARY NOT NULL>>"
    documents = ['{"s":{"b":"AQI=","i":{"c":"AA=="}}}', '{"s":{"b":null,"i":null}}', '{"s":null}']
    assert done(ddl, documents) == [True] * 3
    schema = parse_schema(ddl)
    found = JsonEngine(schema, list(schema), UTC).decode(pa.array([d.encode() for d in documents], pa.binary()))
    assert found.columns[0].to_pylist() == [{"b": b"\1\2", "i": {"c": b"\0"}}, {"b": None, "i": None}, None]
    assert found.columns[0].type == schema.types[0]


def test_binary_values_inside_of_lists_do_not_but_are_decoded():
    schema = parse_schema("l ARRAY<BINARY>, s ARRAY<STRUCT<b: BINARY>>")
    documents = ['{"l":["AQI=",null],"s":[{"b":"AA=="}]}']
    assert TemplateDecoder(schema, schema.names, UTC).decode(pa.array(documents)) is None
    found = JsonEngine(schema, list(schema), UTC).decode(pa.array([d.encode() for d in documents], pa.binary()))
    assert [column.to_pylist() for column in found.columns] == [[[b"\1\2", None]], [[{"b": b"\0"}]]]


def test_null_values_only_give_rows_of_nulls():
    found = decode(engine("a", "s"), None, None)
    assert np.array_equal(found.statuses, [RecordStatus.NULL_VALUE] * 2)
    assert [column.null_count for column in found.columns] == [2, 2]
