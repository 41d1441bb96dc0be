"""A block of events: one buffer, and the span of each event in it; fields are read for all events at once."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from datasources.errors import RecordError
from datasources.mysql.binlog.events.event_types import IS_HEARTBEAT, EventType, type_mask
from datasources.mysql.types.decoders.cells import PADDING, Bytes, Int64s, Mask, read_little

HEADER_BYTES: Final = 19
MAX_EVENT_BYTES: Final = 1 << 30
"""The largest `max_allowed_packet` of any server, so the largest event, apart from a row's overhead."""
_ARTIFICIAL: Final = 0x20
_IGNORABLE: Final = 0x80
_MAY_BE_COPY: Final = type_mask([EventType.FORMAT_DESCRIPTION, EventType.ROTATE, EventType.GTID_LIST])
_SIZE: Final = struct.Struct("<I")
_SIZE_AT: Final = 9


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Positions of events from compressed transactions: all have that of their payload event; the last has its size.

    Attributes:
        number: per event, which of the block's compressed transactions contains it; -1 = none.
        sizes: per event, bytes in the file.
        log_positions: per event, the low 32 bits of the position behind it; 0 = not stated.
    """

    number: Int64s
    sizes: Int64s
    log_positions: Int64s

    def take(self, first: int, last: int) -> Enclosed:
        """Return the part for the events first..last-1."""
        return Enclosed(self.number[first:last], self.sizes[first:last], self.log_positions[first:last])

    @property
    def is_inside(self) -> Mask:
        """Events that come from a compressed transaction."""
        return np.asarray(self.number >= 0, np.bool_)


@dataclass(frozen=True)
class EventBlock:
    """Events in one buffer.

    Shapes: a header is time (4 bytes), type (1), server id (4), size (4), position after it (4), flags (2).

    Attributes:
        data: the buffer, padded.
        starts: where each event's header begins.
        ends: where each event ends, its checksum included.
        enclosed: positions of events from compressed transactions; None = there are none.
    """

    data: Bytes
    starts: Int64s
    ends: Int64s
    enclosed: Enclosed | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def types(self) -> Bytes:
        """The events' types."""
        return self.data[self.starts + 4]

    @cached_property
    def times_s(self) -> Int64s:
        """The times in the headers: when the statement began, seconds since the epoch."""
        return read_little(self.data, self.starts, 4).view(np.int64)

    @cached_property
    def log_positions(self) -> Int64s:
        """The low 32 bits of the position behind each event; 0 where the server does not state it."""
        if self.enclosed is not None:
            return self.enclosed.log_positions
        return read_little(self.data, self.starts + 13, 4).view(np.int64)

    @cached_property
    def sizes(self) -> Int64s:
        """Bytes that each event takes in the file."""
        if self.enclosed is not None:
            return self.enclosed.sizes
        return read_little(self.data, self.starts + _SIZE_AT, 4).view(np.int64)

    @property
    def _flags(self) -> Bytes:
        return self.data[self.starts + 17]

    @property
    def is_ignorable(self) -> Mask:
        """Events that a reader may skip if it does not know their type."""
        return np.asarray(self._flags & _IGNORABLE != 0, np.bool_)

    @cached_property
    def is_artificial(self) -> Mask:
        """Events that the server made for this dump; they are in no file."""
        flags = self._flags
        # A format or rotation without a position is a copy; MariaDB's events in a transaction have none either.
        is_copy = (self.log_positions == 0) & _MAY_BE_COPY[self.types]
        found = np.asarray((flags & _ARTIFICIAL != 0) | is_copy | IS_HEARTBEAT[self.types], np.bool_)
        return found if self.enclosed is None else found & ~self.enclosed.is_inside

    def body(self, index: int) -> bytes:
        """Return what follows an event's header."""
        return self.data[self.starts[index] + HEADER_BYTES : self.ends[index]].tobytes()

    def take(self, first: int, last: int) -> EventBlock:
        """Return the events first..last-1."""
        enclosed = None if self.enclosed is None else self.enclosed.take(first, last)
        return EventBlock(data=self.data, starts=self.starts[first:last], ends=self.ends[first:last], enclosed=enclosed)

    def cut(self, edges: list[int]) -> list[EventBlock]:
        """Return the blocks before, between and behind some indices, without empty ones."""
        return [self.take(first, last) for first, last in pairwise([0, *edges, len(self)]) if last > first]

    def without_checksums(self, size: int) -> EventBlock:
        """Return the events without so many bytes at their ends."""
        return EventBlock(data=self.data, starts=self.starts, ends=self.ends - size) if size else self


def padded(content: bytes) -> Bytes:
    """Return bytes as a buffer that decoders may read."""
    data = np.empty(len(content) + PADDING, np.uint8)
    data[: len(content)] = np.frombuffer(content, np.uint8)
    data[len(content) :] = 0
    return data


def too_large(size: int, max_event_bytes: int) -> RecordError:
    """Return the error for a compressed event that unpacks to too many bytes."""
    return RecordError(
        f"a compressed event of the binlog unpacks to {size} bytes, and more than {max_event_bytes} are refused: "
        f"raise 'max-allowed-packet' if the server's is larger; else the binlog is damaged here."
    )


def events_in(data: Bytes, length: int, max_event_bytes: int) -> tuple[EventBlock, int]:
    """Return the complete events in the first bytes of a buffer, and where they end.

    Raises:
        RecordError: the bytes are not an event, or it is too large.
    """
    starts, ends = [], []
    at = 0
    while at + HEADER_BYTES <= length:
        size = _SIZE.unpack_from(data.data, at + _SIZE_AT)[0]
        if size < HEADER_BYTES:
            raise RecordError(f"a compressed transaction holds an event of {size} bytes, which is too short for one.")
        if size > max_event_bytes:
            raise too_large(size, max_event_bytes)
        if at + size > length:
            break
        starts.append(at)
        ends.append(at + size)
        at += size
    return EventBlock(data=data, starts=np.array(starts, np.int64), ends=np.array(ends, np.int64)), at
