"""The decoder: statuses, reasons of bad records, wanted columns, pickling."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.formats.api.decoder import RecordStatus
from datasources.formats.avro.avro_decoder import AvroDatumDecoder
from datasources.formats.avro.resolution.steps import MAX_EMPTY_VALUES, MAX_LEVELS
from datasources.formats.avro.schema.avro_columns import columns_of
from datasources.formats.avro.schema.avro_schema import AvroSchema, parse_avro_schema
from datasources.formats.schema_text.ddl import parse_schema

pytestmark = pytest.mark.usefixtures("both_ways")

OVERLONG = b"\xff" * 9 + b"\1"
NODE = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}


def schema_of(*types: Any, names: str = "xyz") -> AvroSchema:
    fields = [{"name": name, "type": each} for name, each in zip(names, types, strict=False)]
    return parse_avro_schema(json.dumps({"type": "record", "name": "R", "fields": fields}))


def logical(kind: str, meaning: str, /, **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": meaning, **attributes}


def decode(decoder: AvroDatumDecoder, *payloads: bytes | None):
    return decoder.decode(pa.array(payloads, pa.binary()))


def reason(declared: Any, raw: bytes, ddl: str | None = None, reader: Any = None) -> str:
    writer = schema_of(declared)
    columns = columns_of(writer) if ddl is None else parse_schema(ddl)
    decoder = AvroDatumDecoder(writer, columns, None if reader is None else schema_of(reader))
    decoded = decode(decoder, raw)
    assert decoded.statuses.tolist() == [RecordStatus.BAD]
    assert decoded.columns.to_pylist() == [dict.fromkeys(columns.names)]
    return decoded.reasons[0]


@pytest.mark.parametrize(
    ("declared", "raw", "why"),
    [
        ("long", b"", "the record ends before a number"),
        ("long", b"\x80", "the record ends within a number"),
        ("long", b"\xff" * 10, "a number has more than 64 bits"),
        ("long", b"\xff" * 9 + b"\2", "a number has more than 64 bits"),
        ("int", b"\x80\x80\x80\x80\x10", "the number 2147483648 is beyond the range of int"),
        ("int", OVERLONG, "the number -9223372036854775808 is beyond the range of int"),
        ("double", b"abc", "the record ends after 3 of 8 bytes"),
        ("float", b"", "the record ends after 0 of 4 bytes"),
        ("boolean", b"", "the record ends after 0 of 1 byte"),
        ("boolean", b"\2", "a boolean is 2, not 0 or 1"),
        ("string", b"\6ab", "the record ends after 2 of 3 bytes"),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", "the record ends after 0 of 9223372036854775807 bytes"),
        ("string", b"\1", "its length is -1 bytes"),
        ("string", b"\6ab\xc3", "the text is not UTF-8: byte 2 is 0xc3"),
        ({"type": "fixed", "name": "F", "size": 3}, b"ab", "the record ends after 2 of 3 bytes"),
        (ENUM, b"\4", "the enum E has no symbol 2"),
        (ENUM, b"\1", "the enum E has no symbol -1"),
        (["null", "long"], b"\4", "the union has no branch 2"),
        (["null", "long"], b"\1", "the union has no branch -1"),
        (logical("bytes", "decimal", precision=2), b"\2\x64", "the decimal has more than 2 digits"),
        (logical("bytes", "decimal", precision=2), b"\2\x9c", "the decimal has more than 2 digits"),
        (logical("bytes", "decimal", precision=1), b"\2\x0a", "the decimal has more than 1 digit"),
        (logical("bytes", "decimal", precision=2), b"\0", "the decimal has no bytes"),
        (logical("bytes", "decimal", precision=38), b"\x22\1" + bytes(16), "the decimal has more than 38 digits"),
        (logical("long", "timestamp-millis"), OVERLONG, "the time is beyond the range of a timestamp in microseconds"),
        (logical("fixed", "uuid", name="U", size=16), b"", "the record ends after 0 of 16 bytes"),
        ({"type": "array", "items": "long"}, b"\1", "the record ends before a number"),
        ({"type": "array", "items": "long"}, b"\1\1\2\0", "a block of 1 items has -1 bytes"),
        ({"type": "array", "items": "long"}, b"\1\4\2\0", "a block of items has 1 byte and not 2"),
        ({"type": "array", "items": "long"}, OVERLONG + b"\2\0", "a block of 9223372036854775808 items has 1 bytes"),
    ],
)
def test_a_bad_value_has_a_reason_and_a_path(declared, raw, why):
    assert reason(declared, raw) == f"field 'x': {why}"


def test_the_path_leads_through_records_arrays_and_maps():
    inner = {"type": "record", "name": "S", "fields": [{"name": "age", "type": "double"}]}
    assert (
        reason({"type": "array", "items": inner}, b"\4" + bytes(8) + b"abc")
        == "field 'x[1].age': the record ends after 3 of 8 bytes"
    )
    assert (
        reason({"type": "map", "values": inner}, b"\2\2kabc") == "field 'x[0].age': the record ends after 3 of 8 bytes"
    )
    assert reason(["null", inner], b"\2abc") == "field 'x.age': the record ends after 3 of 8 bytes"


def test_bytes_behind_the_record_are_bad():
    assert reason("long", b"\2a") == "1 byte behind the end of the record"
    assert reason("long", b"\2abc") == "3 bytes behind the end of the record"


def test_null_in_a_column_that_is_not_null_is_bad():
    assert reason(["null", "long"], b"\0", "x BIGINT NOT NULL") == "field 'x': it is null and the column is NOT NULL"


def test_a_branch_that_does_not_fit_the_column_is_bad():
    writer = schema_of(["long", "string"])
    decoded = decode(AvroDatumDecoder(writer, parse_schema("x BIGINT")), b"\0\2", b"\2\2a")
    assert decoded.columns.to_pylist() == [{"x": 1}, {"x": None}]
    why = "its value is of the union's branch string: the writer's type string does not fit a column of type BIGINT; declare the column STRING"
    assert dict(decoded.reasons) == {1: f"field 'x': {why}"}


def test_null_where_the_readers_type_has_none_is_bad():
    assert (
        reason(["null", "long"], b"\0", "x BIGINT", "long")
        == "field 'x': the writer's null does not match the reader's long"
    )


def test_a_symbol_that_the_readers_enum_lacks_is_bad():
    found = reason(ENUM, b"\0", "x STRING", {**ENUM, "symbols": ["B"]})
    assert found == "field 'x': the reader's enum lacks the symbol 'A' and has no default"


def test_values_are_nested_up_to_a_depth():
    writer, columns = schema_of(NODE, "int"), parse_schema("y INT")
    decoded = decode(AvroDatumDecoder(writer, columns), b"\2" * 50 + b"\0\4", b"\2" * 1_000_000)
    assert decoded.columns.to_pylist() == [{"y": 2}, {"y": None}]
    assert decoded.reasons[1].endswith(f": values are nested more than {MAX_LEVELS} levels deep")


def test_values_without_bytes_are_bounded():
    why = f"more than {MAX_EMPTY_VALUES} values take no bytes"
    assert (
        reason({"type": "array", "items": "null"}, b"\xfe" * 8 + b"\1\0", "other INT")
        == f"field 'x[{MAX_EMPTY_VALUES}]': {why}"
    )


def test_a_reason_is_short_whatever_the_record():
    writer, columns = schema_of(NODE, "int"), parse_schema("y INT")
    decoded = decode(AvroDatumDecoder(writer, columns), b"\2" * 1_000_000)
    assert len(decoded.reasons[0]) < 200


WRITER = schema_of("long", ["null", "string"])
COLUMNS = columns_of(WRITER)
PAYLOADS = (b"\2\2\2a", None, b"\2", b"\4\0", b"")


def test_each_record_has_a_status():
    decoded = decode(AvroDatumDecoder(WRITER, COLUMNS), *PAYLOADS)
    assert decoded.columns.schema == COLUMNS
    assert decoded.columns.to_pylist() == [
        {"x": 1, "y": "a"},
        {"x": None, "y": None},
        {"x": None, "y": None},
        {"x": 2, "y": None},
        {"x": None, "y": None},
    ]
    assert decoded.statuses.tolist() == [
        RecordStatus.OK,
        RecordStatus.NULL_VALUE,
        RecordStatus.BAD,
        RecordStatus.OK,
        RecordStatus.BAD,
    ]
    assert dict(decoded.reasons) == {
        2: "field 'y': the record ends before a number",
        4: "field 'x': the record ends before a number",
    }


def test_good_records_have_no_statuses():
    assert decode(AvroDatumDecoder(WRITER, COLUMNS), b"\2\0").statuses is None
    assert decode(AvroDatumDecoder(WRITER, COLUMNS)).columns.num_rows == 0
    assert decode(AvroDatumDecoder(WRITER, COLUMNS), None).statuses.tolist() == [RecordStatus.NULL_VALUE]


@pytest.mark.parametrize("wanted", [("y",), ("x",), ()])
def test_columns_that_are_not_wanted_are_null(wanted):
    every = decode(AvroDatumDecoder(WRITER, COLUMNS), *PAYLOADS)
    found = decode(AvroDatumDecoder(WRITER, COLUMNS, wanted=tuple(map(COLUMNS.field, wanted))), *PAYLOADS)
    assert found.columns.schema == COLUMNS
    for name in COLUMNS.names:
        assert found.columns[name].to_pylist() == (
            every.columns[name].to_pylist() if name in wanted else [None] * len(PAYLOADS)
        )
    assert found.statuses.tolist() == every.statuses.tolist()
    assert dict(found.reasons) == dict(every.reasons)


def test_payloads_may_be_strings():
    decoder = AvroDatumDecoder(schema_of("string"), parse_schema("x STRING"))
    assert decoder.decode(pa.array(["\2a", None], pa.string())).columns.to_pylist() == [{"x": "a"}, {"x": None}]


def test_bytes_at_the_head_of_payloads_are_skipped():
    every = decode(AvroDatumDecoder(WRITER, COLUMNS), *PAYLOADS)
    framed = [None if each is None else b"\0\xff\x80\2\4" + each for each in PAYLOADS]
    found = decode(AvroDatumDecoder(WRITER, COLUMNS, skip=5), *framed)
    assert found.columns.equals(every.columns)
    assert dict(found.reasons) == dict(every.reasons)


def test_a_decoder_is_pickled_as_configuration():
    decoder = AvroDatumDecoder(WRITER, COLUMNS, WRITER, (COLUMNS.field("x"),), 1)
    first = decode(decoder, *PAYLOADS)
    again = pickle.loads(pickle.dumps(decoder))
    assert again == decoder
    assert again.schema == COLUMNS
    assert decode(again, *PAYLOADS).columns.equals(first.columns)


def test_a_column_that_does_not_exist_cannot_be_wanted():
    with pytest.raises(SchemaError, match="the schema has no column z; it has \\['x', 'y'\\]"):
        AvroDatumDecoder(WRITER, COLUMNS, wanted=(pa.field("z", pa.int32()),))
