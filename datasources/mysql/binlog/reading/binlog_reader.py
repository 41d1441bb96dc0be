"""Follows a dump: turns blocks of events into batches of row changes, statements and XA decisions.

Rules of this file. Reading ends only between two transactions, at a place that follows from the binlog and the stop
rule alone. What is delivered before that place is complete, what is behind it was not delivered. A transaction may be
delivered in several batches, and is never held as a whole.

Theory of operation. Most events need no look at all, or can be looked at together: GTIDs, BEGIN, table maps, rows, XID.
These are *ordinary*. A block is a sequence of runs of ordinary events, each decoded at once with numpy, between special
events that are handled one by one: rotations, statements, compressed transactions, XA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from datasources.errors import OffsetError, RecordError, SchemaError
from datasources.mysql.binlog.dump.event_packets import PacketReader
from datasources.mysql.binlog.dump.silence import Silence
from datasources.mysql.binlog.events import single_events as formats
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, MAX_EVENT_BYTES, EventBlock
from datasources.mysql.binlog.events.checksums import checked_pieces
from datasources.mysql.binlog.events.event_types import (
    BOUNDARIES,
    COMPRESSED_ROWS,
    HEARTBEATS,
    SKIPPABLE,
    UNREADABLE,
    EventType,
)
from datasources.mysql.binlog.events.ordinary import is_ordinary
from datasources.mysql.binlog.events.payload import payload_blocks, unfolded, unpack_event
from datasources.mysql.binlog.positions.faults import decoding, naming
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.positions.positions import FIRST_POSITION, BinlogPosition
from datasources.mysql.binlog.reading.progress import Progress
from datasources.mysql.binlog.reading.run_reader import RunReader
from datasources.mysql.binlog.reading.savepoints import Savepoints
from datasources.mysql.binlog.rows.changes import CaptureRule, Change, Idle, StopRule, XaChange, XaOutcome
from datasources.mysql.binlog.rows.held_events import HeldEvents
from datasources.mysql.binlog.rows.row_batch import RowBatch
from datasources.mysql.binlog.statements.statements import Statement, StatementKind, parse_query
from datasources.mysql.connection.connection_errors import ConnectionLost

__all__ = ["ChangeReader"]

_IS_BOUNDARY: Final = np.isin(np.arange(256), list(BOUNDARIES))
_IS_HEARTBEAT: Final = np.isin(np.arange(256), list(HEARTBEATS))
_SECOND_US: Final = 1_000_000
_SILENT: Final = frozenset({StatementKind.BEGIN, StatementKind.XA_END, StatementKind.OTHER, StatementKind.SAVEPOINT})
_OF_ANY_TABLE: Final = frozenset({StatementKind.DATABASE, StatementKind.ROWS})
_DECISIONS: Final = {StatementKind.XA_COMMIT: XaOutcome.COMMITTED, StatementKind.XA_ROLLBACK: XaOutcome.ROLLED_BACK}


class ChangeReader:
    """The changes behind one position.

    Args:
        packets: a dump that was opened there.
        start: the position, or the GTID set of the dump; then the file is known from the dump's first event.
        capture: which tables are read.
        stop: where to end; without one, only the server ends it.
        released: where XA transactions begin whose rows are to be delivered, because they were committed.
        skip: where transactions begin that are passed over, whatever is in them; their rows count nowhere.
        decodes: whether rows are delivered; else they are counted only, which is much faster, and reading ends at the
            same place.
        verify_checksums: whether events with a checksum are checked.
        max_event_bytes: the largest event that is taken out of a compressed one.
        folds_names: whether the server keeps names of tables in lower case, however statements write them.
        is_endless: whether the dump waits at the log's end, so that the server ends it only when it shuts down.
    """

    def __init__(  # noqa: PLR0913 - what a range is
        self,
        packets: PacketReader,
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
        self._packets = packets
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
        self._silence = Silence(begin, None if stop is None else stop.to)
        self._checksum: int | None = None
        self._may_begin = False
        self._format_time_us = 0

    @property
    def position(self) -> BinlogPosition:
        """The last place between two transactions up to which everything was delivered."""
        return self._progress.boundary

    @property
    def gtid(self) -> str | None:
        """The GTID of the transaction that was read last."""
        return self._runs.log.gtid

    @property
    def commit_us(self) -> int:
        """When the transaction that was read last was committed, µs since the epoch; 0 where it does not say."""
        return self._runs.log.commit_us

    @property
    def next_commit_us(self) -> int | None:
        """When the transaction was committed before which the stop rule's time or set ended reading, µs."""
        return self._runs.next_commit_us

    @property
    def format_time_us(self) -> int:
        """When the file was begun that was entered last, µs since the epoch (whole seconds); 0 before the first."""
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
        """Where the transaction begins that was read last."""
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

    def decided(self, held: HeldEvents) -> Iterator[RowBatch]:
        """Yield the rows of an XA transaction that was held as a whole, and is committed."""
        return self._runs.decided(held)

    def passed_at(self, pos: int) -> int:
        """Return the bytes of the binlog between the start and a position of the file that is being read."""
        return self._progress.passed_at(pos)

    def close(self) -> None:
        """Close the dump's connection."""
        self._packets.close()

    def __iter__(self) -> Iterator[Change]:
        """Yield changes until the stop rule holds or the server ends the dump.

        Raises:
            RecordError: an event or a value cannot be decoded.
            SchemaError: the binlog does not describe a captured table well enough.
            OffsetError: the start is no place between two transactions.
            SourceUnavailable: the connection broke.
            DataLossError: the server lost or removed what is to be read.
        """
        for block in self._packets.blocks():
            with decoding():
                yield from self._block(block)
            if self.is_done:
                return
        if self._is_endless:
            raise ConnectionLost(
                f"the server ended the dump of its binlog at {self._progress.here}, before all was read that was asked "
                f"for: it is shutting down. The query can be restarted; it goes on where it stopped."
            )
        self._progress.close()  # the end of a log is a place between two transactions

    def _block(self, raw: EventBlock) -> Iterator[Change]:
        at = 0
        edges = [*np.flatnonzero(raw.types == EventType.FORMAT_DESCRIPTION).tolist(), len(raw)]
        while at < len(raw) and not self.is_done:
            if self._checksum is None or raw.types[at] == EventType.FORMAT_DESCRIPTION:
                self._preamble(raw.take(at, at + 1))
                at += 1
                continue
            end = next(index for index in edges if index >= at)
            yield from self._part(raw.take(at, end))
            at = end

    def _preamble(self, event: EventBlock) -> None:
        """The events before the first format, which says whether events end with a checksum; then every format."""
        kind = int(event.types[0])
        content = event.data[event.starts[0] : event.ends[0]].tobytes()
        if kind == EventType.ROTATE:
            self._progress.rotate(formats.parse_rotate(content, HEADER_BYTES))
        elif kind == EventType.FORMAT_DESCRIPTION:
            self._checksum = formats.checksum_bytes(content)
            self._runs.is_mariadb = formats.is_mariadbs(content)
            self._format_time_us = int(event.times_s[0]) * _SECOND_US
            self._runs.forget_tables()
            self._progress.pass_event(event)
            self._progress.close()
        elif kind not in HEARTBEATS:
            raise OffsetError(f"the server's binlog begins with an event of type {kind}, without saying its format.")

    def _part(self, events: EventBlock) -> Iterator[Change]:
        log, progress = self._runs.log, self._progress
        is_checked = bool(self._checksum) and self._verifies
        pieces = (
            checked_pieces(events, lambda: progress.here, lambda: log.begin, self._skip) if is_checked else [events]
        )
        for piece in pieces:
            block = piece.without_checksums(self._checksum or 0)
            self._check_begin(block)
            for part in unfolded(block, max_event_bytes=self._max_event_bytes):
                yield from self._mixed(part)
                if self.is_done:
                    return
        if len(events) and _IS_HEARTBEAT[events.types[-1]]:
            self._silence.heard(self.position)
            yield Idle(position=self.position)

    def _check_begin(self, block: EventBlock) -> None:
        """Refuse a start inside a transaction: the server serves every place between two events."""
        for index in range(len(block) if not self._may_begin else 0):
            if _IS_BOUNDARY[block.types[index]]:
                self._may_begin = not _IS_HEARTBEAT[block.types[index]]
            else:
                raise OffsetError(
                    f"the binlog at {self._progress.here} continues inside a transaction (with an event of type "
                    f"{int(block.types[index])}): the position belongs to another server or was edited, and going on "
                    f"would lose half a transaction. Start with a new snapshot."
                )
            if self._may_begin:
                return

    def _mixed(self, block: EventBlock) -> Iterator[Change]:
        """Runs of ordinary events, and single special ones between them."""
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
            with decoding():
                yield from self._handled(kind, event)
        except (RecordError, SchemaError) as error:
            if not self._runs.log.is_open(self.position):
                raise
            raise naming(error, self._runs.log.begin) from error

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
                f"at {self._progress.here} stands an event of type {kind}, which is not known here and may not be "
                f"passed over; report the server's version."
            )
        else:
            self._progress.pass_event(event)

    def _rotate(self, event: EventBlock) -> Iterator[Change]:
        self._progress.pass_event(event)
        body = event.body(0)
        self._progress.rotate(BinlogPosition(body[8:].decode(), int.from_bytes(body[:8], "little")))
        yield from ()

    def _tagged(self, event: EventBlock) -> Iterator[Change]:
        gtid, here = formats.parse_tagged_gtid(event.body(0)), self._progress.here
        found = self._runs.log.look_at_one(gtid.source, gtid.number, gtid.commit_us, here)
        if self._runs.kept_out(found, event.times_s) is not None:
            self._progress.stop_at(here.pos)
            return
        self._runs.follows_gtid = True
        self._runs.log.note(found, here.file)
        self._progress.pass_event(event)
        yield from ()

    def _mariadb_xa(self, event: EventBlock) -> Iterator[Change]:
        """A GTID that says that its transaction will be prepared: MariaDB writes no XA START behind it."""
        yield from self._runs.read(event)
        self._hold()

    def _payload(self, event: EventBlock) -> Iterator[Change]:
        start, end = int(event.starts[0]) + HEADER_BYTES, int(event.ends[0])
        begins, ends = self._progress.places(event)
        with self._runs.inside(int(begins[0]), int(ends[0])):
            blocks = payload_blocks(event.data.data[start:end], max_event_bytes=self._max_event_bytes)
            for block in blocks if not self._runs.is_skipped else ():
                yield from self._mixed(block)
        self._progress.pass_event(event)
        self._progress.close()

    def _compressed(self, event: EventBlock) -> Iterator[Change]:
        begins, ends = self._progress.places(event)
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
        place = self._progress.here
        statement = parse_query(body, folds_names=self._folds_names)
        self._progress.pass_event(event)
        if statement.kind is StatementKind.XA_START:
            self._hold()
        elif statement.kind in _DECISIONS:
            xid = statement.text.split(None, 2)[2]
            self._progress.close()
            commit_us = self._runs.log.commit_us or int(event.times_s[0]) * _SECOND_US
            outcome = XaOutcome.ROLLED_BACK if self._runs.is_skipped else _DECISIONS[statement.kind]
            yield XaChange(outcome=outcome, xid=xid, position=place, commit_us=commit_us)
        elif statement.kind is StatementKind.END:
            self._progress.close()
        else:
            if not self._runs.is_skipped:
                self._savepoints.pass_statement(statement, self._runs, self._progress.changed_rows)
                yield from self._named(statement, place)
            if self._runs.follows_gtid:
                self._progress.close()
        self._runs.follows_gtid = False

    def _named(self, statement: Statement, place: BinlogPosition) -> Iterator[Change]:
        """Statements that may concern a captured table: handed on."""
        if statement.kind in _SILENT or statement.kind is StatementKind.ROLLBACK_TO:
            return
        is_of_any = statement.kind in _OF_ANY_TABLE or not statement.tables
        if is_of_any or any(self._capture(*name) is not None for name in statement.tables):
            yield replace(statement, position=place, begin=self._runs.log.begin)

    def _xa_prepare(self, event: EventBlock) -> Iterator[Change]:
        prepared = formats.parse_xa_prepare(event.body(0))
        begin = self._runs.log.begin
        held, self._runs.held = self._runs.held, None
        self._progress.pass_event(event)
        self._progress.close()
        if begin not in self._released:
            yield XaChange(
                outcome=XaOutcome.ONE_PHASE if prepared.is_one_phase else XaOutcome.PREPARED,
                xid=prepared.xid,
                position=begin,
                commit_us=self._runs.log.commit_us,
                held=held if held is not None and held.is_whole else None,
                tables=frozenset(() if held is None else held.tables),
            )

    def _hold(self) -> None:
        if self._runs.log.begin not in self._released:
            self._runs.hold()

    _handlers: Final[dict[int, Callable[[ChangeReader, EventBlock], Iterator[Change]]]] = {
        EventType.ROTATE: _rotate,
        EventType.GTID_TAGGED: _tagged,
        EventType.MARIADB_GTID: _mariadb_xa,
        EventType.TRANSACTION_PAYLOAD: _payload,
        EventType.PARTIAL_UPDATE_ROWS: _partial,
        EventType.QUERY: _query,
        EventType.XA_PREPARE: _xa_prepare,
    }
