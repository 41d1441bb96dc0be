"""Reads runs of ordinary events: keeps table maps, holds back rows of open XA transactions, cuts at the stop rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from datasources.mysql.binlog.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.changes import CaptureRule
from datasources.mysql.binlog.event_types import EventType
from datasources.mysql.binlog.partial_updates import decode_partial_updates
from datasources.mysql.binlog.positions import BinlogPosition
from datasources.mysql.binlog.progress import Progress
from datasources.mysql.binlog.row_batch import RowBatch
from datasources.mysql.binlog.row_layout import RowLayout
from datasources.mysql.binlog.runs import FoundRows, KnownTable, RunPlaces, decode_rows, find_rows
from datasources.mysql.binlog.table_map import parse_table_map, peek_name
from datasources.mysql.binlog.transactions import TransactionLog
from datasources.mysql.types.cells import Int64s, read_little

__all__ = ["RunReader"]

_IS_GTID: Final = np.isin(np.arange(256), [EventType.GTID, EventType.ANONYMOUS_GTID, EventType.MARIADB_GTID])
_TABLE_ID_BYTES: Final = 6


class RunReader:
    """The state that runs share.

    Attributes:
        log: GTIDs of the transactions.
        holds_rows: whether rows are passed over, because their XA transaction is not decided.
        transaction_begin: where the transaction begins that is being read.
        follows_gtid: whether the last event was a GTID; then a statement is a transaction of its own.
    """

    def __init__(self, progress: Progress, capture: CaptureRule) -> None:
        self._progress = progress
        self._capture = capture
        self._tables: dict[int, KnownTable] = {}
        self._fixed: tuple[int, int] | None = None
        self._rows_inside = 0
        self.log = TransactionLog()
        self.holds_rows = False
        self.follows_gtid = False
        self.transaction_begin = progress.here

    def forget_tables(self) -> None:
        """Forget table maps: behind a format, numbers of tables may mean others."""
        self._tables.clear()

    @contextmanager
    def inside(self, begin: int, end: int) -> Iterator[None]:
        """Read events that a compressed event held: they all stand where that one does, and none is a place to stop."""
        self._fixed, self._rows_inside, self._progress.is_inside = (begin, end), 0, True
        try:
            yield
        finally:
            self._fixed, self._progress.is_inside = None, False

    def read(self, run: EventBlock) -> Iterator[RowBatch]:
        """Yield the rows of a run of ordinary events, up to the stop rule."""
        changed = self._note_tables(run)
        if changed is not None:
            yield from self.read(run.take(0, changed))
            if not self._progress.is_done:
                yield from self.read(run.take(changed, len(run)))
            return
        found = [] if self.holds_rows else find_rows(run, self._tables, str(self._progress.here))
        if self._fixed is not None:
            yield from self._read_inside(run, found, self._fixed)
            return
        begins, ends = self._progress.places(run)
        changes = _changes(len(run), found)
        cut = self._progress.cut(run, begins, changes)
        if cut < len(run):
            found = [rows.before(cut) for rows in found]
        passed = run.take(0, cut)
        places = RunPlaces(self._progress.file, begins, ends, None)
        batches = self._decode(passed, found, places)
        self._progress.pass_run(passed, ends[:cut], begins[:cut], int(changes[:cut].sum()))
        if cut < len(run):
            self._progress.stop_at(int(begins[cut]))
        yield from batches

    def read_partial(self, event: EventBlock) -> Iterator[RowBatch]:
        """Yield the rows of an update that changes JSON documents in part."""
        begins, ends = self._progress.places(event)
        number = int(read_little(event.data, event.starts + HEADER_BYTES, _TABLE_ID_BYTES)[0])
        known = self._tables.get(number)
        changed = 0
        if known is not None and known.layout is not None and not self.holds_rows:
            first = self._rows_inside if self._fixed is not None else None
            fixed = np.array([self._fixed[0]]) if self._fixed is not None else begins
            places = RunPlaces(self._progress.file, fixed, ends, first)
            batch = decode_partial_updates(event, known, places, self.log)
            changed = batch.changes
            yield batch
        if self._fixed is not None:
            self._rows_inside += changed
            self._progress.changed_rows += changed
        else:
            self._progress.pass_run(event, ends, begins, changed)

    def _read_inside(self, run: EventBlock, found: list[FoundRows], fixed: tuple[int, int]) -> Iterator[RowBatch]:
        begins = np.full(len(run), fixed[0])
        places = RunPlaces(self._progress.file, begins, np.full(len(run), fixed[1]), self._rows_inside)
        changed = int(_changes(len(run), found).sum())
        self._rows_inside += changed
        self._progress.changed_rows += changed
        yield from self._decode(run, found, places)

    def _decode(self, run: EventBlock, found: list[FoundRows], places: RunPlaces) -> list[RowBatch]:
        gtids = np.flatnonzero(_IS_GTID[run.types])
        self.follows_gtid = bool(len(run)) and bool(_IS_GTID[run.types[-1]])
        transactions = self.log.run(run, gtids)
        if len(gtids):
            self.transaction_begin = BinlogPosition(places.file, int(places.begins[gtids[-1]]))
        return list(decode_rows(run, found, places, self.log, transactions))

    def _note_tables(self, run: EventBlock) -> int | None:
        """Take in a run's table maps.

        Returns:
            The index of a map that gives a number another meaning than it had in rows before it in this run.
        """
        maps = np.flatnonzero(run.types == EventType.TABLE_MAP)
        begins, ends = run.starts[maps] + HEADER_BYTES, run.ends[maps]
        ids = read_little(run.data, begins, _TABLE_ID_BYTES)
        view, seen = run.data.data, set()
        for number in np.unique(ids).tolist():
            which = np.flatnonzero(ids == number)
            for place in self._differing(run, begins[which], ends[which], number):
                if number in seen or place:
                    return int(maps[which[place]])
                seen.add(number)
                self._tables[number] = self._known(bytes(view[begins[which[0]] : ends[which[0]]]))
        return None

    def _differing(self, run: EventBlock, begins: Int64s, ends: Int64s, number: int) -> Iterator[int]:
        """Yield the first map of a number that is not the known one, until all are."""
        while True:
            known = self._tables.get(number)
            if known is None:
                yield 0
                continue
            length = len(known.body)
            is_same = ends - begins == length
            if bool(is_same.all()):
                bodies = run.data[begins[:, None] + np.arange(length)]
                is_same = (bodies == np.frombuffer(known.body, np.uint8)).all(axis=1)
            different = np.flatnonzero(~is_same)
            if not len(different):
                return
            yield int(different[0])

    def _known(self, body: bytes) -> KnownTable:
        capture = self._capture(*peek_name(body))
        layout = None if capture is None else RowLayout(parse_table_map(body))
        return KnownTable(body, capture, layout)


def _changes(count: int, found: list[FoundRows]) -> Int64s:
    changes = np.zeros(count, np.int64)
    for rows in found:
        changes[rows.events] += rows.changes()
    return changes
