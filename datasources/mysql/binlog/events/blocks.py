"""A block of events: one buffer, and where in it each event lies; fields are read for all events at once."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from datasources.errors import RecordError
from datasources.mysql.binlog.events.event_types import HEARTBEATS, EventType
from datasources.mysql.types.cells import PADDING, Bytes, Int64s, Mask, read_little

__all__ = ["HEADER_BYTES", "MAX_EVENT_BYTES", "Enclosed", "EventBlock", "events_in", "padded", "too_large"]

HEADER_BYTES: Final = 19
MAX_EVENT_BYTES: Final = 1 << 30
"""The largest packet that any server allows, so the largest event but for what a row has beside its values."""
_ARTIFICIAL: Final = 0x20
_IGNORABLE: Final = 0x80
_MAY_BE_COPY: Final = np.isin(np.arange(256), [EventType.FORMAT_DESCRIPTION, EventType.ROTATE, EventType.GTID_LIST])
_IS_HEARTBEAT: Final = np.isin(np.arange(256), list(HEARTBEATS))
_SIZE: Final = struct.Struct("<I")
_SIZE_AT: Final = 9


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Where events of compressed transactions stand: all at the event that held them, whose last one takes its bytes.

    Attributes:
        number: per event, which of the block's compressed transactions held it; -1 = none, it stands by itself.
        sizes: per event, bytes in the file.
        log_positions: per event, the low 32 bits of the position behind it; 0 = not said.
    """

    number: Int64s
    sizes: Int64s
    log_positions: Int64s

    def take(self, first: int, last: int) -> Enclosed:
        """Return that of the events first..last-1."""
        return Enclosed(self.number[first:last], self.sizes[first:last], self.log_positions[first:last])

    @property
    def is_inside(self) -> Mask:
        """Events that a compressed transaction held."""
        return np.asarray(self.number >= 0, np.bool_)


@dataclass(frozen=True)
class EventBlock:
    """Events that lie in one buffer.

    Shapes: a header is time (4 bytes), type (1), server id (4), size (4), position after it (4), flags (2).

    Ends include the checksum; ``enclosed`` says where events of compressed transactions stand, None = there are none.
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
        """The low 32 bits of the position behind each event; 0 where the server does not say it."""
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
        """Events that may be passed over by who does not know their type."""
        return np.asarray(self._flags & _IGNORABLE != 0, np.bool_)

    @cached_property
    def is_artificial(self) -> Mask:
        """Events that the server made for this dump; they stand in no file."""
        flags = self._flags
        # A format or rotation without a position is a copy; MariaDB's events in a transaction have none either.
        is_copy = (self.log_positions == 0) & _MAY_BE_COPY[self.types]
        found = np.asarray((flags & _ARTIFICIAL != 0) | is_copy | _IS_HEARTBEAT[self.types], np.bool_)
        return found if self.enclosed is None else found & ~self.enclosed.is_inside

    def body(self, index: int) -> bytes:
        """Return what follows an event's header."""
        return self.data[self.starts[index] + HEADER_BYTES : self.ends[index]].tobytes()

    def take(self, first: int, last: int) -> EventBlock:
        """Return the events first..last-1."""
        enclosed = None if self.enclosed is None else self.enclosed.take(first, last)
        return EventBlock(data=self.data, starts=self.starts[first:last], ends=self.ends[first:last], enclosed=enclosed)

    def cut(self, edges: list[int]) -> list[EventBlock]:
        """Return the parts before, between and behind some indices, those that hold an event."""
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
    """Return the error for an event that is not taken out of a compressed one."""
    return RecordError(
        f"a compressed event of the binlog unpacks to {size} bytes, and more than {max_event_bytes} are not taken: "
        f"raise 'max-allowed-packet' if the server's is larger; else the binlog is damaged here."
    )


def events_in(data: Bytes, length: int, max_event_bytes: int) -> tuple[EventBlock, int]:
    """Return the whole events that stand one behind the other in the first bytes of a buffer, and where they end.

    Raises:
        RecordError: what stands there is no event, or one that is too large.
    """
    starts, ends = [], []
    at = 0
    while at + HEADER_BYTES <= length:
        size = _SIZE.unpack_from(data.data, at + _SIZE_AT)[0]
        if size < HEADER_BYTES:
            raise RecordError(f"a compressed transaction holds an event of {size} bytes, which is no event.")
        if size > max_event_bytes:
            raise too_large(size, max_event_bytes)
        if at + size > length:
            break
        starts.append(at)
        ends.append(at + size)
        at += size
    return EventBlock(data=data, starts=np.array(starts, np.int64), ends=np.array(ends, np.int64)), at
