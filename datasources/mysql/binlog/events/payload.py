"""Unpacks compressed transactions and compressed events.

A TRANSACTION_PAYLOAD contains all events of a transaction but the first, as one zstd stream of any size, so
it is unpacked in blocks of a few megabytes. MariaDB compresses single events with zlib instead.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from datasources.errors import RecordError
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, Enclosed, EventBlock, events_in, padded, too_large
from datasources.mysql.binlog.events.cursor import ByteCursor
from datasources.mysql.binlog.events.event_types import COMPRESSED_ROWS, EventType
from datasources.mysql.binlog.events.ordinary import is_ordinary
from datasources.mysql.binlog.positions.transaction_errors import decode_errors
from datasources.mysql.types.decoders.cells import PADDING, Bytes, Int64s

_PIECE_BYTES: Final = 4 << 20
_MAX_EXPANDED_BYTES: Final = 256 << 10
_SEGMENT_BYTES: Final = 1 << 20
_SEGMENT_TRANSACTIONS: Final = 500
_END_MARK: Final = 0
_COMPRESSION: Final = 2
_UNPACKED_BYTES: Final = 3
_ZSTD: Final = 0
_NONE: Final = 255
_ROWS_HEADER_V1: Final = 8
_V2_FIRST: Final = EventType.WRITE_ROWS_COMPRESSED
_QUERY_COMPRESSED: Final = EventType.QUERY_COMPRESSED


def payload_blocks(body: memoryview, *, max_event_bytes: int) -> Iterator[EventBlock]:
    """Yield the events of a TRANSACTION_PAYLOAD; they have no checksums.

    Args:
        body: the event without header and checksum.
        max_event_bytes: the largest event to unpack.

    Raises:
        RecordError: its compression is unknown, it is damaged, or an event is too large.
    """
    found = _payload(body)
    stream: Any = pa.BufferReader(pa.py_buffer(found.content))
    if found.compression == _ZSTD:
        stream = pa.CompressedInputStream(stream, "zstd")
    yield from _pieces(stream, found.unpacked_bytes, max_event_bytes)


def expand_payloads(block: EventBlock, *, max_event_bytes: int) -> Iterator[EventBlock]:
    """Yield a block in segments, small compressed transactions replaced by their events.

    Many small transactions are then decoded in bulk, as uncompressed ones are. Large, unusual or damaged ones stay as
    they are, for `payload_blocks`. A segment is unpacked when it is requested: reading may end before it.
    """
    first, unpacked, size_bytes = 0, dict[int, EventBlock](), 0
    for index in np.flatnonzero(block.types == EventType.TRANSACTION_PAYLOAD).tolist():
        found = _expanded(block, index, max_event_bytes)
        if found is None:
            continue
        unpacked[index - first] = found
        size_bytes += len(found.data)
        if size_bytes >= _SEGMENT_BYTES or len(unpacked) >= _SEGMENT_TRANSACTIONS:
            yield _with_expanded(block.take(first, index + 1), unpacked)
            first, unpacked, size_bytes = index + 1, {}, 0
    if first < len(block):
        rest = block.take(first, len(block))
        yield _with_expanded(rest, unpacked) if unpacked else rest


def _expanded(block: EventBlock, index: int, max_event_bytes: int) -> EventBlock | None:
    """Return the events of a compressed transaction; None if it is large, unusual or damaged."""
    try:
        with decode_errors():
            found = _payload(block.data.data[block.starts[index] + HEADER_BYTES : block.ends[index]])
            return _plain_transaction(found, max_event_bytes) if found.unpacked_bytes <= _MAX_EXPANDED_BYTES else None
    except (RecordError, OSError):
        return None


def _plain_transaction(found: _Payload, max_event_bytes: int) -> EventBlock | None:
    if found.compression == _ZSTD:
        content = pa.decompress(pa.py_buffer(found.content), found.unpacked_bytes, codec="zstd", asbytes=True)
    else:
        content = bytes(found.content)
    events, used = events_in(padded(content), len(content), max_event_bytes)
    if not len(events) or not used == len(content) == found.unpacked_bytes:
        return None
    return events if events.types[-1] == EventType.XID and bool(is_ordinary(events).all()) else None


def _with_expanded(block: EventBlock, unpacked: dict[int, EventBlock]) -> EventBlock:
    """Return a block with some events replaced by others; the new buffer has their bytes in the events' order."""
    builder = _BlockBuilder()
    at = 0
    for number, (index, events) in enumerate(unpacked.items()):
        zeros = np.zeros(len(events) - 1, np.int64)
        builder.add_own(block.take(at, index))
        size, position = block.sizes[index : index + 1], block.log_positions[index : index + 1]
        builder.add(events, np.full(len(events), number), (np.append(zeros, size), np.append(zeros, position)))
        at = index + 1
    builder.add_own(block.take(at, len(block)))
    return builder.build()


