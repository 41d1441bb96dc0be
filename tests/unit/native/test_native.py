"""The C library does what Python does, on any bytes."""

from __future__ import annotations

import os
import struct
import subprocess
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymysql.constants import FIELD_TYPE

from datasources.mysql.snapshot.native_rows import native_columns
from datasources.mysql.snapshot.result_rows import _numpy_cells
from datasources.mysql.types import ColumnType, Kind, result_column
from datasources.mysql.types.decoders.cells import PADDING
from datasources.native import native

HEADER_BYTES = 4
TEXT = 0xFD


def buffer(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(data + bytes(PADDING), np.uint8)


@given(contents=st.lists(st.binary(max_size=70)), cut=st.integers(0, 90), begin=st.integers(0, 9))
def test_packets_are_those_that_a_walk_finds(library, contents, cut, begin):
    parts = [len(each).to_bytes(3, "little") + b"\7" + each for each in contents]
    data = b"?" * begin + b"".join(parts)
    end = max(begin, len(data) - cut)
    edges, at = [begin], begin
    for part in parts:
        at += len(part)
        if at <= end:
            edges.append(at)
    found = library.packets(buffer(data), begin, end)
    assert found.tolist() == edges


def test_a_packet_that_the_next_one_continues_is_left_alone(library):
    first = b"\1\0\0\0a"
    whole = first + b"\xff\xff\xff\1" + bytes(0xFFFFFF) + b"\0\0\0\2"
    assert library.packets(buffer(whole), 0, len(whole)).tolist() == [0, len(first)]


@given(pieces=st.lists(st.binary(max_size=40), min_size=1), damaged=st.none() | st.integers(0, 10**6))
def test_checksums_are_zlibs(library, pieces, damaged):
    data, begins, ends = bytearray(), [], []
    for piece in pieces:
        begins.append(len(data))
        data += piece
        ends.append(len(data))
        data += zlib.crc32(piece).to_bytes(4, "little")
    wrong = None
    if damaged is not None:
        at = damaged % len(data)
        data[at] ^= 0x40
        wrong = next(n for n, end in enumerate(ends) if at < end + 4)
    found = library.first_wrong_crc32(buffer(bytes(data)), np.array(begins), np.array(ends))
    assert found == wrong


@dataclass(frozen=True)
class Column:
    """A column of a result: what it is, what the server sends, and values; `unusual` ones are for numpy to judge."""

    type: ColumnType
    wire: int
    values: st.SearchStrategy[bytes]
    unusual: st.SearchStrategy[bytes] | None = None


def integer(width: int, wire: int, *, is_unsigned: bool) -> Column:
    own = ColumnType(kind=Kind.INTEGER, width=3 if wire is FIELD_TYPE.INT24 else width, is_unsigned=is_unsigned)
    return Column(own, wire, st.binary(min_size=width, max_size=width))


def timed(kind: Kind, wire: int) -> Column:
    dates = st.builds(lambda y, m, d: struct.pack("<HBB", y, m, d), *map(st.integers, (0, 1, 1), (9999, 12, 28)))
    clocks = st.builds(struct.Struct("<BBB").pack, *map(st.integers, (0, 0, 0), (23, 59, 59)))
    micros = st.integers(0, 999_999).map(struct.Struct("<I").pack)
    whole = st.tuples(dates, clocks, micros)
    values = st.builds(
        lambda parts, count: b"".join(parts[:count]), whole, st.integers(1, 1 if kind is Kind.DATE else 3)
    )
    wrong = [(2021, 2, 29), (2020, 13, 1), (2020, 0, 5), (2020, 1, 0), (0, 0, 0), (2020, 4, 31), (10_000, 1, 1)]
    unusual = st.sampled_from([b"", *(struct.pack("<HBB", *each) for each in wrong)])
    return Column(ColumnType(kind=kind, scale=6), wire, values.map(sized), unusual.map(sized))


def decimal(precision: int, scale: int) -> Column:
    def text(number: int) -> bytes:
        digits = f"{abs(number):0{scale + 1}d}"
        point = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
        return ("-" * (number < 0) + point).encode()

    numbers = st.integers(1 - 10**precision, 10**precision - 1)
    return Column(ColumnType(kind=Kind.DECIMAL, precision=precision, scale=scale), TEXT, numbers.map(text).map(sized))


def sized(value: bytes) -> bytes:
    return coded(len(value)) + value


_TEXTS = st.text(max_size=6).map(str.encode)
_LONG = st.builds(lambda text, times: text * times, _TEXTS, st.sampled_from([1, 1, 1, 60, 20_000]))
COLUMNS = [
    *(
        integer(w, wire, is_unsigned=u)
        for w, wire in ((1, FIELD_TYPE.TINY), (2, FIELD_TYPE.SHORT))
        for u in (True, False)
    ),
    *(integer(4, wire, is_unsigned=u) for wire in (FIELD_TYPE.LONG, FIELD_TYPE.INT24) for u in (True, False)),
    *(integer(8, FIELD_TYPE.LONGLONG, is_unsigned=u) for u in (True, False)),
    Column(ColumnType(kind=Kind.YEAR), FIELD_TYPE.YEAR, st.integers(0, 2155).map(struct.Struct("<H").pack)),
    Column(ColumnType(kind=Kind.DOUBLE), FIELD_TYPE.DOUBLE, st.floats(allow_nan=False).map(struct.Struct("<d").pack)),
    Column(
        ColumnType(kind=Kind.FLOAT),
        FIELD_TYPE.DOUBLE,
        st.floats(width=32, allow_nan=False).map(struct.Struct("<d").pack),
    ),
    timed(Kind.DATE, FIELD_TYPE.DATE),
    timed(Kind.DATETIME, FIELD_TYPE.DATETIME),
    Column(
        ColumnType(kind=Kind.TIME, scale=6),
        FIELD_TYPE.TIME,
        st.sampled_from([b"", struct.pack("<BIBBBI", 1, 3, 4, 5, 6, 7)]).map(sized),
    ),
    *(decimal(*each) for each in ((9, 0), (12, 2), (18, 7), (18, 18), (30, 10))),
    Column(ColumnType(kind=Kind.TEXT, charset="utf8mb4"), TEXT, _LONG.map(sized)),
    Column(ColumnType(kind=Kind.BINARY), TEXT, st.binary(max_size=20).map(sized)),
]


@st.composite
def result_row(draw: st.DrawFn, columns: Sequence[Column]) -> tuple[bytes, bool]:
    """A row of a prepared statement's result, and whether it has a value that numpy must judge."""
    nulls, values, is_unusual = 0, b"", False
    for index, column in enumerate(columns):
        what = draw(st.integers(0, 9))
        if what == 0:
            nulls |= 1 << (index + 2)
        elif what == 1 and column.unusual is not None:
            values, is_unusual = values + draw(column.unusual), True
        else:
            values += draw(column.values)
    return b"\0" + nulls.to_bytes((len(columns) + 9) // 8, "little") + values, is_unusual


def coded(length: int) -> bytes:
    if length < 0xFB:
        return bytes([length])
    return b"\xfc" + length.to_bytes(2, "little") if length < 1 << 16 else b"\xfd" + length.to_bytes(3, "little")


@given(st.data())
def test_rows_are_read_as_numpy_reads_them(library, data):
    columns = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=10))
    rows = data.draw(st.lists(result_row(columns), min_size=1, max_size=8))
    cut = data.draw(st.sampled_from([0, 0, 0, 1, -1]))  # rows that are too long or too short
    joined = b"".join(bytes(HEADER_BYTES) + row for row, _ in rows)
    ends = np.cumsum([HEADER_BYTES + len(row) for row, _ in rows])
    begins = ends - [len(row) for row, _ in rows]
    ends[-1] -= cut
    wanted = [(column.type, column.wire, str(index)) for index, column in enumerate(columns)]
    ours = native_columns(library, buffer(joined), (begins, ends), wanted)
    assert (ours is None) == (cut != 0 or any(is_unusual for _, is_unusual in rows))
    theirs = _numpy_cells(buffer(joined), (begins, ends), [wire for _, wire, _ in wanted], [n for *_, n in wanted])
    assert (theirs is None) == (cut != 0)
    for (own, wire, _), one, other in zip(wanted, ours or [], theirs or [], strict=ours is not None):
        values = one if isinstance(one, pa.Array) else result_column(own, wire, one)
        values.validate(full=True)
        assert values.equals(result_column(own, wire, other))


