"""Compressed bytes: what the tools write is read, anything else is an error, and no value is larger than allowed."""

from __future__ import annotations

import gzip
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.formats.values.decompression import Incompressible, gunzipped, unzstd

LIMIT = 10_000
TEXT = b'{"id": 1, "name": "abc"}' * 9
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
MIB = 2**20


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def streamed_zstd(content: bytes) -> bytes:
    """Without the number of bytes in the header."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


BOTH = pytest.mark.parametrize(
    ("compress", "decompress", "name"),
    [(gzip.compress, gunzipped, "gzip"), (zstd, unzstd, "zstd"), (streamed_zstd, unzstd, "zstd")],
    ids=["gzip", "zstd", "zstd without its size"],
)


@BOTH
@settings(deadline=None)
@given(
    contents=st.lists(st.binary(max_size=300) | st.integers(0, 3000).map(lambda n: b"a" * n), min_size=1, max_size=4)
)
def test_members_behind_each_other_are_one_value(compress, decompress, name, contents):
    assert decompress(b"".join(map(compress, contents)), LIMIT * 2) == b"".join(contents)


@BOTH
def test_a_part_of_a_value_is_an_error_also_behind_another_value(compress, decompress, name):
    whole = compress(TEXT)
    for size in range(len(whole)):
        with pytest.raises(Incompressible, match=name):
            decompress(whole[:size], LIMIT)
    for size in range(1, len(whole)):
        with pytest.raises(Incompressible, match=name):
            decompress(whole + whole[:size], LIMIT)


@BOTH
@pytest.mark.parametrize("more", [b"x", b"\0", b"\0" * 100, b"{}", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
def test_bytes_behind_a_value_are_an_error(compress, decompress, name, more):
    with pytest.raises(Incompressible, match=f"it is no {name}"):
        decompress(compress(TEXT) + more, LIMIT)


@BOTH
@pytest.mark.parametrize(
    "content", [b"", b"{}", TEXT, b"\x1f\x8b", b"\x1f\x8b\x08\0" + TEXT, b"\x28\xb5\x2f\xfd" + TEXT]
)
def test_other_bytes_are_an_error(compress, decompress, name, content):
    with pytest.raises(Incompressible, match=name):
        decompress(content, LIMIT)


def test_a_changed_byte_of_gzip_is_an_error_or_changes_nothing():
    whole = gzip.compress(TEXT)
    outcomes = {_gunzipped_or_none(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]) for at in range(len(whole))}
    assert outcomes == {TEXT, None}  # TEXT: the time in the header


def _gunzipped_or_none(raw: bytes) -> bytes | None:
    try:
        return gunzipped(raw, LIMIT)
    except Incompressible:
        return None


@BOTH
def test_a_value_that_is_too_large_is_an_error_and_takes_no_more_memory_than_allowed(compress, decompress, name):
    for size in (LIMIT - 1, LIMIT):
        assert decompress(compress(b"a" * size), LIMIT) == b"a" * size
    for bomb in (compress(b"a" * (LIMIT + 1)), compress(bytes(50 * MIB)), compress(b"a" * LIMIT) + compress(b"a")):
        with pytest.raises(Incompressible, match=f"it has more than {LIMIT} bytes decompressed"):
            decompress(bomb, LIMIT)


def test_a_size_in_a_header_of_zstd_that_is_wrong_is_an_error():
    whole = zstd(b"abc")
    assert whole[4] == 0x20
    for size in (0, 2, 4, 255):
        with pytest.raises(Incompressible, match="it is no zstd"):
            unzstd(whole[:5] + bytes([size]) + whole[6:], LIMIT)
    with pytest.raises(Incompressible, match="it has more than 2 bytes"):
        unzstd(whole, 2)


def test_frames_of_zstd_that_are_to_be_skipped_are():
    assert unzstd(SKIPPABLE + zstd(TEXT) + SKIPPABLE, LIMIT) == TEXT


def test_what_zlib_writes_without_the_header_of_gzip_is_an_error():
    with pytest.raises(
        Incompressible, match="it is no gzip: Error -3 while decompressing data: incorrect header check"
    ):
        gunzipped(zlib.compress(TEXT), LIMIT)
