"""Reads a dump: turns blocks of events into batches of row changes, statements and XA decisions.

Rules of this file. Reading ends only between two transactions, at a position that follows from the binlog and the stop
rule alone. Everything before that position was emitted, nothing behind it was. A transaction may be
emitted in several batches, and is never buffered as a whole.

Theory of operation. Most events can be ignored, or decoded in bulk: GTIDs, BEGIN, table maps, rows, XID.
These are *ordinary*. A block is a sequence of runs of ordinary events, each decoded at once with numpy, between special
events that are handled one by one: rotations, statements, compressed transactions, XA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from datasources.errors import OffsetError, RecordError, SchemaError
from datasources.mysql.binlog.dump.dump_stream import DumpStream
from datasources.mysql.binlog.dump.stall_detector import StallDetector
from datasources.mysql.binlog.events import single_events as formats
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, MAX_EVENT_BYTES, EventBlock
from datasources.mysql.binlog.events.checksums import checked_pieces
from datasources.mysql.binlog.events.event_types import (
    COMPRESSED_ROWS,
    HEARTBEATS,
    IS_BOUNDARY,
    IS_HEARTBEAT,
    SKIPPABLE,
    UNREADABLE,
    EventType,
)
from datasources.mysql.binlog.events.ordinary import is_ordinary
from datasources.mysql.binlog.events.payload import expand_payloads, payload_blocks, unpack_event
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.positions.positions import FIRST_POSITION, BinlogPosition
from datasources.mysql.binlog.positions.transaction_errors import decode_errors, with_transaction
from datasources.mysql.binlog.reading.progress import Progress
from datasources.mysql.binlog.reading.run_reader import RunReader
from datasources.mysql.binlog.reading.savepoints import Savepoints
from datasources.mysql.binlog.rows.buffered_events import BufferedEvents
from datasources.mysql.binlog.rows.changes import CaptureRule, Change, Idle, StopRule, XaChange, XaOutcome
from datasources.mysql.binlog.rows.row_batch import BinlogRows
from datasources.mysql.binlog.statements.statements import Statement, StatementKind, parse_query
from datasources.mysql.connection.connection_errors import ConnectionLost

_SECOND_US: Final = 1_000_000
_NO_CHANGE: Final = frozenset({StatementKind.BEGIN, StatementKind.XA_END, StatementKind.OTHER, StatementKind.SAVEPOINT})
_OF_ANY_TABLE: Final = frozenset({StatementKind.DATABASE, StatementKind.ROWS})
_DECISIONS: Final = {StatementKind.XA_COMMIT: XaOutcome.COMMITTED, StatementKind.XA_ROLLBACK: XaOutcome.ROLLED_BACK}


class ChangeReader:
    """The changes behind a position.

    Args:
        dump: opened at that position.
        start: the position, or the GTID set of the dump; then the dump's first event names the file.
        capture: which tables are read.
        stop: where to end; without one, only the server ends the dump.
        released: begins of XA transactions whose rows are emitted, because they were committed.
        skip: begins of transactions that are skipped, whatever they contain; their rows are not counted.
        decodes: whether rows are emitted; else they are only counted, which is much faster, and reading ends at the
            same position.
        verify_checksums: whether checksums are verified.
        max_event_bytes: the largest event that a compressed one may unpack to.
        folds_names: whether the server stores table names in lower case, however statements write them.
        is_endless: whether the dump waits at the log's end, so that the server ends it only at a shutdown.
    """

    def __init__(  # noqa: PLR0913 - what a range is
        self,
        dump: DumpStream,
        *,
        start: BinlogPosition | str,
        capture: CaptureRule,
        stop: StopRule | None = None,
        released: frozenset[BinlogPosition] = frozenset(),
        skip: frozenset[BinlogPosition] = frozenset(),
        decodes: bool = True,
        verify_checksums: bool = True,
        max_event_bytes: int = MAX_EVENT_BYTES,
        folds_names: bool = False,
        is_endless: bool = False,
    ) -> None:
        self._dump = dump
        self._is_endless = is_endless
        is_by_gtid = isinstance(start, str)
        begin = BinlogPosition("", FIRST_POSITION) if isinstance(start, str) else start
        self._progress = Progress(begin, stop or StopRule(), is_by_gtid=is_by_gtid)
        self._runs = RunReader(self._progress, capture, skip=skip, decodes=decodes)
        self._capture = capture
        self._released = released
        self._skip = skip
        self._verifies, self._max_event_bytes = verify_checksums, max_event_bytes
        self._folds_names, self._savepoints = folds_names, Savepoints()
        self._stall_detector = StallDetector(begin, None if stop is None else stop.to)
        self._checksum: int | None = None
        self._may_begin = False
        self._format_time_us = 0

    @property
    def position(self) -> BinlogPosition:
        """The last position between two transactions up to which everything was emitted."""
        return self._progress.boundary

    @property
    def gtid(self) -> str | None:
        """The GTID of the transaction that was read last."""
        return self._runs.log.gtid

    @property
    def commit_us(self) -> int:
        """When the transaction that was read last was committed, µs since the epoch; 0 if not stated."""
        return self._runs.log.commit_us

    @property
    def next_commit_us(self) -> int | None:
        """Commit time of the transaction before which the stop rule's time or set ended reading, µs since the epoch."""
        return self._runs.next_commit_us

    @property
    def format_time_us(self) -> int:
        """When the current file was created, µs since the epoch (whole seconds); 0 before the first."""
        return self._format_time_us

    @property
    def first_gtid(self) -> str | None:
        """The GTID of the first transaction behind the start; None before it, or if it has none."""
        return self._runs.log.first_gtid

    @property
    def gtids(self) -> GtidSet | DomainPositions | None:
        """The transactions between the start and `position`; MariaDB: the last one of each domain.

        None if one of them has no GTID. Before the first transaction of any server: an empty set.
        """
        return self._runs.log.passed(self._progress.boundary)

    @property
    def transaction_begin(self) -> BinlogPosition:
        """The begin of the transaction that was read last."""
        return self._runs.log.begin

    @property
    def passed_bytes(self) -> int:
        """Bytes of the binlog between the start and here."""
        return self._progress.passed_bytes

    @property
    def changed_rows(self) -> int:
        """Rows of captured tables that were changed between the start and here."""
        return self._progress.changed_rows

    @property
    def is_done(self) -> bool:
        """Whether the stop rule was reached."""
        return self._progress.is_done

    def decode_buffered(self, buffered: BufferedEvents) -> Iterator[BinlogRows]:
        """Yield the rows of a committed XA transaction that was buffered completely."""
        return self._runs.decode_buffered(buffered)

    def passed_at(self, pos: int) -> int:
        """Return the bytes of the binlog between the start and a position of the file that is being read."""
        return self._progress.passed_at(pos)

    def close(self) -> None:
        """Close the dump's connection."""
        self._dump.close()

    def __iter__(self) -> Iterator[Change]:
        """Yield changes until the stop rule holds or the server ends the dump.

        Raises:
            RecordError: an event or a value cannot be decoded.
            SchemaError: the binlog does not describe a captured table well enough.
            OffsetError: the start is not between two transactions.
            SourceUnavailable: the connection broke.
            DataLossError: the server lost or purged the range.
        """
        for block in self._dump.blocks():
            with decode_errors():
                yield from self._block(block)
            if self.is_done:
                return
        if self._is_endless:
            raise ConnectionLost(
                f"the server ended the dump of its binlog at {self._progress.here}, before the end of the range: it is "
                f"shutting down. The query can be restarted; it goes on where it stopped."
            )
        self._progress.close()  # the end of a log is between two transactions

    def _block(self, raw: EventBlock) -> Iterator[Change]:
        at = 0
        edges = [*np.flatnonzero(raw.types == EventType.FORMAT_DESCRIPTION).tolist(), len(raw)]
        while at < len(raw) and not self.is_done:
            if self._checksum is None or raw.types[at] == EventType.FORMAT_DESCRIPTION:
                self._preamble(raw.take(at, at + 1))
                at += 1
                continue
            end = next(index for index in edges if index >= at)
            yield from self._segment(raw.take(at, end))
            at = end

    def _preamble(self, event: EventBlock) -> None:
        """Handle events up to the first FORMAT_DESCRIPTION, which defines the checksum, and each later one."""
        kind = int(event.types[0])
        content = event.data[event.starts[0] : event.ends[0]].tobytes()
        if kind == EventType.ROTATE:
            self._progress.rotate(formats.parse_first_rotate(content))
        elif kind == EventType.FORMAT_DESCRIPTION:
            self._checksum = formats.checksum_bytes(content)
            self._runs.is_mariadb = formats.is_mariadbs(content)
            self._format_time_us = int(event.times_s[0]) * _SECOND_US
            self._runs.forget_tables()
            self._progress.pass_event(event)
            self._progress.close()
        elif kind not in HEARTBEATS:
            raise OffsetError(f"the server's binlog begins with an event of type {kind} instead of its format.")

    def _segment(self, events: EventBlock) -> Iterator[Change]:
        log, progress = self._runs.log, self._progress
        is_checked = bool(self._checksum) and self._verifies
        pieces = (
            checked_pieces(events, lambda: progress.here, lambda: log.begin, self._skip) if is_checked else [events]
        )
        for piece in pieces:
            block = piece.without_checksums(self._checksum or 0)
            self._check_begin(block)
            for segment in expand_payloads(block, max_event_bytes=self._max_event_bytes):
                yield from self._mixed(segment)
                if self.is_done:
                    return
        if len(events) and IS_HEARTBEAT[events.types[-1]]:
            self._stall_detector.heartbeat(self.position)
            yield Idle(position=self.position)

    def _check_begin(self, block: EventBlock) -> None:
        """Refuse a start inside a transaction: the server accepts any position between two events."""
        for index in range(len(block) if not self._may_begin else 0):
            if IS_BOUNDARY[block.types[index]]:
                self._may_begin = not IS_HEARTBEAT[block.types[index]]
            else:
                raise OffsetError(
                    f"the binlog at {self._progress.here} continues inside a transaction (with an event of type "
                    f"{int(block.types[index])}): the position belongs to another server or was edited, and reading on "
                    f"would lose half a transaction. Start with a new snapshot."
                )
            if self._may_begin:
                return

    def _mixed(self, block: EventBlock) -> Iterator[Change]:
        """Read runs of ordinary events, and the special events between them."""
        special = [*np.flatnonzero(~is_ordinary(block)).tolist(), len(block)]
        at = 0
        for index in special:
            if index > at:
                yield from self._runs.read(block.take(at, index))
            if self.is_done or index == len(block):
                return
            yield from self._special(block.take(index, index + 1))
            if self.is_done:
                return
            at = index + 1

    def _special(self, event: EventBlock) -> Iterator[Change]:
        kind = int(event.types[0])
        self._progress.begin_event(event)
        if self.is_done:
            return
        try:
            with decode_errors():
                yield from self._handled(kind, event)
        except (RecordError, SchemaError) as error:
            if not self._runs.log.is_open(self.position):
                raise
            raise with_transaction(error, self._runs.log.begin) from error

    def _handled(self, kind: int, event: EventBlock) -> Iterator[Change]:
        handle = self._handlers.get(kind)
        if self._runs.is_skipped and kind in SKIPPABLE:
            self._progress.pass_event(event)
        elif kind in COMPRESSED_ROWS:
            yield from self._compressed(event)
        elif handle is not None:
            yield from handle(self, event)
        elif kind in UNREADABLE:
            raise RecordError(f"at {self._progress.here}: {UNREADABLE[kind]}.")
        elif not event.is_ignorable[0]:
            raise RecordError(
                f"at {self._progress.here} there is an event of type {kind}, which is unknown and may not be "
                f"skipped; report the server's version."
            )
        else:
            self._progress.pass_event(event)

    def _rotate(self, event: EventBlock) -> Iterator[Change]:
        self._progress.pass_event(event)
        self._progress.rotate(formats.parse_rotate(event.body(0)))
        yield from ()

    def _tagged(self, event: EventBlock) -> Iterator[Change]:
        gtid, here = formats.parse_tagged_gtid(event.body(0)), self._progress.here
        found = self._runs.log.tagged_transaction(gtid.source, gtid.number, gtid.commit_us, here)
        if self._runs.first_excluded(found, event.times_s) is not None:
            self._progress.stop_at(here.pos)
            return
        self._runs.follows_gtid = True
        self._runs.log.record(found, here.file)
        self._progress.pass_event(event)
        yield from ()

    def _mariadb_xa(self, event: EventBlock) -> Iterator[Change]:
        """A GTID with the flag of a prepared XA transaction: MariaDB writes no XA START behind it."""
        yield from self._runs.read(event)
        self._buffer_undecided()

    def _payload(self, event: EventBlock) -> Iterator[Change]:
        start, end = int(event.starts[0]) + HEADER_BYTES, int(event.ends[0])
        begins, ends = self._progress.positions(event)
        with self._runs.inside(int(begins[0]), int(ends[0])):
            blocks = payload_blocks(event.data.data[start:end], max_event_bytes=self._max_event_bytes)
            for block in blocks if not self._runs.is_skipped else ():
                yield from self._mixed(block)
        self._progress.pass_event(event)
        self._progress.close()

    def _compressed(self, event: EventBlock) -> Iterator[Change]:
        begins, ends = self._progress.positions(event)
        plain = unpack_event(event, 0, max_event_bytes=self._max_event_bytes)
        if int(event.types[0]) == EventType.QUERY_COMPRESSED:
            yield from self._statement(event, plain.body(0))
            return
        with self._runs.inside(int(begins[0]), int(ends[0])):
            yield from self._runs.read(plain)
        self._progress.pass_event(event)

    def _partial(self, event: EventBlock) -> Iterator[Change]:
        yield from self._runs.read_partial(event)

    def _query(self, event: EventBlock) -> Iterator[Change]:
        yield from self._statement(event, event.body(0))

    def _statement(self, event: EventBlock, body: bytes) -> Iterator[Change]:
        position = self._progress.here
        statement = parse_query(body, folds_names=self._folds_names)
        self._progress.pass_event(event)
        if statement.kind is StatementKind.XA_START:
            self._buffer_undecided()
        elif statement.kind in _DECISIONS:
            xid = statement.text.split(None, 2)[2]
            self._progress.close()
            commit_us = self._runs.log.commit_us or int(event.times_s[0]) * _SECOND_US
            outcome = XaOutcome.ROLLED_BACK if self._runs.is_skipped else _DECISIONS[statement.kind]
            yield XaChange(outcome=outcome, xid=xid, position=position, commit_us=commit_us)
        elif statement.kind is StatementKind.END:
            self._progress.close()
        else:
            if not self._runs.is_skipped:
                self._savepoints.pass_statement(statement, self._runs, self._progress.changed_rows)
                yield from self._captured_statement(statement, position)
            if self._runs.follows_gtid:
                self._progress.close()
        self._runs.follows_gtid = False

    def _captured_statement(self, statement: Statement, position: BinlogPosition) -> Iterator[Change]:
        """Yield a statement that may concern a captured table."""
        if statement.kind in _NO_CHANGE or statement.kind is StatementKind.ROLLBACK_TO:
            return
        is_of_any = statement.kind in _OF_ANY_TABLE or not statement.tables
        if is_of_any or any(self._capture(*name) is not None for name in statement.tables):
            yield replace(statement, position=position, begin=self._runs.log.begin)

    def _xa_prepare(self, event: EventBlock) -> Iterator[Change]:
        prepared = formats.parse_xa_prepare(event.body(0))
        begin = self._runs.log.begin
        buffered, self._runs.buffered = self._runs.buffered, None
        self._progress.pass_event(event)
        self._progress.close()
        if begin not in self._released:
            yield XaChange(
                outcome=XaOutcome.ONE_PHASE if prepared.is_one_phase else XaOutcome.PREPARED,
                xid=prepared.xid,
                position=begin,
                commit_us=self._runs.log.commit_us,
                buffered=buffered if buffered is not None and buffered.is_whole else None,
                tables=frozenset(() if buffered is None else buffered.tables),
            )

    def _buffer_undecided(self) -> None:
        if self._runs.log.begin not in self._released:
            self._runs.start_buffering()

    _handlers: Final[dict[int, Callable[[ChangeReader, EventBlock], Iterator[Change]]]] = {
        EventType.ROTATE: _rotate,
        EventType.GTID_TAGGED: _tagged,
        EventType.MARIADB_GTID: _mariadb_xa,
        EventType.TRANSACTION_PAYLOAD: _payload,
        EventType.PARTIAL_UPDATE_ROWS: _partial,
        EventType.QUERY: _query,
        EventType.XA_PREPARE: _xa_prepare,
    }
