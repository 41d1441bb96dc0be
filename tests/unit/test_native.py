"""The C library does what Python does, on any bytes."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.snapshot.result_rows import _native_cells, _numpy_cells
from datasources.mysql.types.cells import PADDING
from datasources.mysql.types.result import FIXED_BYTES
from datasources.native import NativeLibrary, native

HEADER_BYTES = 4
TEXT = 0xFD
WIRES = [*map(int, FIXED_BYTES), TEXT, TEXT]


@pytest.fixture(scope="module")
def library() -> NativeLibrary:
    found = native()
    if found is None and not os.environ.get("TIDEMARK_TEST_REQUIRE"):
        pytest.skip("not run: needs a C compiler when the package is installed")
    assert found is not None
    return found


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


@st.composite
def result_row(draw: st.DrawFn, wires: list[int]) -> bytes:
    """A row of a prepared statement's result."""
    nulls, values = 0, b""
    for place, wire in enumerate(wires):
        if draw(st.booleans()) and draw(st.booleans()):
            nulls |= 1 << (place + 2)
        elif wire in FIXED_BYTES:
            width = FIXED_BYTES[wire]
            values += draw(st.binary(min_size=width, max_size=width))
        else:
            text = draw(st.binary(max_size=20)) * draw(st.sampled_from([1, 1, 1, 13, 3_500]))
            values += coded(len(text)) + text
    return b"\0" + nulls.to_bytes((len(wires) + 9) // 8, "little") + values


def coded(length: int) -> bytes:
    if length < 0xFB:
        return bytes([length])
    return b"\xfc" + length.to_bytes(2, "little") if length < 1 << 16 else b"\xfd" + length.to_bytes(3, "little")


@given(st.data())
def test_values_of_rows_are_where_numpy_finds_them(library, data):
    wires = data.draw(st.lists(st.sampled_from(WIRES), min_size=1, max_size=12))
    rows = data.draw(st.lists(result_row(wires), min_size=1, max_size=8))
    cut = data.draw(st.sampled_from([0, 0, 0, 1, -1]))  # rows that are too long or too short
    joined = b"".join(rows)
    ends = np.cumsum([len(row) for row in rows])
    begins = ends - [len(row) for row in rows]
    ends[-1] -= cut
    labels = [str(n) for n in range(len(wires))]
    ours = _native_cells(library, buffer(joined), (begins, ends), wires, labels)
    theirs = _numpy_cells(buffer(joined), (begins, ends), wires, labels)
    assert (ours is None) == (theirs is None)
    for one, other in zip(ours or [], theirs or [], strict=True):
        there = np.ones(len(one), bool) if one.is_null is None else ~one.is_null
        assert (one.is_null is None) == (other.is_null is None)
        assert one.is_null is None or (one.is_null == other.is_null).all()
        assert (one.at == other.at)[there].all()
        assert (one.lengths is None) == (other.lengths is None)
        assert one.lengths is None or (one.lengths == other.lengths).all()


@pytest.mark.parametrize("mark", [b"\xfe" + b"\xff" * 8, b"\xfd\xff\xff\xff", b"\xfc\xff", b"\xfb", b"\xff", b"\x09ab"])
def test_a_length_that_leads_out_of_its_row_is_another_form(mark, library):
    row = b"\0\0" + mark
    found = _native_cells(library, buffer(row), (np.array([0]), np.array([len(row)])), [TEXT], ["t"])
    assert found is None


def test_it_can_be_switched_off(monkeypatch):
    native.cache_clear()
    monkeypatch.setenv("TIDEMARK_NATIVE", "off")
    assert native() is None
    native.cache_clear()