@pytest.mark.parametrize(
    "text", ["", "-", "1", "1.5", "1.234", "1,23", "a.23", "1.2x", "--1.23", ".23", "-.23", "1.2.34", "9" * 17 + ".99"]
)
def test_a_text_that_is_no_such_number_is_left_to_python(library, text):
    row = b"\0\0" + sized(text.encode())
    wanted = [(ColumnType(kind=Kind.DECIMAL, precision=18, scale=2), TEXT, "d")]
    assert native_columns(library, buffer(row), (np.array([0]), np.array([len(row)])), wanted) is None


@pytest.mark.parametrize("mark", [b"\xfe" + b"\xff" * 8, b"\xfd\xff\xff\xff", b"\xfc\xff", b"\xfb", b"\xff", b"\x09ab"])
def test_a_length_that_leads_out_of_its_row_is_another_form(mark, library):
    row = b"\0\0" + mark
    wanted = [(ColumnType(kind=Kind.BINARY), TEXT, "t")]
    assert native_columns(library, buffer(row), (np.array([0]), np.array([len(row)])), wanted) is None


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("TIDEMARK_NATIVE", "off")
    assert native() is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("void tidemark_prepare(void) {}", "undefined symbol"),
        ("{before}\nlong long tidemark_kafka_layout(void) {{ return 1; }}", "build it again"),
    ],
)
@pytest.mark.usefixtures("library")
def test_a_library_of_other_sources_is_not_used(tmp_path, monkeypatch, caplog, source, reason):
    names = ("prepare", "packets", "values", "crc32", "byte_hashes", "xxhash64", "kafka_fetch", "kafka_drop")
    before = "\n".join(f"void tidemark_{name}(void) {{}}" for name in names)
    (tmp_path / "other.c").write_text(source.format(before=before) if "{before}" in source else source)
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", tmp_path / "other.so", tmp_path / "other.c"]
    subprocess.run(command, check=True, capture_output=True)
    caplog.set_level("INFO", logger="datasources.native.library")
    monkeypatch.setenv("TIDEMARK_NATIVE", str(tmp_path / "other.so"))
    assert native() is None
    assert reason in caplog.text


@given(texts=st.lists(st.binary(max_size=60)), before=st.binary(max_size=5), factor=st.integers(1, 2**40))
def test_hashes_of_texts_are_polynomials_of_their_bytes(library, texts, before, factor):
    ends = np.cumsum([len(before), *map(len, texts)]).astype(np.int32)
    expected = [
        sum((byte + 1) * pow(factor, at, 1 << 64) for at, byte in enumerate(text, start=1)) % (1 << 64)
        for text in texts
    ]
    data = np.frombuffer(b"".join([before, *texts]), np.uint8)
    assert library.byte_hashes(data, ends, factor).tolist() == expected
