"""Bytes that an application compressed, one value at a time.

Accepted is what the tools gzip and zstd make: one member or frame, or several behind each other. Bytes that are none of
these at the end, a part that is missing and a wrong checksum are errors.
"""

from __future__ import annotations

import zlib
from typing import Final

import pyarrow as pa

MAX_BATCH_BYTES: Final = 2**30
"""Decompressed bytes of a batch; offsets in Arrow have 32 bits."""

_WITH_GZIP_HEADER: Final = 16 + zlib.MAX_WBITS
_READ_BYTES: Final = 2**16
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_DESCRIPTOR: Final = 4
_ZSTD_ID_BYTES: Final = (0, 1, 2, 4)
_ZSTD_SIZE_BYTES: Final = (0, 2, 4, 8)
_SMALLEST_OF_TWO_BYTES: Final = 256


class Incompressible(ValueError):
    """The bytes are no compressed value, or too many; the message is the reason."""


def gunzipped(raw: bytes, limit: int) -> bytes:
    """Return what gzip compressed.

    Args:
        raw: the compressed value.
        limit: how many bytes it may have.

    Raises:
        Incompressible: it is none, or has more.
    """
    member = zlib.decompressobj(_WITH_GZIP_HEADER)
    try:
        found = member.decompress(raw, limit + 1)
    except zlib.error as error:
        raise Incompressible(f"it is no gzip: {error}") from None
    if len(found) > limit:
        raise _too_large(limit)
    if member.eof and not member.unused_data:
        return found
    return _streamed(raw, "gzip", limit)


def unzstd(raw: bytes, limit: int) -> bytes:
    """Return what zstd compressed; see `gunzipped`."""
    size = _declared_bytes(raw)
    if size is not None and size > limit:
        raise _too_large(limit)
    if size is not None:
        try:
            return bytes(pa.Codec("zstd").decompress(raw, size, asbytes=True))
        except OSError:  # also if there are several frames
            return _streamed(raw, "zstd", limit)
    return _streamed(raw, "zstd", limit)


def _streamed(raw: bytes, codec: str, limit: int) -> bytes:
    """Return the bytes of any number of members or frames."""
    if not raw:
        raise Incompressible(f"it has no bytes, and an empty value is some in {codec}")
    found = bytearray()
    try:
        with pa.CompressedInputStream(pa.BufferReader(raw), codec) as stream:
            while part := stream.read(min(_READ_BYTES, limit + 1 - len(found))):
                found += part
                if len(found) > limit:
                    raise _too_large(limit)
    except OSError as error:
        raise Incompressible(f"it is no {codec}: {error}") from None
    return bytes(found)


def _too_large(limit: int) -> Incompressible:
    return Incompressible(f"it has more than {limit} bytes decompressed ('format.max-decompressed-bytes')")


def _declared_bytes(raw: bytes) -> int | None:
    """Return how many bytes the first frame of zstd has by its header; None = it does not name them."""
    if len(raw) <= _ZSTD_DESCRIPTOR or not raw.startswith(_ZSTD_MAGIC):
        return None
    descriptor = raw[_ZSTD_DESCRIPTOR]
    is_single_segment = bool(descriptor & 32)
    width = _ZSTD_SIZE_BYTES[descriptor >> 6] or int(is_single_segment)
    begin = _ZSTD_DESCRIPTOR + 1 + (not is_single_segment) + _ZSTD_ID_BYTES[descriptor & 3]
    found = raw[begin : begin + width]
    if not width or len(found) < width:
        return None
    return int.from_bytes(found, "little") + (_SMALLEST_OF_TWO_BYTES if width == 2 else 0)  # noqa: PLR2004
