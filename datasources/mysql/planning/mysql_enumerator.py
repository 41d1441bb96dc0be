"""The driver's side: what each batch reads of tables and of the binlog.

Theory of operation. There are two kinds of splits: the binlog, and lanes, which read chunks of tables side by side
while a sweep is under way. A batch moves the binlog from where the last one ended to where the log ends now, or as far
as a batch may go; if a sweep is under way, that end is the mark as of which the batch's chunks are read. So after every
batch the changelog is the covered part of the tables as of its mark, and the binlog is needed since the last one only.

The state in memory may be ahead of the last offset in two ways that the next offset writes down: parts of the binlog
without captured changes were passed (`quiet`), or another server answers now.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from datasources.errors import DataLossError, SourceUnavailable
from datasources.mysql.config.mysql_options import StartupMode
from datasources.mysql.connection.connection import OtherServer
from datasources.mysql.planning.batch_end import change_batch, marked
from datasources.mysql.planning.chunk_plan import ChunkPlanner
from datasources.mysql.planning.irrelevant_ranges import pass_quietly
from datasources.mysql.planning.snapshot_progress import SnapshotProgress
from datasources.mysql.reader.mysql_reader import MySqlReader
from datasources.mysql.scan.scan_settings import BINLOG, LANE, MySqlScanSettings
from datasources.mysql.server.log_files import LogFiles
from datasources.mysql.server.reconciled_state import has_read, merged_gtids, reconciled
from datasources.mysql.server.server_switch import batch_at_other_server
from datasources.mysql.server.server_view import LogEnd, ServerView
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_note import RangeNote
from datasources.source.api.connector_state import (
    PlannedBatch,
    RangeInfo,
    ReconciledState,
    State,
)
from datasources.source.api.split import ENDLESS, SplitBounds, SplitId, SplitProgress
from watermark import Clock, SystemClock

__all__ = ["MySqlEnumerator", "MySqlPlan"]

_NS_PER_MS: Final = 1_000_000
_ASK_NS: Final = 50 * _NS_PER_MS
_LOOK_NS: Final = 200 * _NS_PER_MS
_LEAST_ROWS: Final = (
    2_000_000  # of a batch of tables: a few seconds, beside which planning and committing it count little
)
_SWITCHES: Final = 5
_CHUNKS_PER_LANE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlPlan:
    """What planning needs of the options.

    Attributes:
        mode: from where a new query starts.
        chunk_size: rows of a chunk.
        lanes: how many readers read tables at once.
        max_bytes: after how many bytes of the binlog a batch ends.
        heartbeat_ms: how often a position without changes is written down.
    """

    mode: StartupMode
    chunk_size: int
    lanes: int
    max_bytes: int
    heartbeat_ms: int


class MySqlEnumerator:
    """Plans a MySQL source (SplitEnumerator, StatefulEnumerator).

    Args:
        reading: of the scan.
        plan: from the options.
        start: returns the state of a new query, whose readers get the given name; checks that the server will do.
        check: raises if the source cannot go on from a state.
        promise: the watermark of a commit time, µs; None = watermarks are not made from commit times alone.
        clock: for what is done at most so often.
    """

    def __init__(  # noqa: PLR0913 - its collaborators
        self,
        reading: MySqlScanSettings,
        plan: MySqlPlan,
        *,
        view: ServerView,
        start: Callable[[ServerView, str], MySqlState],
        check: Callable[[ServerView, MySqlState], MySqlState],
        promise: Callable[[int], int | None] | None,
        clock: Clock | None = None,
    ) -> None:
        self._reading = reading
        self._plan = plan
        self._view = view
        self._start = start
        self._check = check
        self._promise = promise
        self._clock = clock or SystemClock()
        self._files = LogFiles(view.query)
        self._chunks = ChunkPlanner(view.connect, reading.captured, chunk_size=plan.chunk_size)
        self._state: MySqlState | None = None
        self._end: LogEnd | None = None
        self._end_at = 0
        self._silent_us: int | None = None
        self._local: tuple[tuple[Any, ...], State] | None = None
        self._asked_ns = 0
        self._looked_ns = 0
        self._written_ns = self._clock.monotonic_ns()
        self._is_outstanding = False
        self._progress = SnapshotProgress(view.connect, reading.captured, self._clock, chunk_size=plan.chunk_size)

    # -- a new query --

    def start_positions(self) -> Mapping[SplitId, int]:
        """Begin at 0 in every split: positions count from the begin of the query."""
        self._begin()
        lanes = dict.fromkeys(_lanes(self._plan.lanes), 0)
        return lanes if self._plan.mode is StartupMode.SNAPSHOT else {BINLOG: 0, **lanes}

    def limits(self) -> Mapping[SplitId, int] | None:
        """Lanes have nothing to read where no table is."""
        if self._begin().sweep is not None:
            return None
        return dict.fromkeys(_lanes(self._plan.lanes), 0)

    def initial_state(self) -> State:
        """Return the state of a new query."""
        return self._begin().to_json()

    def late_start_position(self, split: SplitId) -> int:
        """There are no splits that appear."""
        raise AssertionError(split)

    def may_lose_records(self, split: SplitId) -> bool:  # noqa: ARG002 - a transaction stays or its file goes
        """Never: the binlog loses whole files, from its begin."""
        return False

    # -- a running one --

    def resume(self, state: State) -> None:
        """Check that the binlog can be read on from where the batch of a state begins."""
        self._state = self._check(self._view, MySqlState.from_json(self.localize(state)))
        self._progress.resume(self._state.sweep)

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """Return where the binlog ends, in bytes since the query began; lanes have no end of their own."""
        state = self._ask()
        splits: dict[SplitId, SplitBounds] = {}
        if self._plan.mode is not StartupMode.SNAPSHOT:
            splits[BINLOG] = SplitBounds(start_inclusive=0, end_exclusive=max(self._end_at, state.at))
        end = 0 if state.sweep is None else ENDLESS
        lanes = dict.fromkeys(_lanes(state.width), SplitBounds(start_inclusive=0, end_exclusive=end))
        return {**splits, **lanes}

    def localize(self, state: State) -> State:
        """Return the state of a batch as the server has it that answers now, if it is another one than at planning."""
        for _ in range(_SWITCHES):
            try:
                return self._localized(state)
            except OtherServer:  # one took the place of that one meanwhile
                self._connect_anew()
        return self._localized(state)

    def _localized(self, state: State) -> State:
        batch = MySqlState.from_json(state)
        server, at = self._view.server(), (batch.server, batch.at, batch.to_gtid)
        if server == batch.server:
            return state
        if self._local is None or self._local[0] != (server, *at):
            now = self._check(self._view, batch)
            moved = batch_at_other_server(self._reading, batch, now, self._view.end().position)
            self._local = ((server, *at), moved.to_json())
        return self._local[1]

    def reconcile(self, state: State, ranges: Mapping[SplitId, RangeInfo]) -> ReconciledState:
        """Return the state after a batch, which is one of the server that answers now (`localize`)."""
        batch = MySqlState.from_json(state)
        found = ranges.get(BINLOG)
        if found is not None:
            if found.note is None:
                self._require_here(state, found)
                ranges = {**ranges, BINLOG: self._found_again(batch, found)}
            elif RangeNote.from_text(found.note).server != batch.server:
                batch = self._at_server_of_tasks(state)
        self._progress.add(batch, ranges)
        self._state = reconciled(batch, ranges)
        if self._is_outstanding:
            self._is_outstanding = False
            if self._is_of_end(self._state):
                self._measure(self._state)
        finished = frozenset() if self._state.sweep is not None else frozenset(_lanes(self._state.width))
        return ReconciledState(state=self._state.to_json(), finished=finished)

    def plan(self, state: State, room: Mapping[SplitId, int], budget_rows: int | None) -> PlannedBatch:
        """Decide the next batch."""
        current = self._state or MySqlState.from_json(state)
        current = self._with_reread(self._with_again(current))
        batch, shares = current, dict[SplitId, int]()
        if not self._is_of_end(current):
            self._connect_anew()
        elif current.sweep is not None and not current.by_gtid:
            batch, shares = self._sweep_batch(current, budget_rows)
            current = self._state or current
        if current.sweep is None or current.by_gtid:
            unread = max(0, self._end_at - current.at)
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
        """Return the watermark that the server's clock allows: what it commits from now on is not older."""
        at = state["at"]
        if self._promise is None or split.split != BINLOG or self._silent_us is None:
            return None
        if split.end != at or self._end_at != at or split.rows or self._view.version.is_mariadb:
            return None
        return self._promise(self._silent_us)

    def is_aligned(self, state: State) -> bool:
        """Not while tables are read."""
        return state["sweep"] is None

    def is_snapshot_over(self, state: State) -> bool:
        """When every chunk was read in batches that are over, or the tables that were left are gone."""
        current = self._state or MySqlState.from_json(state)
        return current.sweep is None and not current.reread

    def progress(self) -> Mapping[str, Any]:
        """Return how far the sweep came."""
        return self._progress.to_json(self._state)

    def close(self) -> None:
        """Close the connection and the thread."""
        self._chunks.close()
        self._view.close()

    # -- inside --

    def _begin(self) -> MySqlState:
        if self._state is None:
            state = self._start(self._view, secrets.token_hex(16))
            if self._plan.mode in (StartupMode.INITIAL, StartupMode.SNAPSHOT):
                state = replace(state, sweep=self._chunks.first())
            self._state = replace(state, again=self._reading.again[0], after=state.sweep, width=self._plan.lanes)
            self._progress.resume(self._state.sweep)
        return self._state

    def _ask(self) -> MySqlState:
        """Ask where the binlog ends, not too often; pass what is quiet up to there."""
        state = self._begin()
        now = self._clock.monotonic_ns()
        if self._end is not None and now - self._asked_ns < _ASK_NS:
            return state
        self._asked_ns = now
        return self._measure(self._asked(state))

    def _is_of_end(self, state: MySqlState) -> bool:
        """Whether the end that is known is one of the state's server."""
        return self._end is not None and self._end.server == state.server

    def _asked(self, state: MySqlState) -> MySqlState:
        """Ask one server for its end, and return the state as that one has it."""
        for _ in range(_SWITCHES):
            known, self._end = self._end, self._view.end()
            if known is None or self._end.server != known.server:
                self._files = LogFiles(self._view.query)
            if self._end.server != state.server:
                state = self._state = self._check(self._view, state)
            if self._end.server == state.server:
                return state
            self._view.close()
        raise SourceUnavailable(
            f"{_SWITCHES} times another server answered than a moment before: a query reads one server, and another "
            f"one only when that one is gone. Name one server in 'hostname', not an address that shares out "
            f"connections."
        )

    def _measure(self, state: MySqlState) -> MySqlState:
        """Note how much is unread behind a state, and pass what is quiet of it unless that was done a moment ago."""
        assert self._end is not None
        if state.by_gtid:  # how much that is in bytes is not known
            is_read = has_read(state.gtid, self._end.gtid)
            self._end_at = state.at + (0 if is_read else self._plan.max_bytes)
            self._silent_us = None
            return state
        if state.quiet and state.sweep is None and not self._is_outstanding:
            now = self._clock.monotonic_ns()
            if now - self._looked_ns < _LOOK_NS:
                self._end_at = state.at
                return state
            state = self._passed(state)
            self._looked_ns = now
        unread = self._unread(state)
        self._end_at = state.at + (0 if unread and self._awaits_commit(state) else unread)
        self._silent_us = None if unread else self._end.clock_us
        return state

    def _awaits_commit(self, state: MySqlState) -> bool:
        """Whether what is unread is not committed yet: it is in the log, and not in the set of a batch."""
        assert self._end is not None
        assert state.place is not None
        if self._view.version.is_mariadb or state.place.file != self._end.position.file:
            return False
        return has_read(state.gtid, self._end.gtid)

    def _unread(self, state: MySqlState) -> int:
        assert self._end is not None
        assert state.place is not None
        if self._end.position < state.place:
            raise DataLossError(
                f"the binlog was read up to {state.place}, and the server's ends at {self._end.position}: it was "
                f"reset, or the server was restored from a copy. What came between is lost: start with a new "
                f"checkpoint."
            )
        return self._files.bytes_between(state.place, self._end.position)

    def _passed(self, state: MySqlState) -> MySqlState:
        """Return the state behind what holds nothing of the captured tables."""
        assert self._end is not None
        assert state.place is not None
        if self._unread(state) == 0:
            return state
        try:
            part = pass_quietly(self._reading.at_server(state.server), state.reader, state.place, self._end.position)
        except OtherServer:
            self._connect_anew()
            return state
        if part is None:
            return state
        self._state = replace(state, place=part.place, gtid=merged_gtids(state.gtid, part.gtids))
        return self._state

    def _require_here(self, batch: State, found: RangeInfo) -> None:
        """Raise if a task was ended by alignment at another server: its position is one in that one's binlog."""
        if found.rows is not None and self._local is not None and self._local[1] == batch:
            raise SourceUnavailable(
                "another server answers now, and the alignment ended the last batch at the one before. Start the "
                "query again: it finds the end of that batch at this one."
            )

    def _at_server_of_tasks(self, state: State) -> MySqlState:
        """Return a batch as the server has it that answers new connections: the driver's may be to the one before."""
        self._connect_anew()
        batch = MySqlState.from_json(self.localize(state))
        return batch if batch.gtid_until is not None else replace(batch, gtid_until=self._view.end().position)

    def _connect_anew(self) -> None:
        """Ask the server that answers a new connection, in the next planning at the latest."""
        self._view.close()
        self._asked_ns = -_ASK_NS

    def _found_again(self, batch: MySqlState, found: RangeInfo) -> RangeInfo:
        """Read a range that alignment ended early once more, for what its reader could not say."""
        ended = replace(batch, max_bytes=found.position - batch.at, max_rows=None)
        reader = MySqlReader(self._reading.for_batch(ended.to_json()), frozenset())
        try:
            for _ in reader.read(BINLOG, batch.at, found.position):
                pass
            return replace(found, note=reader.range_end(BINLOG).note)
        finally:
            reader.close()

    def _with_again(self, state: MySqlState) -> MySqlState:
        """Return the state with a sweep of the tables to read again, once for each value of the option."""
        text, tables = self._reading.again
        if state.sweep is not None or text == state.again:
            return state
        sweep = self._chunks.first(tables) if tables else None
        self._state = replace(state, sweep=sweep, after=sweep, again=text)
        return self._state

    def _with_reread(self, state: MySqlState) -> MySqlState:
        """Return the state with a sweep of tables that changed unseen, once no other one is under way."""
        if state.sweep is not None or not state.reread or state.by_gtid:
            return state
        sweep = self._chunks.first(state.reread)  # none of them may be left
        self._state = replace(state, sweep=sweep, after=sweep, reread=())
        return self._state

    def _change_batch(
        self, state: MySqlState, room: int, budget_rows: int | None
    ) -> tuple[MySqlState, dict[SplitId, int]]:
        if room <= 0 or not self._is_of_end(state):
            return state, {}
        assert self._end is not None
        max_bytes = min(self._plan.max_bytes, room)
        try:
            batch = change_batch(self._reading, state, self._end, max_bytes, unread=self._unread)
        except OtherServer:
            self._connect_anew()
            return state, {}
        return replace(batch, max_rows=budget_rows), {BINLOG: max_bytes}

    def _sweep_batch(self, state: MySqlState, budget_rows: int | None) -> tuple[MySqlState, dict[SplitId, int]]:
        assert state.sweep is not None
        assert self._end is not None
        assert state.place is not None
        lanes = _lanes(state.width)
        rows = budget_rows or max(_LEAST_ROWS, _CHUNKS_PER_LANE * len(lanes) * self._plan.chunk_size)
        found = self._chunks.next(state.sweep, rows)
        self._chunks.look_ahead(found.after, rows)
        if not found.count:  # the tables that were left are gone
            self._state = replace(state, sweep=None, after=None)
            return self._state, {}
        try:
            marked = self._marked(state)
        except OtherServer:
            self._connect_anew()
            return state, {}
        counts = [found.count // len(lanes) + (number < found.count % len(lanes)) for number in range(len(lanes))]
        batch = replace(marked, tables=found.tables, lanes=tuple(counts), after=found.after)
        shares = {lane: count for lane, count in zip(lanes, counts, strict=True) if count}
        assert batch.to is not None or self._plan.mode is StartupMode.SNAPSHOT
        if batch.to is not None and batch.to != state.place:
            shares[BINLOG] = self._files.bytes_between(state.place, batch.to)
        return batch, shares

    def _marked(self, state: MySqlState) -> MySqlState:
        """Return the state of a batch that ends at a place which is known now."""
        assert self._end is not None
        assert state.place is not None
        if self._plan.mode is StartupMode.SNAPSHOT:
            return state  # the whole snapshot is as of one mark
        return marked(self._reading, state, self._end, self._plan.max_bytes)

    def _is_due(self, written: MySqlState, current: MySqlState) -> bool:
        is_old = self._clock.monotonic_ns() - self._written_ns >= self._plan.heartbeat_ms * _NS_PER_MS
        return is_old and (written.place, written.gtid) != (current.place, current.gtid)

    def _written(self, state: MySqlState) -> State:
        self._written_ns = self._clock.monotonic_ns()
        return state.to_json()


def _lanes(count: int) -> list[SplitId]:
    return [SplitId(f"{LANE}{number}") for number in range(count)]
