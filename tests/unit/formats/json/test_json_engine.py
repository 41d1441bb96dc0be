"""What is decoded of a document is one thing, by what it is judged another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.formats.api.decoder import RecordStatus
from datasources.formats.json.json_engine import JsonEngine
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.zones import find_zone

pytestmark = pytest.mark.usefixtures("both_ways")

UTC = find_zone("UTC")
SCHEMA = parse_schema(
    "a INT NOT NULL, s STRUCT<x: INT NOT NULL, y: STRING, t: STRUCT<u: INT, v: DATE>>, m MAP<STRING, INT>"
)
# The second half is in single quotes, which the native path does not know.
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


def test_times_of_all_forms_may_be_mixed():
    texts = ('"2026-03-29T02:30:00"', '"2026-10-25T02:30:00"', '"2026-07-01T00:00:00Z"', "5", '"2026-07-01T00:00:00"')
    schema = parse_schema("a TIMESTAMP, l ARRAY<TIMESTAMP>")
    documents = [f'{{"a":{text},"l":[{text},null]}}'.encode() for text in texts]
    found = JsonEngine(schema, list(schema), find_zone("Europe/Berlin")).decode(pa.array(documents, pa.binary()))
    expected = [1774747800000000, 1792888200000000, 1782864000000000, 5000000, 1782856800000000]
    assert found.columns[0].cast(pa.int64()).to_pylist() == expected
    assert found.columns[1].flatten().cast(pa.int64()).to_pylist() == [n for each in expected for n in (each, None)]


def test_binary_values_in_structs():
    schema = parse_schema("s STRUCT<b: BINARY, i: STRUCT<c: BINARY NOT NULL>>")
    documents = ['{"s":{"b":"AQI=","i":{"c":"AA=="}}}', '{"s":{"b":null,"i":null}}', '{"s":null}']
    found = JsonEngine(schema, list(schema), UTC).decode(pa.array([d.encode() for d in documents], pa.binary()))
    assert found.columns[0].to_pylist() == [{"b": b"\1\2", "i": {"c": b"\0"}}, {"b": None, "i": None}, None]
    assert found.columns[0].type == schema.types[0]


def test_binary_values_inside_of_lists():
    schema = parse_schema("l ARRAY<BINARY>, s ARRAY<STRUCT<b: BINARY>>")
    documents = ['{"l":["AQI=",null],"s":[{"b":"AA=="}]}']
    found = JsonEngine(schema, list(schema), UTC).decode(pa.array([d.encode() for d in documents], pa.binary()))
    assert [column.to_pylist() for column in found.columns] == [[[b"\1\2", None]], [[{"b": b"\0"}]]]


def test_null_values_only_give_rows_of_nulls():
    found = decode(engine("a", "s"), None, None)
    assert np.array_equal(found.statuses, [RecordStatus.NULL_VALUE] * 2)
    assert [column.null_count for column in found.columns] == [2, 2]