class _BlockBuilder:
    """Concatenates events of several buffers."""

    def __init__(self) -> None:
        self._data: list[Bytes] = []
        self._starts: list[Int64s] = []
        self._ends: list[Int64s] = []
        self._enclosed: list[tuple[Int64s, Int64s, Int64s]] = []
        self._length = 0

    def add_own(self, events: EventBlock) -> None:
        """Add events that come from no compressed transaction."""
        if len(events):
            self.add(events, np.full(len(events), -1), (events.sizes, events.log_positions))

    def add(self, events: EventBlock, number: Int64s, stored: tuple[Int64s, Int64s]) -> None:
        """Add events, the number of their compressed transaction, and their sizes and positions in the file."""
        first, last = int(events.starts[0]), int(events.ends[-1])
        self._starts.append(events.starts + (self._length - first))
        self._ends.append(events.ends + (self._length - first))
        self._data.append(events.data[first:last])
        self._enclosed.append((number, *stored))
        self._length += last - first

    def build(self) -> EventBlock:
        """Return them as one block."""
        number, sizes, positions = (np.concatenate(each) for each in zip(*self._enclosed, strict=True))
        return EventBlock(
            data=np.concatenate([*self._data, np.zeros(PADDING, np.uint8)]),
            starts=np.concatenate(self._starts),
            ends=np.concatenate(self._ends),
            enclosed=Enclosed(number, sizes, positions),
        )


@dataclass(frozen=True, slots=True)
class _Payload:
    compression: int
    unpacked_bytes: int
    content: memoryview


def _payload(body: memoryview) -> _Payload:
    compression, announced = _NONE, None
    cursor = ByteCursor(bytes(body[:256]))  # the fields before the stream are few and small
    while (field := cursor.counted()) != _END_MARK:
        value = ByteCursor(cursor.text())
        if field == _COMPRESSION:
            compression = value.counted()
        elif field == _UNPACKED_BYTES:
            announced = value.counted()
    if compression not in (_ZSTD, _NONE):
        raise RecordError(f"a transaction is compressed with algorithm {compression}, which is not known here.")
    if compression == _ZSTD and announced is None:
        raise RecordError("a compressed transaction does not state its size: the binlog is damaged here.")
    return _Payload(compression, len(body) if announced is None else announced, body[cursor.at :])


def _pieces(stream: Any, announced: int, max_event_bytes: int) -> Iterator[EventBlock]:
    """Unpack the announced bytes; memory grows as they arrive, to the largest event and one block at most."""
    data, length = np.empty(_PIECE_BYTES + PADDING, np.uint8), 0
    unpacked = 0
    while True:
        count = _unpack(stream, data.data[length : len(data) - PADDING])
        length += count
        unpacked += count
        if unpacked > announced:
            raise RecordError(f"a compressed transaction unpacks to more than the {announced} bytes that it announced.")
        if count and length < len(data) - PADDING:
            continue
        block, used = events_in(data, length, max_event_bytes)
        if len(block):
            yield block
        if count == 0:
            break
        rest = data[used:length].copy()
        if not len(block):
            data = np.empty(2 * len(data), np.uint8)
        length = len(rest)
        data[:length] = rest
    if used != length:
        raise RecordError("a compressed transaction ends inside an event: the binlog is damaged here.")


def _unpack(stream: Any, room: memoryview) -> int:
    try:
        return int(stream.readinto(room))
    except OSError as error:
        raise RecordError(f"a compressed transaction cannot be unpacked: {error}.") from error


def unpack_event(block: EventBlock, index: int, *, max_event_bytes: int) -> EventBlock:
    """Return one of MariaDB's compressed events as a plain event.

    Raises:
        RecordError: it cannot be unpacked, or is too large.
    """
    start, end = int(block.starts[index]), int(block.ends[index])
    event = block.data[start:end].tobytes()
    kind = event[4]
    keep = HEADER_BYTES + _uncompressed_bytes(event, kind)
    compressed = ByteCursor(event, keep)
    flags = compressed.number(1)
    expected = int.from_bytes(compressed.take(flags & 7), "big")
    if expected > max_event_bytes:
        raise too_large(expected, max_event_bytes)
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(event[compressed.at :], expected + 1)
    except zlib.error as error:
        raise RecordError(f"a compressed event cannot be unpacked: {error}.") from error
    if len(content) != expected or not unpacker.eof:
        raise RecordError(f"a compressed event does not unpack to the {expected} bytes that it announced.")
    plain = bytearray(event[:keep] + content)
    plain[4] = COMPRESSED_ROWS[kind]
    return EventBlock(data=padded(bytes(plain)), starts=np.array([0]), ends=np.array([len(plain)]))


def _uncompressed_bytes(event: bytes, kind: int) -> int:
    """Bytes behind the header that are not compressed: the fixed ones, and for rows columns and bitmaps."""
    if kind == _QUERY_COMPRESSED:
        schema, status = event[HEADER_BYTES + 8], int.from_bytes(event[HEADER_BYTES + 11 : HEADER_BYTES + 13], "little")
        return 13 + status + schema + 1
    at = HEADER_BYTES + _ROWS_HEADER_V1
    if kind >= _V2_FIRST:
        at += int.from_bytes(event[at : at + 2], "little")
    cursor = ByteCursor(event, at)
    bitmap = (cursor.counted() + 7) // 8
    is_update = COMPRESSED_ROWS[kind] in (EventType.UPDATE_ROWS_V1, EventType.UPDATE_ROWS)
    return cursor.at + bitmap * (2 if is_update else 1) - HEADER_BYTES
