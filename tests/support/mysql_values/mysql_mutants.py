"""A dump that was recorded from a server, and copies of it with one damage each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from datasources.mysql.binlog import BinlogPosition, ChangeReader
from datasources.mysql.binlog.dump.dump_stream import DumpStream
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock, padded
from tests.support.mysql.mysql_binlog import everything

__all__ = ["Recording", "mutated", "record"]

_KINDS: Final = ("bit", "byte", "length", "cut", "swap", "repeat")


@dataclass(frozen=True)
class Recording:
    """Whole events, in order.

    Attributes:
        start: where the dump began.
        events: the events' bytes.
        database: the database whose tables are captured.
    """

    start: BinlogPosition
    events: tuple[bytes, ...]
    database: str

    def reader(self) -> ChangeReader:
        """Return a reader of it that checks no checksums, as if a sender had damaged an event before it summed it."""
        dump: Any = self
        return ChangeReader(dump, start=self.start, capture=everything(self.database), verify_checksums=False)

    def close(self) -> None:
        """Do what a connection's reader does; there is none."""

    def blocks(self) -> Iterator[EventBlock]:
        """Yield the events as one block."""
        ends = np.cumsum([len(event) for event in self.events])
        starts = np.concatenate([[0], ends[:-1]])
        yield EventBlock(data=padded(b"".join(self.events)), starts=starts.astype(np.int64), ends=ends.astype(np.int64))


def record(dump: DumpStream, start: BinlogPosition, database: str) -> Recording:
    """Read a dump to its end."""
    found: list[bytes] = []
    for block in dump.blocks():
        found += [block.data[start:end].tobytes() for start, end in zip(block.starts, block.ends, strict=True)]
    return Recording(start, tuple(found), database)


def mutated(recording: Recording, seed: int) -> Recording:
    """Return the recording with one event damaged, in a way that depends on the seed only."""
    dice = random.Random(seed)
    large = [index for index, event in enumerate(recording.events) if len(event) > HEADER_BYTES + 4]
    index = dice.choice(large)
    events = list(recording.events)
    events[index] = _damaged(dice, bytearray(events[index]))
    return Recording(recording.start, tuple(events), recording.database)


def _damaged(dice: random.Random, event: bytearray) -> bytes:
    kind, at = dice.choice(_KINDS), dice.randrange(HEADER_BYTES, len(event))
    if kind == "bit":
        event[at] ^= 1 << dice.randrange(8)
    elif kind == "byte":
        event[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, dice.randrange(256)))
    elif kind == "length":
        width = dice.choice((2, 4, 8))
        event[at : at + width] = dice.choice((b"\xff", b"\0", b"\x7f", b"\xfe")) * len(event[at : at + width])
    elif kind == "cut":
        del event[at:]
    elif kind == "swap":
        other = dice.randrange(HEADER_BYTES, len(event))
        event[at], event[other] = event[other], event[at]
    else:
        event[at:at] = event[at : at + dice.randrange(1, 40)]
    return bytes(event)
