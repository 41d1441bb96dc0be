"""The decoder: presence and defaults, values that are replaced and merged, reasons of bad records, wanted columns."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.formats.api.decoder import RecordStatus
from datasources.formats.protobuf.linking.link import LinkRules
from datasources.formats.protobuf.linking.steps import MAX_LEVELS
from datasources.formats.protobuf.protobuf_decoder import ProtobufDecoder
from datasources.formats.protobuf.schema.protobuf_columns import columns_of
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.protobuf_records import google, message_of

pytestmark = pytest.mark.usefixtures("both_ways")

PROTO2 = 'syntax = "proto2"; '
TIME = 'import "google/protobuf/timestamp.proto"; '
WRAPPED = 'import "google/protobuf/wrappers.proto"; '
TIMED = f'syntax = "proto3"; {TIME} message M {{ google.protobuf.Timestamp t = 1; }}'
COLOUR = "enum Colour { RED = 0; GREEN = 1; }"


def decoder_of(text: str, ddl: str | None = None, *, reads_defaults: bool = False) -> ProtobufDecoder:
    message = message_of(text)
    columns = columns_of(message.descriptor, reads_defaults=reads_defaults) if ddl is None else parse_schema(ddl)
    return ProtobufDecoder(message, columns, LinkRules(reads_defaults=reads_defaults))


def rows(text: str, *records: bytes, ddl: str | None = None, reads_defaults: bool = False) -> list[dict[str, Any]]:
    decoded = decoder_of(text, ddl, reads_defaults=reads_defaults).decode(pa.array(records, pa.binary()))
    assert dict(decoded.reasons) == {}
    decoded.columns.validate(full=True)
    return decoded.columns.to_pylist()


def reason(text: str, raw: bytes, ddl: str | None = None) -> str:
    decoder = decoder_of(text, ddl)
    decoded = decoder.decode(pa.array([raw], pa.binary()))
    assert decoded.statuses.tolist() == [RecordStatus.BAD]
    assert decoded.columns.to_pylist() == [dict.fromkeys(decoder.columns.names)]
    return decoded.reasons[0]


def test_a_field_that_is_never_absent_has_its_default_and_others_are_null():
    text = f"{COLOUR} message M {{ int32 a = 1; optional int32 b = 2; string c = 3; Colour d = 4; M2 e = 5; repeated int32 f = 6; map<int32, int32> g = 7; oneof o {{ int32 h = 8; }} }} message M2 {{ int32 x = 1; }}"
    absent = {"a": 0, "b": None, "c": "", "d": "RED", "e": None, "f": [], "g": [], "h": None}
    assert rows(text, b"") == [absent]
    assert rows(text, b"\x08\0\x10\0\x1a\0\x20\0\x2a\0\x40\0") == [{**absent, "b": 0, "e": {"x": 0}, "h": 0}]


def test_read_default_values():
    text = f'{PROTO2} {COLOUR} message M {{ optional int32 a = 1 [default = 7]; optional string b = 2 [default = "é"]; optional double c = 3 [default = -inf]; optional float d = 4 [default = 1.5]; optional Colour e = 5 [default = GREEN]; optional uint64 f = 6 [default = 18446744073709551615]; optional bool g = 7 [default = true]; optional bytes h = 8; optional M i = 9; oneof o {{ sint64 j = 10; }} }}'
    found = rows(
        text,
        b"",
        ddl="a INT, b STRING, c DOUBLE, d DOUBLE, e STRING, f DECIMAL(22, 1), g BOOLEAN, h BINARY, i STRUCT<a: INT>, j BIGINT",
        reads_defaults=True,
    )
    assert found == [
        {"a": 7, "b": "é", "c": float("-inf"), "d": 1.5, "e": "GREEN", "f": Decimal(2**64 - 1), "g": True, "h": b"", "i": None, "j": 0}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "raw", "row"),
    [
        ("message M { int32 a = 1; string b = 2; }", b"\x08\1\x12\1x\x08\2\x12\3abc\x12\2zz", {"a": 2, "b": "zz"}),
        ("message M { repeated int32 a = 1; repeated string b = 2; }", b"\x08\1\x12\1x\x0a\2\2\3\x12\1y\x08\4\x0a\0", {"a": [1, 2, 3, 4], "b": ["x", "y"]}),
        ("message M { repeated int32 a = 1 [packed = false]; }", b"\x0a\2\1\2\x08\3", {"a": [1, 2, 3]}),
        ("message M { oneof o { int32 a = 1; string b = 2; N c = 3; } } message N { int32 x = 1; }", b"\x08\1\x1a\2\x08\5\x12\1x", {"a": None, "b": "x", "c": None}),
        ("message M { oneof o { int32 a = 1; string b = 2; } }", b"\x12\1x\x08\0", {"a": 0, "b": None}),
        ("message M { N n = 1; } message N { int32 x = 1; repeated int32 y = 2; N2 z = 3; } message N2 { int32 p = 1; int32 q = 2; }", b"\x0a\6\x08\1\x10\2\x1a\0\x0a\6\x10\3\x1a\2\x10\7", {"n": {"x": 1, "y": [2, 3], "z": {"p": 0, "q": 7}}}),
        ("message M { map<string, int32> m = 1; }", b"\x0a\5\x0a\1a\x10\1\x0a\5\x0a\1b\x10\2\x0a\5\x0a\1a\x10\3\x0a\2\x10\4\x0a\0", {"m": [("a", 3), ("b", 2), ("", 0)]}),
        ("message M { map<int32, N> m = 1; } message N { int32 x = 1; }", b"\x0a\2\x08\5\x0a\4\x08\6\x12\0", {"m": [(5, {"x": 0}), (6, {"x": 0})]}),
        (f"{COLOUR} message M {{ Colour e = 1; repeated Colour f = 2; }}", b"\x08\5\x12\2\1\7", {"e": "UNKNOWN_ENUM_VALUE_Colour_5", "f": ["GREEN", "UNKNOWN_ENUM_VALUE_Colour_7"]}),
        (f"{PROTO2} {COLOUR} message M {{ optional Colour e = 1; repeated Colour f = 2; map<int32, Colour> m = 3; }}", b"\x08\1\x08\5\x10\1\x10\7\x1a\4\x08\1\x10\x09\x1a\4\x08\2\x10\1", {"e": "GREEN", "f": ["GREEN"], "m": [(2, "GREEN")]}),
        (f"{PROTO2} message M {{ repeated group G = 1 {{ optional int32 x = 1; }} optional int32 y = 2; }}", b"\x0b\x08\1\x0c\x10\5\x0b\x0c", {"g": [{"x": 1}, {"x": None}], "y": 5}),
        ("message M { uint32 a = 1; fixed32 b = 2; uint64 c = 3; fixed64 d = 4; }", b"\x08\xff\xff\xff\xff\x0f\x15\xff\xff\xff\xff\x18" + b"\xff" * 9 + b"\1\x21" + b"\xff" * 8, {"a": 2**32 - 1, "b": 2**32 - 1, "c": Decimal(2**64 - 1), "d": Decimal(2**64 - 1)}),
        ("message M { int32 a = 1; }", b"\x0d\1\2\3\4\x0a\1x\x09" + bytes(8) + b"\x10\5\x0b\x13\x14\x0c", {"a": 0}),
        (f'syntax = "proto3"; {WRAPPED} message M {{ google.protobuf.Int32Value a = 1; google.protobuf.StringValue b = 2; repeated google.protobuf.BoolValue c = 3; }}', b"\x0a\0\x1a\2\x08\1\x1a\0", {"a": 0, "b": None, "c": [True, False]}),
        ('edition = "2023"; message M { int32 a = 1; int32 b = 2 [features.field_presence = IMPLICIT]; N n = 3 [features.message_encoding = DELIMITED]; } message N { int32 x = 1 [features.field_presence = LEGACY_REQUIRED]; }', b"\x1b\x08\3\x1c", {"a": None, "b": 0, "n": {"x": 3}}),
    ],
)  # fmt: skip
def test_values(text, raw, row):
    assert rows(text, raw, raw) == [row, row]


def test_timestamps_are_cut_to_microseconds():
    message = message_of(TIMED)
    raws = [
        google(message)(t={"seconds": s, "nanos": n}).SerializeToString()
        for s, n in ((0, 0), (-1, 999_999_999), (1_760_000_000, 1_999))
    ]
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    micros = [0, -1, 1_760_000_000_000_001]
    assert rows(TIMED, *raws) == [{"t": epoch + dt.timedelta(microseconds=each)} for each in micros]
    assert rows(TIMED, *raws, ddl="t TIMESTAMP_NTZ")[2] == {"t": dt.datetime(2025, 10, 9, 8, 53, 20, 1)}
    assert rows(TIMED, *raws, ddl="t STRUCT<nanos: INT, seconds: BIGINT>")[1] == {
        "t": {"nanos": 999_999_999, "seconds": -1}
    }


def test_enums_are_numbers_in_a_column_of_numbers():
    text = f"{COLOUR} message M {{ Colour e = 1; repeated Colour f = 2; }}"
    assert rows(text, b"\x08\5\x12\2\1\7", b"", ddl="e INT, f ARRAY<BIGINT>") == [
        {"e": 5, "f": [1, 7]},
        {"e": 0, "f": []},
    ]
    closed = f"{PROTO2} {COLOUR} message M {{ optional Colour e = 1; }}"
    assert rows(closed, b"\x08\1", b"\x08\5", ddl="e INT") == [{"e": 1}, {"e": None}]


def test_columns_may_be_wider_than_fields():
    text = "message M { int32 a = 1; float b = 2; uint64 c = 3; string d = 4; sint32 e = 5; }"
    raw = b"\x08" + b"\xff" * 9 + b"\1\x15\0\0\xc0\x3f\x18\5\x22\1\xff\x28\3"
    found = rows(text, raw, ddl="a BIGINT, b DOUBLE, c DECIMAL(38, 2), d BINARY, e DECIMAL(12, 1)")
    assert found == [{"a": -1, "b": 1.5, "c": Decimal(5), "d": b"\xff", "e": Decimal(-2)}]


def test_a_member_of_a_oneof_that_no_column_takes_clears_the_others():
    text = "message M { oneof o { int32 a = 1; string b = 2; N c = 3; } } message N { int32 x = 1; }"
    assert rows(text, b"\x08\1", b"\x08\1\x12\1\xff", b"\x08\1\x1a\0", b"\x08\1\x18\0", ddl="a INT") == [
        {"a": 1}, {"a": None}, {"a": None}, {"a": 1}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "raw", "why"),
    [
        ("message M { int32 a = 1; }", b"\x08", "field 'a': the message ends before a number"),
        ("message M { int32 a = 1; }", b"\x08\x80", "field 'a': the message ends within a number"),
        ("message M { int32 a = 1; }", b"\x08" + b"\xff" * 10, "field 'a': a number has more than 10 bytes"),
        ("message M { int32 a = 1; }", b"\0", "a field has the number 0"),
        ("message M { int32 a = 1; }", b"\x0e", "the field 1 has the type 6, which does not exist"),
        ("message M { int32 a = 1; }", b"\x0c", "a group 1 ends that did not begin"),
        ("message M { int32 a = 1; }", b"\x1b\x24", "the group 3 ends as the group 4"),
        ("message M { int32 a = 1; }", b"\x1b", "the message ends before a number"),
        ("message M { double a = 1; }", b"\x09abc", "field 'a': the message ends after 3 of 8 bytes"),
        ("message M { string a = 1; }", b"\x0a\5ab", "field 'a': the message ends after 2 of 5 bytes"),
        ("message M { string a = 1; }", b"\x0a\3ab\xc3", "field 'a': the text is not UTF-8: byte 2 is 0xc3"),
        ("message M { string a = 1; }", b"\x0a\xff\xff\xff\xff\x0f", "field 'a': its length is 4294967295 bytes"),
        ("message M { repeated fixed32 a = 1; }", b"\x0a\5\1\2\3\4\5", "field 'a[1]': the message ends after 1 of 4 bytes"),
        ("message M { repeated N n = 1; } message N { N2 x = 3; } message N2 { string y = 1; }", b"\x0a\0\x0a\5\x1a\3\x0a\1\xff", "field 'n[1].x.y': the text is not UTF-8: byte 0 is 0xff"),
        ("message M { map<int32, string> m = 1; }", b"\x0a\2\x08\1\x0a\5\x08\2\x12\1\xff", "field 'm[1]': the text is not UTF-8: byte 0 is 0xff"),
        (f"{PROTO2} message M {{ required int32 a = 1; }}", b"", "field 'a': it is required and missing"),
        (f"{PROTO2} message M {{ repeated N n = 1; }} message N {{ required int32 a = 1; }}", b"\x0a\2\x08\1\x0a\0", "field 'n[1].a': it is required and missing"),
        (f"{PROTO2} message M {{ optional string s = 1; }}", b"\x0a\1\xff", "field 's': the text is not UTF-8: byte 0 is 0xff"),
        (f"{PROTO2} message M {{ optional group G = 1 {{ optional int32 x = 1; }} }}", b"\x0b\x08\1", "field 'g': the message ends within a group"),
        (f"{PROTO2} message M {{ optional group G = 1 {{ optional int32 x = 1; }} }}", b"\x0b\x14", "field 'g': a group 2 ends that did not begin"),
        (TIMED, b"\x0a\2\x10", "field 't': the message ends after 1 of 2 bytes"),
        (TIMED, b"\x0a\x0b\x10" + b"\xff" * 9 + b"\1", "field 't': a timestamp has -1 nanoseconds"),
        (TIMED, b"\x0a\x0a\x08" + b"\xff" * 8 + b"\x7f", "field 't': the time is beyond the range of a timestamp in microseconds"),
    ],
)  # fmt: skip
def test_reasons_of_bad_records(text, raw, why):
    assert reason(text, raw) == why


def test_a_column_that_is_not_null_and_gets_nothing():
    text = f'syntax = "proto3"; {TIME} message M {{ optional int32 a = 1; google.protobuf.Timestamp t = 2; N n = 3; }} message N {{ optional int32 x = 1; }}'
    assert (
        reason(text, b"\x12\0", "a INT NOT NULL, t TIMESTAMP") == "field 'a': it is missing and the column is NOT NULL"
    )
    assert (
        reason(text, b"\x08\0", "a INT, t TIMESTAMP NOT NULL") == "field 't': it is missing and the column is NOT NULL"
    )
    assert (
        reason(text, b"\x1a\0", "n STRUCT<x: INT NOT NULL>") == "field 'n.x': it is missing and the column is NOT NULL"
    )
    assert rows(text, b"", ddl="n STRUCT<x: INT NOT NULL>") == [{"n": None}]


def test_required_fields_that_no_column_takes_must_come():
    text = f"{PROTO2} message M {{ optional int32 a = 1; required string s = 2; optional N n = 3; }} message N {{ required int32 x = 1; }}"
    assert reason(text, b"\x08\1", "a INT") == "field 's': it is required and missing"
    assert rows(text, b"\x08\1\x12\1\xff\x1a\0", ddl="a INT") == [{"a": 1}]


def test_messages_are_nested_up_to_a_depth():
    text = "message M { M m = 1; int32 a = 2; }"
    ddl = "m STRUCT<m: STRUCT<m: STRUCT<a: INT>>>"
    assert rows(text, b"\x0a\6\x0a\4\x0a\2\x10\5", ddl=ddl) == [{"m": {"m": {"m": {"a": 5}}}}]
    group = f"{PROTO2} message M {{ optional int32 a = 2; }}"
    deep = b"\x0b" * MAX_LEVELS + b"\x0c" * MAX_LEVELS
    assert rows(group, deep) == [{"a": None}]
    assert reason(group, b"\x0b" + deep + b"\x0c") == "messages are nested more than 100 levels deep"


def test_statuses_and_wanted_columns_and_pickling():
    message = message_of("message M { int32 a = 1; string b = 2; }")
    columns = parse_schema("a INT NOT NULL, b STRING NOT NULL")
    decoder = pickle.loads(pickle.dumps(ProtobufDecoder(message, columns, wanted=(columns.field("b"),))))
    decoded = decoder.decode(pa.array([b"\x08\1\x12\1x", None, b"\x08", b""], pa.binary()))
    assert decoded.columns.to_pylist() == [
        {"a": None, "b": "x"}, {"a": None, "b": None}, {"a": None, "b": None}, {"a": None, "b": ""}
    ]  # fmt: skip
    assert decoded.statuses.tolist() == [0, RecordStatus.NULL_VALUE, RecordStatus.BAD, 0]
    assert decoder.schema == columns
    assert decoder == ProtobufDecoder(message, columns, wanted=(columns.field("b"),))
    with pytest.raises(SchemaError, match="no column c; it has"):
        ProtobufDecoder(message, columns, wanted=(pa.field("c", pa.int32()),))
