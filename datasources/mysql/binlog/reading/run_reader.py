"""Reads runs of ordinary events: tracks table maps, buffers rows of open XA transactions, cuts at the stop rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.events.event_types import IS_GTID, EventType
from datasources.mysql.binlog.positions.known_transactions import KnownTransactions
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.positions.transaction_errors import decode_errors, with_transaction
from datasources.mysql.binlog.reading.progress import Progress
from datasources.mysql.binlog.rows.buffered_events import BufferedEvents
from datasources.mysql.binlog.rows.changes import CaptureRule, StopRule
from datasources.mysql.binlog.rows.partial_updates import count_partial_updates, decode_partial_updates
from datasources.mysql.binlog.rows.row_batch import BinlogRows
from datasources.mysql.binlog.rows.row_layout import RowLayout
from datasources.mysql.binlog.rows.runs import FoundRows, KnownTable, RunPositions, decode_rows, find_rows
from datasources.mysql.binlog.rows.table_map import parse_table_map, peek_name
from datasources.mysql.binlog.rows.transaction_log import TransactionLog, Transactions
from datasources.mysql.types.decoders.cells import Int64s, read_little

_TABLE_ID_BYTES: Final = 6
_MARIADB_FLAGS_AT: Final = HEADER_BYTES + 12
_STANDALONE: Final = 1
_SECOND_US: Final = 1_000_000


class RunReader:
    """Reads runs, and has the state that they share.

    Args:
        progress: how far the reader got.
        capture: which tables are read.
        skip: begins of transactions that are skipped.
        decodes: whether rows are decoded; else they are only counted.

    Attributes:
        log: GTIDs of the transactions.
        buffered: the rows of an XA transaction that is not decided; None = the transaction is none.
        is_mariadb: whether MariaDB wrote the log.
        follows_gtid: whether the last event was a GTID behind which a statement is a whole transaction.
        next_commit_us: commit time of the transaction before which the stop rule's time or set ended reading.
    """

    def __init__(
        self, progress: Progress, capture: CaptureRule, *, skip: frozenset[BinlogPosition], decodes: bool
    ) -> None:
        self._progress = progress
        self._capture = capture
        self._skip = skip
        self._decodes = decodes
        self._tables: dict[int, KnownTable] = {}
        self._fixed: tuple[int, int] | None = None
        self._rows_inside = 0
        within = progress.stop.within
        self._within = None if within is None else KnownTransactions(within)
        self._may_exclude_next = progress.stop.committed_us is not None or within is not None
        self.log = TransactionLog(progress.here)
        self.buffered: BufferedEvents | None = None
        self.is_mariadb = False
        self.follows_gtid = False
        self.next_commit_us: int | None = None

    @property
    def is_skipped(self) -> bool:
        """Whether the current transaction is skipped."""
        return self.log.begin in self._skip

    def start_buffering(self) -> None:
        """Buffer the rows that follow: their XA transaction is not decided."""
        self.buffered = BufferedEvents(self._progress.here, self.log.open_only(), self.is_mariadb)

    def decode_buffered(self, buffered: BufferedEvents) -> Iterator[BinlogRows]:
        """Yield the rows of a committed transaction that was buffered completely."""
        progress = Progress(buffered.position, StopRule())
        runs = RunReader(progress, self._capture, skip=frozenset(), decodes=self._decodes)
        runs.log, runs.is_mariadb = buffered.log, buffered.is_mariadb
        for pos, events in buffered.blocks:
            progress.pos = pos
            is_partial = events.types[0] == EventType.PARTIAL_UPDATE_ROWS
            yield from runs.read_partial(events) if is_partial else runs.read(events)

    def first_excluded(self, transactions: Transactions, times_s: Int64s) -> int | None:
        """Return the first transaction that the stop rule's time or set excludes; None if there is none.

        Args:
            transactions: the one that is open, then those that come next: `TransactionLog.transactions_in`.
            times_s: when the events of the latter were written.
        """
        stop, given_us = self._progress.stop, transactions.commit_us[1:]
        if not self._may_exclude_next:
            return None
        times_us = np.where(given_us == 0, times_s * _SECOND_US, given_us)
        is_out = np.zeros(len(times_s), np.bool_) if stop.committed_us is None else times_us >= stop.committed_us
        if self._within is not None:
            is_out |= self.log.lacking(transactions, self._within)[1:]
        found = np.flatnonzero(is_out)
        if not len(found):
            return None
        self.next_commit_us = int(times_us[found[0]])
        return int(found[0])

    def forget_tables(self) -> None:
        """Drop table maps: behind a FORMAT_DESCRIPTION, table ids may mean other tables."""
        self._tables.clear()

    @contextmanager
    def inside(self, begin: int, end: int) -> Iterator[None]:
        """Read events of a compressed event: all have its position, and reading does not stop between them."""
        self._fixed, self._rows_inside, self._progress.is_inside = (begin, end), 0, True
        try:
            yield
        finally:
            self._fixed, self._progress.is_inside = None, False

    def read(self, run: EventBlock) -> Iterator[BinlogRows]:
        """Yield the rows of a run of ordinary events, up to the stop rule.

        Raises:
            RecordError: a value cannot be decoded.
            SchemaError: the binlog does not describe a captured table well enough.
        """
        self._buffer(run)
        for piece in self._apart_from_skipped(run) if self._skip else [run]:
            if not self._progress.is_done:
                yield from self._read_named(piece)

    def read_partial(self, event: EventBlock) -> Iterator[BinlogRows]:
        """Yield the rows of an update that changes JSON documents in part."""
        self._buffer(event)
        begins, ends = self._progress.positions(event)
        number = int(read_little(event.data, event.starts + HEADER_BYTES, _TABLE_ID_BYTES)[0])
        known = self._tables.get(number)
        changed = 0
        if known is not None and known.layout is not None and self.buffered is None:
            first = self._rows_inside if self._fixed is not None else None
            fixed = np.array([self._fixed[0]]) if self._fixed is not None else begins
            positions = RunPositions(self._progress.file, fixed, ends, first)
            batches = [decode_partial_updates(event, known, positions, self.log)] if self._decodes else []
            changed = batches[0].changes if batches else count_partial_updates(event, known)
            yield from batches
        if self._fixed is not None:
            self._rows_inside += changed
            self._progress.changed_rows += changed
        else:
            self._progress.pass_run(event, ends, begins, changed)

    def _buffer(self, events: EventBlock) -> None:
        if self.buffered is None or not len(events):
            return
        maps = np.flatnonzero(events.types == EventType.TABLE_MAP).tolist()
        self.buffered.tables.update(peek_name(events.body(index)) for index in maps)
        if self._fixed is not None or events.enclosed is not None:
            self.buffered.give_up()  # these were unpacked: they have the position of another event
        elif self._decodes and not self.is_skipped:
            self.buffered.add(events, self._progress.pos)

    def _apart_from_skipped(self, run: EventBlock) -> list[EventBlock]:
        """Cut a run so that each skipped transaction is a run of its own."""
        if self._fixed is not None:
            return [run]
        gtids = np.flatnonzero(IS_GTID[run.types])
        begins, _ = self._progress.positions(run)
        here = [begin.pos for begin in self._skip if begin.file == self._progress.file]
        is_skipped = np.concatenate([[self.is_skipped], np.isin(begins[gtids], here)])
        edges = gtids[is_skipped[1:] | is_skipped[:-1]].tolist()
        return run.cut(edges)

    def _read_named(self, run: EventBlock) -> Iterator[BinlogRows]:
        """Read a run; if it cannot be decoded, emit the transactions before the faulty one."""
        try:
            with decode_errors():
                changed = None if self._is_unread(run) else self._note_tables(run)
                batches = [] if changed is not None else self._read_run(run)
        except (RecordError, SchemaError) as error:
            pieces = run.cut(np.flatnonzero(IS_GTID[run.types]).tolist())
            if len(pieces) == 1:
                raise with_transaction(error, self._begin_of(run)) from error
        else:
            yield from batches
            pieces = [] if changed is None else run.cut([changed])
        for piece in pieces:
            if not self._progress.is_done:
                yield from self._read_named(piece)

    def _begin_of(self, run: EventBlock) -> BinlogPosition:
        """The begin of the only transaction in a run."""
        if IS_GTID[run.types[0]] and self._fixed is None:
            begins, _ = self._progress.positions(run)
            return BinlogPosition(self._progress.file, int(begins[0]))
        return self.log.begin

    def _is_unread(self, run: EventBlock) -> bool:
        return bool(self._skip) and self._begin_of(run) in self._skip

    def _read_run(self, run: EventBlock) -> list[BinlogRows]:
        hides = self.buffered is not None or self._is_unread(run)
        found = [] if hides else find_rows(run, self._tables, str(self._progress.here))
        if self._fixed is not None:
            return self._read_inside(run, found, self._fixed)
        begins, ends = self._progress.positions(run)
        changes = _changes(len(run), found)
        cut = self._progress.cut(run, begins, changes)
        gtids = np.flatnonzero(IS_GTID[run.types[: cut + self._may_exclude_next]])
        transactions = self.log.transactions_in(run, gtids, begins)
        first_excluded = self.first_excluded(transactions, run.times_s[gtids])
        cut = cut if first_excluded is None else int(gtids[first_excluded])
        if cut < len(run):
            found = [rows.before(cut) for rows in found]
            transactions = transactions.first(1 + int(np.searchsorted(gtids, cut)))
        passed = run.take(0, cut)
        positions = RunPositions(self._progress.file, begins, ends, None if run.enclosed is None else self._rows_inside)
        batches = self._decode(passed, found, positions, transactions)
        self._rows_inside = self._rows_of_open(passed, changes)
        self._progress.pass_run(passed, ends[:cut], begins[:cut], int(changes[:cut].sum()))
        if cut < len(run):
            self._progress.stop_at(int(begins[cut]))
        return batches

    def _rows_of_open(self, run: EventBlock, changes: Int64s) -> int:
        """Row changes so far of the expanded transaction in which a run ends; 0 if it ends between two."""
        if run.enclosed is None or not len(run) or run.enclosed.number[-1] < 0 or run.types[-1] == EventType.XID:
            return 0
        is_same = run.enclosed.number == run.enclosed.number[-1]
        return int(changes[: len(run)][is_same].sum()) + (self._rows_inside if is_same[0] else 0)

    def _read_inside(self, run: EventBlock, found: list[FoundRows], fixed: tuple[int, int]) -> list[BinlogRows]:
        begins = np.full(len(run), fixed[0])
        positions = RunPositions(self._progress.file, begins, np.full(len(run), fixed[1]), self._rows_inside)
        transactions = self.log.transactions_in(run, np.flatnonzero(IS_GTID[run.types]), begins)
        batches = self._decode(run, found, positions, transactions)
        changed = int(_changes(len(run), found).sum())
        self._rows_inside += changed
        self._progress.changed_rows += changed
        return batches

    def _decode(
        self, run: EventBlock, found: list[FoundRows], positions: RunPositions, transactions: Transactions
    ) -> list[BinlogRows]:
        batches = list(decode_rows(run, found, positions, self.log, transactions)) if self._decodes else []
        self.log.record(transactions, positions.file)
        self.follows_gtid = len(run) > 0 and _may_stand_alone(run)
        return batches

    def _note_tables(self, run: EventBlock) -> int | None:
        """Record a run's table maps.

        Returns:
            The index of a map that redefines a table id which earlier rows of this run use.
        """
        maps = np.flatnonzero(run.types == EventType.TABLE_MAP)
        begins, ends = run.starts[maps] + HEADER_BYTES, run.ends[maps]
        ids = read_little(run.data, begins, _TABLE_ID_BYTES)
        view, seen = run.data.data, set()
        for number in np.unique(ids).tolist():
            which = np.flatnonzero(ids == number)
            for index in self._differing(run, begins[which], ends[which], number):
                if number in seen or index:
                    return int(maps[which[index]])
                seen.add(number)
                self._tables[number] = self._known(bytes(view[begins[which[0]] : ends[which[0]]]))
        return None

    def _differing(self, run: EventBlock, begins: Int64s, ends: Int64s, number: int) -> Iterator[int]:
        """Yield the first map of a table id that differs from the known one, until none does."""
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
        if capture is None:
            return KnownTable(body, None, None)
        table = parse_table_map(body, is_mariadb=self.is_mariadb)
        return KnownTable(body, capture, RowLayout(table if capture.typed is None else capture.typed(table)))


def _changes(count: int, found: list[FoundRows]) -> Int64s:
    changes = np.zeros(count, np.int64)
    for rows in found:
        changes[rows.events] += rows.changes()
    return changes


def _may_stand_alone(run: EventBlock) -> bool:
    """Whether a run ends with a GTID behind which a statement needs no COMMIT; MariaDB has a flag for it."""
    kind = run.types[-1]
    if kind == EventType.MARIADB_GTID:
        return bool(run.data[run.starts[-1] + _MARIADB_FLAGS_AT] & _STANDALONE)
    return bool(IS_GTID[kind])
