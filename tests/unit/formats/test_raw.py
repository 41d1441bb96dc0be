"""The format raw: bytes are one value."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.formats.api.decoder import RecordStatus
from datasources.formats.raw import RawDecoder
from datasources.formats.schema_text.ddl import parse_schema


def decode(ddl: str, *values: bytes | None):
    return RawDecoder(parse_schema(ddl)).decode(pa.array(values, pa.binary()))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("BINARY", b"\x00\xff", b"\x00\xff"),
        ("STRING", "é".encode(), "é"),
        ("STRING", b"", ""),
        ("STRING", b"a\xff", "a\ufffd"),
        ("BOOLEAN", b"\x01", True),
        ("BOOLEAN", b"\x00", False),
        ("TINYINT", b"\xff", -1),
        ("SMALLINT", b"\x01\x02", 258),
        ("INT", struct.pack(">i", -5), -5),
        ("BIGINT", struct.pack(">q", 1 << 40), 1 << 40),
        ("FLOAT", struct.pack(">f", 1.5), 1.5),
        ("DOUBLE", struct.pack(">d", -2.25), -2.25),
    ],
)
def test_bytes_are_one_value_as_flink_reads_them(kind, value, expected):
    decoded = decode(f"v {kind} NOT NULL", value, value)
    assert decoded.columns.column("v").to_pylist() == [expected, expected]
    assert decoded.statuses is None


def test_a_number_of_another_size_is_bad_with_its_size():
    decoded = decode("v INT", b"\0\0\0\7", b"", None, b"\0\0\0\0\1")
    assert decoded.columns.column("v").to_pylist() == [7, None, None, None]
    assert decoded.statuses.tolist() == [
        RecordStatus.OK,
        RecordStatus.BAD,
        RecordStatus.NULL_VALUE,
        RecordStatus.BAD,
    ]
    assert decoded.reasons == {1: "0 bytes are no INT, which has 4", 3: "5 bytes are no INT, which has 4"}


@pytest.mark.parametrize("kind", ["BINARY", "STRING", "DOUBLE"])
def test_no_bytes_at_all_are_a_null_value(kind):
    decoded = decode(f"v {kind}", None)
    assert decoded.columns.column("v").to_pylist() == [None]
    assert decoded.statuses.tolist() == [RecordStatus.NULL_VALUE]


@pytest.mark.parametrize(
    ("ddl", "reason"),
    [
        ("a INT, b INT", r"gives one column, not 2: \['a', 'b'\]"),
        ("t TIMESTAMP", "column 't': the format 'raw' has no TIMESTAMP; use STRING, BINARY"),
        ("t ARRAY<INT>", "no ARRAY<INT>"),
    ],
)
def test_columns_without_bytes_of_their_own_are_refused(ddl, reason):
    with pytest.raises(SchemaError, match=reason):
        RawDecoder(parse_schema(ddl))
