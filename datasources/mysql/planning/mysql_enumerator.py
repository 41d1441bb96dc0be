"""The driver's side: what each batch reads from tables and from the binlog.

Theory of operation. There are two kinds of splits: the binlog, and snapshot readers, which read chunks of tables in
parallel during a snapshot scan. A batch advances the binlog from the end of the last batch to the current end of the
log, or as far as one batch may go; during a snapshot scan that end is the snapshot position of the batch's chunks. So
after every batch the changelog is the covered part of the tables as of that position, and only later binlog is needed.

The state in memory may be ahead of the last offset in two ways, which the next offset persists: irrelevant ranges of
the binlog were skipped, or another server answers now.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from datasources.errors import DataLossError, SourceUnavailable
from datasources.mysql.config.mysql_options import StartupMode
from datasources.mysql.connection.connection import OtherServer
from datasources.mysql.planning.batch_end import BatchEnds
from datasources.mysql.planning.chunk_plan import ChunkPlanner
from datasources.mysql.planning.irrelevant_ranges import find_irrelevant_range
from datasources.mysql.planning.log_backlog import LogBacklog
from datasources.mysql.planning.snapshot_progress import SnapshotProgress
from datasources.mysql.reader.mysql_reader import MySqlReader
from datasources.mysql.scan.scan_settings import BINLOG, SNAPSHOT_READER, MySqlScanSettings
from datasources.mysql.server.log_files import LogFiles
from datasources.mysql.server.reconciled_state import has_read, merged_gtids, reconciled
from datasources.mysql.server.server_switch import batch_at_other_server
from datasources.mysql.server.server_view import LogEnd, ServerView
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_report import RangeReport
from datasources.source.api.connector_state import (
    PlannedBatch,
    RangeInfo,
    ReconciledState,
    State,
)
from datasources.source.api.split import ENDLESS, SplitBounds, SplitId, SplitProgress
from watermark import Clock, SystemClock

_NS_PER_MS: Final = 1_000_000
_REFRESH_NS: Final = 50 * _NS_PER_MS
_SKIP_NS: Final = 200 * _NS_PER_MS
_MIN_ROWS: Final = 2_000_000  # of a snapshot batch: a few seconds, so that planning and committing cost little
_SWITCHES: Final = 5
_CHUNKS_PER_READER: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlPlan:
    """The options that planning uses.

    Attributes:
        mode: where a new query starts.
        chunk_size: rows of a chunk.
        snapshot_readers: how many readers read tables in parallel.
        max_bytes: after how many bytes of the binlog a batch ends.
        heartbeat_ms: how often a position without changes is persisted.
    """

    mode: StartupMode
    chunk_size: int
    snapshot_readers: int
    max_bytes: int
    heartbeat_ms: int


class MySqlEnumerator:
    """Plans a MySQL source (SplitEnumerator, StatefulEnumerator).

    Args:
        settings: of the scan.
        plan: the options.
        start: returns the state of a new query, whose readers get the given name; checks the server's requirements.
        check: returns the state from which the query resumes; raises if it cannot.
        guarantee: the watermark of a commit time, µs; None = commit times alone do not define watermarks.
        clock: for the intervals.
    """

    def __init__(  # noqa: PLR0913 - its collaborators
        self,
        settings: MySqlScanSettings,
        plan: MySqlPlan,
        *,
        view: ServerView,
        start: Callable[[ServerView, str], MySqlState],
        check: Callable[[ServerView, MySqlState], MySqlState],
        guarantee: Callable[[int], int | None] | None,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings
        self._plan = plan
        self._view = view
        self._start = start
        self._check = check
        self._guarantee = guarantee
        self._clock = clock or SystemClock()
        self._files = LogFiles(view.query)
        self._chunks = ChunkPlanner(view.connect, settings.captured, chunk_size=plan.chunk_size)
        self._backlog = LogBacklog(view.query, self._clock)
        self._batch_ends = BatchEnds(settings, self._backlog.add)
        self._state: MySqlState | None = None
        self._end: LogEnd | None = None
        self._end_position = 0
        self._idle_clock_us: int | None = None
        self._local: tuple[tuple[Any, ...], State] | None = None
        self._refreshed_ns = 0
        self._skipped_ns = 0
        self._written_ns = self._clock.monotonic_ns()
        self._is_outstanding = False
        self._progress = SnapshotProgress(view.connect, settings.captured, self._clock, chunk_size=plan.chunk_size)

    # -- a new query --

    def start_positions(self) -> Mapping[SplitId, int]:
        """Start at 0 in every split: positions count from the start of the query."""
        self._begin()
        readers = dict.fromkeys(_snapshot_splits(self._plan.snapshot_readers), 0)
        return readers if self._plan.mode is StartupMode.SNAPSHOT else {BINLOG: 0, **readers}

    def limits(self) -> Mapping[SplitId, int] | None:
        """Snapshot readers have nothing to read if there is no table."""
        if self._begin().snapshot is not None:
            return None
        return dict.fromkeys(_snapshot_splits(self._plan.snapshot_readers), 0)

    def initial_state(self) -> State:
        """Return the state of a new query."""
        return self._begin().to_json()

    def late_start_position(self, split: SplitId) -> int:
        """No split appears later."""
        raise AssertionError(split)

    def may_lose_records(self, split: SplitId) -> bool:  # noqa: ARG002 - only whole files are purged
        """Never: the server purges whole files of the binlog, the oldest first."""
        return False

    # -- a running one --

    def resume(self, state: State) -> None:
        """Check that the binlog can be read from the beginning of a state's batch."""
        self._state = self._check(self._view, MySqlState.from_json(self.localize(state)))
        self._progress.resume(self._state.snapshot)

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """Return the end of the binlog, in bytes since the query began; snapshot readers have no end of their own."""
        state = self._refresh_end()
        splits: dict[SplitId, SplitBounds] = {}
        if self._plan.mode is not StartupMode.SNAPSHOT:
            splits[BINLOG] = SplitBounds(start_inclusive=0, end_exclusive=max(self._end_position, state.at))
        end = 0 if state.snapshot is None else ENDLESS
        readers = dict.fromkeys(_snapshot_splits(state.reader_count), SplitBounds(start_inclusive=0, end_exclusive=end))
        return {**splits, **readers}

    def localize(self, state: State) -> State:
        """Return the state of a batch for the server that answers now, after a failover another than at planning."""
        for _ in range(_SWITCHES):
            try:
                return self._localized(state)
            except OtherServer:  # another failover happened meanwhile
                self._connect_anew()
        return self._localized(state)

    def _localized(self, state: State) -> State:
        batch = MySqlState.from_json(state)
        server, at = self._view.server(), (batch.server, batch.at, batch.to_gtid)
        if server == batch.server:
            return state
        if self._local is None or self._local[0] != (server, *at):
            now = self._check(self._view, batch)
            moved = batch_at_other_server(self._settings, batch, now, self._view.end().position)
            self._local = ((server, *at), moved.to_json())
        return self._local[1]

    def reconcile(self, state: State, ranges: Mapping[SplitId, RangeInfo]) -> ReconciledState:
        """Return the state after a batch, for the server that answers now (`localize`)."""
        batch = MySqlState.from_json(state)
        found = ranges.get(BINLOG)
        if found is not None:
            if found.note is None:
                self._require_same_server(state, found)
                ranges = {**ranges, BINLOG: self._read_again(batch, found)}
            elif RangeReport.from_text(found.note).server != batch.server:
                batch = self._at_server_of_tasks(state)
        self._progress.add(batch, ranges)
        self._state = reconciled(batch, ranges)
        if self._is_outstanding:
            self._is_outstanding = False
            if self._is_of_end(self._state):
                self._measure(self._state)
        finished = (
            frozenset() if self._state.snapshot is not None else frozenset(_snapshot_splits(self._state.reader_count))
        )
        return ReconciledState(state=self._state.to_json(), finished=finished)

    def plan(self, state: State, room: Mapping[SplitId, int], budget_rows: int | None) -> PlannedBatch:
        """Decide the next batch."""
        current = self._state or MySqlState.from_json(state)
        current = self._with_reread(self._with_again(current))
        batch, shares = current, dict[SplitId, int]()
        if not self._is_of_end(current):
            self._connect_anew()
        elif current.snapshot is not None and not current.by_gtid:
            batch, shares = self._snapshot_batch(current, budget_rows)
            current = self._state or current
        if current.snapshot is None or current.by_gtid:
            unread = max(0, self._end_position - current.at)
            batch, shares = self._change_batch(current, min(room.get(BINLOG, 0), unread), budget_rows)
        if shares:
            self._is_outstanding = True
            return PlannedBatch(shares=shares, state=self._written(batch))
        is_due = self._is_due(MySqlState.from_json(state), current)
        return PlannedBatch(
            shares={}, state=self._written(current.without_data()) if is_due else current.to_json(), is_due=is_due
        )

    def without_data(self, state: State) -> State:
        """Return the state of a batch that reads nothing."""
        return self._written((self._state or MySqlState.from_json(state)).without_data())

    def guaranteed_watermark_ms(self, state: State, split: SplitProgress) -> int | None:
        """Return the watermark of the server's clock: later commits are not older."""
        at = state["at"]
        if self._guarantee is None or split.split != BINLOG or self._idle_clock_us is None:
            return None
        if split.end != at or self._end_position != at or split.rows or self._view.version.is_mariadb:
            return None
        return self._guarantee(self._idle_clock_us)

    def is_aligned(self, state: State) -> bool:
        """Return whether no snapshot is under way."""
        return state["sweep"] is None

    def is_snapshot_over(self, state: State) -> bool:
        """Return whether every chunk was read in completed batches, or the remaining tables were dropped."""
        current = self._state or MySqlState.from_json(state)
        return current.snapshot is None and not current.reread

    def progress(self) -> Mapping[str, Any]:
        """Return the progress of the snapshot, and how far reading is from where the server purges its log."""
        return {**self._progress.to_json(self._state), **self._backlog.to_json()}

    def close(self) -> None:
        """Close the connection and the threads."""
        self._chunks.close()
        self._batch_ends.close()
        self._view.close()

    # -- internals --

    def _begin(self) -> MySqlState:
        if self._state is None:
            state = self._start(self._view, secrets.token_hex(16))
            if self._plan.mode in (StartupMode.INITIAL, StartupMode.SNAPSHOT):
                state = replace(state, snapshot=self._chunks.first())
            self._state = replace(
                state, again=self._settings.again[0], after=state.snapshot, reader_count=self._plan.snapshot_readers
            )
            self._progress.resume(self._state.snapshot)
        return self._state

    def _refresh_end(self) -> MySqlState:
        """Refresh the end of the binlog, at an interval; skip what is irrelevant up to there."""
        state = self._begin()
        now = self._clock.monotonic_ns()
        if self._end is not None and now - self._refreshed_ns < _REFRESH_NS:
            return state
        self._refreshed_ns = now
        return self._measure(self._query_end(state))

    def _is_of_end(self, state: MySqlState) -> bool:
        """Whether the known end is one of the state's server."""
        return self._end is not None and self._end.server == state.server

    def _query_end(self, state: MySqlState) -> MySqlState:
        """Query a server's end, and return the state for that server."""
        for _ in range(_SWITCHES):
            known, self._end = self._end, self._view.end()
            if known is None or self._end.server != known.server:
                self._files = LogFiles(self._view.query)
                self._backlog.forget()
            if self._end.server != state.server:
                state = self._state = self._check(self._view, state)
            if self._end.server == state.server:
                return state
            self._view.close()
        raise SourceUnavailable(
            f"{_SWITCHES} times another server answered than a moment before: a query reads one server until it fails "
            f"over. Name one server in 'hostname', not the address of a load balancer."
        )

    def _measure(self, state: MySqlState) -> MySqlState:
        """Update the unread length after a state, and skip what is irrelevant unless that was just done."""
        assert self._end is not None
        if state.by_gtid:  # its length in bytes is not known
            is_read = has_read(state.gtid, self._end.gtid)
            self._end_position = state.at + (0 if is_read else self._plan.max_bytes)
            self._idle_clock_us = None
            self._backlog.forget()
            if is_read:
                self._backlog.measure(state.at, state.at, self._end.clock_us)
            return state
        if state.irrelevant_batches and state.snapshot is None and not self._is_being_read(state):
            now = self._clock.monotonic_ns()
            if now - self._skipped_ns < _SKIP_NS:
                self._end_position = state.at
                return state
            state = self._without_irrelevant(state)
            self._skipped_ns = now
        unread = self._unread(state)
        self._end_position = state.at + (0 if unread and self._awaits_commit(state) else unread)
        self._idle_clock_us = None if unread else self._end.clock_us
        self._backlog.measure(state.at, state.at + unread, self._end.clock_us)
        return state

    def _is_being_read(self, state: MySqlState) -> bool:
        """Whether a batch that is not reconciled begins at a state's position, planned here or before a restart."""
        return self._is_outstanding or state.has_data

    def _awaits_commit(self, state: MySqlState) -> bool:
        """Whether what is unread is in the log but not committed yet, so that no batch's GTID set has it."""
        assert self._end is not None
        assert state.position is not None
        if self._view.version.is_mariadb or state.position.file != self._end.position.file:
            return False
        return has_read(state.gtid, self._end.gtid)

    def _unread(self, state: MySqlState) -> int:
        assert self._end is not None
        assert state.position is not None
        if self._end.position < state.position:
            raise DataLossError(
                f"the binlog was read up to {state.position}, and the server's ends at {self._end.position}: it was "
                f"reset or the server was restored from a copy. Changes are lost: start with a new checkpoint."
            )
        return self._files.bytes_between(state.position, self._end.position)

    def _without_irrelevant(self, state: MySqlState) -> MySqlState:
        """Return the state after the next irrelevant range."""
        assert self._end is not None
        assert state.position is not None
        if self._unread(state) == 0:
            return state
        try:
            skipped = find_irrelevant_range(
                self._settings.at_server(state.server), state.reader, state.position, self._end.position
            )
        except OtherServer:
            self._connect_anew()
            return state
        if skipped is None:
            return state
        self._state = replace(state, position=skipped.position, gtid=merged_gtids(state.gtid, skipped.gtids))
        return self._state

    def _require_same_server(self, batch: State, found: RangeInfo) -> None:
        """Raise if alignment ended a task at another server: its position is one in that server's binlog."""
        if found.rows is not None and self._local is not None and self._local[1] == batch:
            raise SourceUnavailable(
                "another server answers now, and the alignment ended the last batch at the one before. Start the "
                "query again: it finds the end of that batch at this one."
            )

    def _at_server_of_tasks(self, state: State) -> MySqlState:
        """Return a batch for the server that answers new connections; the driver's may be to the previous one."""
        self._connect_anew()
        batch = MySqlState.from_json(self.localize(state))
        return batch if batch.gtid_until is not None else replace(batch, gtid_until=self._view.end().position)

    def _connect_anew(self) -> None:
        """Query the server that answers a new connection, in the next planning at the latest."""
        self._view.close()
        self._refreshed_ns = -_REFRESH_NS

    def _read_again(self, batch: MySqlState, found: RangeInfo) -> RangeInfo:
        """Read a range again that alignment ended early, for the report that its reader could not make."""
        ended = replace(batch, max_bytes=found.position - batch.at, max_rows=None)
        reader = MySqlReader(self._settings.for_batch(ended.to_json()), frozenset())
        try:
            for _ in reader.read(BINLOG, batch.at, found.position):
                pass
            return replace(found, note=reader.range_end(BINLOG).note)
        finally:
            reader.close()

    def _with_again(self, state: MySqlState) -> MySqlState:
        """Return the state with a scan of the tables to read again, once for each value of the option."""
        text, tables = self._settings.again
        if state.snapshot is not None or text == state.again:
            return state
        snapshot = self._chunks.first(tables) if tables else None
        self._state = replace(state, snapshot=snapshot, after=snapshot, again=text)
        return self._state

    def _with_reread(self, state: MySqlState) -> MySqlState:
        """Return the state with a scan of tables that changed without row events, after the current scan."""
        if state.snapshot is not None or not state.reread or state.by_gtid:
            return state
        snapshot = self._chunks.first(state.reread)  # they may all be dropped by now
        self._state = replace(state, snapshot=snapshot, after=snapshot, reread=())
        return self._state

    def _change_batch(
        self, state: MySqlState, room: int, budget_rows: int | None
    ) -> tuple[MySqlState, dict[SplitId, int]]:
        if room <= 0 or not self._is_of_end(state):
            return state, {}
        assert self._end is not None
        max_bytes = min(self._plan.max_bytes, room)
        try:
            batch = self._batch_ends.change_batch(state, self._end, max_bytes, unread=self._unread)
        except OtherServer:
            self._connect_anew()
            return state, {}
        return replace(batch, max_rows=budget_rows), {BINLOG: max_bytes}

    def _snapshot_batch(self, state: MySqlState, budget_rows: int | None) -> tuple[MySqlState, dict[SplitId, int]]:
        assert state.snapshot is not None
        assert self._end is not None
        assert state.position is not None
        splits = _snapshot_splits(state.reader_count)
        rows = budget_rows or max(_MIN_ROWS, _CHUNKS_PER_READER * len(splits) * self._plan.chunk_size)
        found = self._chunks.next(state.snapshot, rows)
        self._chunks.look_ahead(found.after, rows)
        if not found.count:  # the remaining tables were dropped
            self._state = replace(state, snapshot=None, after=None)
            return self._state, {}
        try:
            batch = self._at_snapshot_position(state)
        except OtherServer:
            self._connect_anew()
            return state, {}
        counts = [found.count // len(splits) + (number < found.count % len(splits)) for number in range(len(splits))]
        batch = replace(batch, tables=found.tables, chunks_per_reader=tuple(counts), after=found.after)
        shares = {split: count for split, count in zip(splits, counts, strict=True) if count}
        assert batch.to is not None or self._plan.mode is StartupMode.SNAPSHOT
        if batch.to is not None and batch.to != state.position:
            shares[BINLOG] = self._files.bytes_between(state.position, batch.to)
        return batch, shares

    def _at_snapshot_position(self, state: MySqlState) -> MySqlState:
        """Return the state of a batch whose end, the snapshot position, is fixed."""
        assert self._end is not None
        assert state.position is not None
        if self._plan.mode is StartupMode.SNAPSHOT:
            return state  # the whole snapshot has one position
        return self._batch_ends.snapshot_batch(state, self._end, self._plan.max_bytes)

    def _is_due(self, written: MySqlState, current: MySqlState) -> bool:
        is_old = self._clock.monotonic_ns() - self._written_ns >= self._plan.heartbeat_ms * _NS_PER_MS
        return is_old and (written.position, written.gtid) != (current.position, current.gtid)

    def _written(self, state: MySqlState) -> State:
        self._written_ns = self._clock.monotonic_ns()
        return state.to_json()


def _snapshot_splits(count: int) -> list[SplitId]:
    return [SplitId(f"{SNAPSHOT_READER}{number}") for number in range(count)]
