"""How far a reader got: position, last transaction boundary, bytes and rows read."""

from __future__ import annotations

from typing import Final

import numpy as np

from datasources.mysql.binlog.events.blocks import EventBlock
from datasources.mysql.binlog.events.event_types import IS_BOUNDARY, IS_GTID, EventType
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.rows.changes import StopRule
from datasources.mysql.types.decoders.cells import Int64s

_WRAP: Final = 1 << 32


class Progress:
    """Tracks the position in a dump.

    Headers contain only the low 32 bits of positions; files of more than 4 GiB exist (a transaction is never split), so
    the high bits are counted here.

    Args:
        start: where the dump begins.
        stop: where reading ends.
        is_by_gtid: whether the dump begins by GTIDs. The server then begins at a file's head and skips what is
            known, which may exceed the stop rule's bytes: they count from the first transaction that it sends.
    """

    def __init__(self, start: BinlogPosition, stop: StopRule, *, is_by_gtid: bool = False) -> None:
        self.stop = stop
        self._counts_bytes = not is_by_gtid
        self._file = start.file
        self.pos = start.pos
        self.boundary = start
        self._passed_before = 0
        self._entered_at = start.pos
        self.changed_rows = 0
        self.is_done = False
        self.is_inside = False  # the events come from a compressed one: they have no positions of their own

    @property
    def file(self) -> str:
        """The file that is being read."""
        return self._file

    @property
    def passed_bytes(self) -> int:
        """Bytes of the binlog between the start, or the first transaction of a dump by GTIDs, and here.

        Includes bytes that the server does not send.
        """
        return self.passed_at(self.pos)

    def passed_at(self, pos: int) -> int:
        """Return the bytes of the binlog between the start and a position of the file that is being read."""
        return self._passed_before + pos - self._entered_at

    @property
    def here(self) -> BinlogPosition:
        """The position of the next event."""
        return BinlogPosition(self._file, self.pos)

    def positions(self, run: EventBlock) -> tuple[Int64s, Int64s]:
        """Return the positions of a run's events and those behind them, without advancing."""
        sizes = np.cumsum(_stored_sizes(run))
        known = np.flatnonzero(~run.is_artificial & (run.log_positions != 0))
        ends = self.pos + sizes
        if len(known):
            low = run.log_positions[known]
            high = self.pos & ~(_WRAP - 1)
            absolute = low + high + np.cumsum(low < np.concatenate([[self.pos - high], low[:-1]])) * _WRAP
            # Events without a position follow the last one that has one.
            last = np.searchsorted(known, np.arange(len(run)), side="right") - 1
            ends = np.where(last < 0, ends, absolute[last] - sizes[known[last]] + sizes)
        return ends - _stored_sizes(run), ends

    def cut(self, run: EventBlock, begins: Int64s, changes: Int64s) -> int:
        """Return the first event of a run that is behind the stop rule; the run's length if none is."""
        self._count_from_first(run, begins)
        passed = self._passed_before + begins - self._entered_at
        changed = self.changed_rows + np.cumsum(changes) - changes
        is_reached = np.zeros(len(run), np.bool_)
        if self.stop.max_bytes is not None and self._counts_bytes:
            is_reached |= passed >= self.stop.max_bytes
        if self.stop.max_rows is not None:
            is_reached |= changed >= self.stop.max_rows
        if self.stop.to is not None:
            to = self.stop.to
            number = BinlogPosition(self._file, 0).file_number
            is_reached |= (begins >= to.pos) if number == to.file_number else np.bool_(number > to.file_number)
        found = np.flatnonzero(is_reached & IS_BOUNDARY[run.types])
        return int(found[0]) if len(found) else len(run)

    def pass_run(self, run: EventBlock, ends: Int64s, begins: Int64s, changed_rows: int) -> None:
        """Advance over a run."""
        if not len(run):
            return
        self.changed_rows += changed_rows
        self.pos = int(ends[-1])
        closing = np.where(IS_BOUNDARY[run.types], begins, np.where(run.types == EventType.XID, ends, -1))
        last = int(closing.max())
        if last >= 0:
            self.boundary = BinlogPosition(self._file, last)
        if run.types[-1] == EventType.XID:
            self.close()

    def pass_event(self, run: EventBlock) -> None:
        """Advance over a single event without rows."""
        if not self.is_inside:
            _, ends = self.positions(run)
            self.pos = int(ends[0])

    def begin_event(self, run: EventBlock) -> None:
        """Begin a single event; reading may stop before one that is between transactions."""
        if IS_BOUNDARY[run.types[0]] and not self.is_inside:
            begins, _ = self.positions(run)
            self.pos = int(begins[0])
            self._count_from_first(run, begins)
            self.close()

    def close(self) -> None:
        """Record a transaction boundary here."""
        if self.is_inside:
            return
        self.boundary = self.here
        passed_bytes = self.passed_bytes if self._counts_bytes else 0
        self.is_done = self.is_done or self.stop.is_reached(
            self.boundary, passed_bytes=passed_bytes, changed_rows=self.changed_rows
        )

    def _count_from_first(self, run: EventBlock, begins: Int64s) -> None:
        """Begin to count bytes at the first transaction."""
        if self._counts_bytes or self.is_inside:
            return
        first = np.flatnonzero(IS_GTID[run.types])
        if len(first):
            self._counts_bytes = True
            self._passed_before, self._entered_at = 0, int(begins[first[0]])

    def stop_at(self, pos: int) -> None:
        """Stop at a position of this file."""
        self.pos = pos
        self.boundary = self.here
        self.is_done = True

    def rotate(self, to: BinlogPosition) -> None:
        """Continue in another file, or at the position that the server announces at the begin of a dump."""
        self._passed_before = self.passed_bytes
        self._file, self.pos, self._entered_at = to.file, to.pos, to.pos
        self.close()


def _stored_sizes(run: EventBlock) -> Int64s:
    """Bytes that each event takes in its file; 0 for those that are in none."""
    return np.where(run.is_artificial, 0, run.sizes)
