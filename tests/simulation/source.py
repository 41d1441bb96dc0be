"""One source of a query: its checkpoint, which survives, and its process, which does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.abilities import LateRows
from datasources.source.checkpoint.offset import Offset
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.planning.planner import BatchPlanner
from datasources.source.reading.task import scan_watermark
from tests.simulation.application import LEASE_NS, Application, Member
from tests.simulation.naive import NOTHING, IdleTimes, last_known, reached_after, stop_position
from tests.simulation.options import SourceOptions
from tests.simulation.splits import Script, ScriptedLog
from watermark import SplitStatus

if TYPE_CHECKING:
    from tests.simulation.query import Query


_SIGNS_OF_LIFE = ("exchange", "renew", "hold")


@dataclass(slots=True, kw_only=True)
class Known:
    """Another source as a planning could know it, and whether both were known to be of one query."""

    member: Member
    same_query: bool


class Process:
    """A planner's process: a new id and empty memory."""

    def __init__(self, source: Source, *, is_available_now: bool) -> None:
        app = source.app
        self.source = source
        self.id = app.new_id("source")
        self.run = source.query.run
        self.hangs = False
        self.is_loaded = False
        self.report_store = CoordinatorLink(self, self.id, app.clock)
        self.rounds = 0
        self.newest: Member | None = None
        self.sure_ms: int | None = None
        self.reconciled: int | None = None
        self.idle_times = IdleTimes(source.options.idle_timeout_ms, app.clock)
        self._peers: list[Known] = []
        self._peers_at_ns = self._asked_at_ns = app.clock.monotonic_ns()
        self.planner = BatchPlanner(
            enumerator=source.log,
            report_store=self.report_store,
            scan=lambda wanted: scan_watermark(source.log, source.strategy, wanted),
            settings=source.settings,
            clock=app.clock,
            peers=self.report_store,
            lookahead=ReaderLookahead(source.log, source.strategy),
            load_gates=self.report_store,
        )
        self.limit: dict[str, int] | None = None
        self.limit_ms = app.clock.now_us() // 1_000
        if is_available_now:
            self.limit = {s.name: s.end for s in source.log.listed()}
            self.planner.limit_to_available_now()

    def ask(self, message: dict) -> dict | None:
        """What the planner's mailbox asks the coordinator."""
        app = self.source.app
        answer = app.ask(message)
        if answer is not None and message["ask"] in _SIGNS_OF_LIFE:
            app.keep_alive(self)
        is_answered = answer is not None and message["ask"] == "exchange"
        if message["ask"] == "exchange":
            self._peers = self.known_now()
            self._asked_at_ns = app.clock.monotonic_ns() if is_answered else self._asked_at_ns
        app.take_time()
        self._peers_at_ns = app.clock.monotonic_ns() if is_answered else self._peers_at_ns
        return answer

    @property
    def peers_until_ns(self) -> int:
        """How long those count that it met last, while the coordinator cannot be reached: from the answer on."""
        return self._peers_at_ns + LEASE_NS

    @property
    def lease_until_ns(self) -> int:
        """How long it counts for the others: the coordinator counts from when the question arrived."""
        return self._asked_at_ns + LEASE_NS

    def renew(self) -> None:
        """What its background thread does: it lives, and a coordinator that began anew learns of it."""
        if self.newest is None:
            return
        if self.source.app.is_reachable:
            self.source.app.members.setdefault(self.id, self.newest)
        self.report_store.renew(self.planner.status)
        if self.planner.gate_request is not None:
            self.report_store.renew_gate(self.planner.gate_request)

    def known_now(self) -> list[Known]:
        """The other sources that a planning at this moment can know."""
        app = self.source.app
        if app.is_reachable:
            return self._known()
        return self._peers if app.clock.monotonic_ns() <= self.peers_until_ns else []

    def known_before(self) -> list[Known]:
        return self._peers

    def still_known(self, known: list[Known]) -> list[Known]:
        """Those of them whose leases are not over."""
        app = self.source.app
        if app.is_reachable:
            living = [m.process for m in app.living(self)]
            return [k for k in known if k.member.process in living]
        return known if app.clock.monotonic_ns() <= self.peers_until_ns else []

    def _known(self) -> list[Known]:
        app = self.source.app
        return [Known(member=m, same_query=app.is_same_query(self, m.process)) for m in app.living(self)]


@dataclass(slots=True, kw_only=True)
class Planning:
    """One planning as the naive model sees it: at the moment when its source said what it holds.

    `stops` are the positions after the planned batch. `known_after` are those of the known sources whose leases were not
    over when it had planned: while it plans, it asks twice.
    """

    source: Source
    process: Process
    positions: dict[str, int]
    log_ends: dict[str, int]
    statuses: dict[str, SplitStatus]
    now_ms: int
    ceiling_ms: int | None
    known: list[Known]
    known_before: list[Known]
    known_after: list[Known] = field(default_factory=list)
    end: Offset | None = None
    stops: dict[str, int] = field(default_factory=dict)

    def group_minimum(self, positions: dict[str, int], log_ends: dict[str, int] | None = None) -> int | None:
        """F over the source's own splits that are not idle."""
        parts = [self.part(split, positions, log_ends) for split in (self.holding if log_ends is None else log_ends)]
        return min((part for part in parts if part is not None), default=None)

    def part(self, split: str, positions: dict[str, int], log_ends: dict[str, int] | None = None) -> int | None:
        if split not in positions:
            return None  # it was removed meanwhile
        script, start, end = self.source.script(split), self.positions.get(split, 0), (log_ends or self.log_ends)[split]
        stop = min(positions[split], end)
        reached = reached_after(script, start, stop, self._reached(split), self.ceiling_ms)
        return last_known(script, stop, end, reached, self.ceiling_ms)

    def _reached(self, split: str) -> int:
        """Its watermark where the batch begins, as far as it can be known: the record that it came from may be gone.

        If the report of a record was lost and the record vanished since, no later planning learns of its candidate. Law
        2 says between which values the watermark of the offset lies then. Where no batch is planned there is no such
        offset: with the report the split has its true watermark, without it possibly none and so no part in F, which is
        the larger F.
        """
        reached = self.source.reached.get(split, NOTHING)
        if not self.source.options.is_compacted:
            return reached
        for s in (self.end or self.source.offset).splits:
            if s.split == split:
                known_ms = NOTHING if s.watermark_ms is None else s.watermark_ms
                stop = s.start if self.end else self.positions[split]
                known_ms = reached_after(self.source.script(split), s.known_at, stop, known_ms, self.ceiling_ms)
                return known_ms if self.end or known_ms == NOTHING else reached
        return reached

    @property
    def holding(self) -> list[str]:
        return [split for split, status in self.statuses.items() if status is SplitStatus.ACTIVE]


class Source:
    """One source: options, log, checkpoint."""

    def __init__(self, query: Query, name: str, options: SourceOptions, log: ScriptedLog) -> None:
        self.app: Application = query.app
        self.query = query
        self.name = name
        self.options = options
        self.strategy = options.strategy()
        self.settings = options.settings(name)
        self.log = log
        self.emitted: list[int] = []
        self.dropped: list[int] = []
        self.highest_ms = NOTHING
        self.last_row_watermark_ms = 0
        self.ceilings: list[int] = []
        self.reached: dict[str, int] = {}
        self.opened: int | None = None
        self.load_ends = {script.name: script.end for script in log.listed()}
        self.process: Process | None = None
        self.offset = self._begin()
        self.positions = {s.split: s.start for s in self.offset.splits}

    def _begin(self) -> Offset:
        planner = Process(self, is_available_now=False).planner
        return Offset.from_json(json.loads(json.dumps(planner.initial().to_json())))

    def start_process(self, *, is_available_now: bool) -> None:
        self.process = Process(self, is_available_now=is_available_now)
        self.app.processes.append(self.process)
        self.positions = self.reconciled_positions()

    def stop_process(self) -> None:
        if self.process is not None:
            self.app.processes.remove(self.process)
            self.process = None

    def reconciled_positions(self) -> dict[str, int]:
        return {s.split: stop_position(self.log.scripts[s.split], s, self.offset) for s in self.offset.splits}

    def plan(self, budget_rows: int | None) -> Planning:
        """Let the real planner plan, and note what the naive model knows."""
        process = self.process
        assert process is not None
        if not process.rounds:
            process.idle_times.restore(self.offset.splits)
        process.rounds += 1
        self._take_row_watermarks(process)
        planning = self._observe(process)
        start = self.offset
        planned = process.planner.plan(start, budget_rows)
        planning.known_after = process.still_known(planning.known)
        planning.stops = dict(self.positions)
        if planned is not start:
            planning.end = planned
            planning.stops |= {s.split: stop_position(self.log.scripts[s.split], s, planned) for s in planned.splits}
        self._publish(process, planning)
        return planning

    def _take_row_watermarks(self, process: Process) -> None:
        """The stamps of a batch are sure if their reports arrived before its first planning."""
        if process.reconciled == self.offset.sequence:
            return
        process.reconciled = self.offset.sequence
        if self.app.is_reachable:
            process.sure_ms = self.app.delivered.get((process.id, self.offset.sequence), process.sure_ms)

    def _observe(self, process: Process) -> Planning:
        self._discover(process)
        statuses = {split: self._status(process, split) for split in self.positions}
        ahead, now_ms = self.options.max_ahead_ms, self.app.clock.now_us() // 1_000
        return Planning(
            source=self,
            process=process,
            positions=dict(self.positions),
            log_ends={split: self._readable_end(process, split) for split in self.positions},
            statuses=statuses,
            now_ms=now_ms,
            ceiling_ms=now_ms + ahead if ahead else None,
            known=process.known_now(),
            known_before=process.known_before(),
        )

    def _discover(self, process: Process) -> None:
        listed = {s.name: s for s in self.log.listed()}
        for split in [s for s in self.positions if s not in listed and process.limit is None]:
            process.idle_times.forget(split)
            if not self.has_ended(split):
                del self.positions[split]
        if not self.log.is_bounded:
            for name, script in listed.items():
                if process.limit is None or name in process.limit:
                    self.positions.setdefault(name, script.begin)

    def has_ended(self, split: str) -> bool:
        limit = self.log.scripts[split].limit
        return limit is not None and self.positions[split] >= limit

    def _status(self, process: Process, split: str) -> SplitStatus:
        script, position = self.log.scripts[split], self.positions[split]
        log_end = script.end if script.is_listed else position
        is_idle = process.idle_times.is_idle(split, position, log_end)
        if self.has_ended(split):
            return SplitStatus.FINISHED
        return SplitStatus.IDLE if is_idle else SplitStatus.ACTIVE

    def _readable_end(self, process: Process, split: str) -> int:
        script = self.log.scripts[split]
        if not script.is_listed:
            return self.positions[split]
        end = script.end if script.limit is None else min(script.end, script.limit)
        if process.limit is not None:
            end = min(end, process.limit.get(split, 0))
        return max(end, self.positions[split])

    def _publish(self, process: Process, planning: Planning) -> None:
        reported = process.planner.status
        if reported.round != process.rounds:
            return  # at rest
        process.newest = Member(
            process=process,
            planned_minimum_ms=None
            if reported.is_processing or self._is_gate_closed(planning)
            else planning.group_minimum(planning.stops),
            reported=reported,
            log_ends={split: planning.log_ends[split] for split in planning.holding},
            until_ns=process.lease_until_ns,
        )
        if self.app.is_reachable:
            self.app.members[process.id] = process.newest

    def _is_gate_closed(self, planning: Planning) -> bool:
        """A source that waits bounds nobody: the one that it waits for may be in its group."""
        gate = (planning.end or self.offset).gate
        return gate is not None and gate.opened is None

    def write(self, end: Offset) -> None:
        """The batch is in Spark's offset log: it will be read, whatever happens."""
        self.highest_ms = max(self.highest_ms, NOTHING if end.combined_ms is None else end.combined_ms)
        if end.gate is not None:
            self.opened = end.gate.opened
        if end.ceiling_ms is not None:
            self.ceilings.append(end.ceiling_ms)

    def commit(self, end: Offset, read: Mapping[str, tuple[list[tuple], int]]) -> None:
        """The batch is over: it counts. `read`: per split its rows and the watermark after the last one."""
        self.offset = end
        self.positions = self.reconciled_positions()
        for s in end.splits:
            before, script = self.reached.get(s.split, NOTHING), self.script(s.split)
            self.reached[s.split] = reached_after(script, s.start, self.positions[s.split], before, end.ceiling_ms)
        drops_late = self.options.late_rows is LateRows.DROP
        self.last_row_watermark_ms = max([self.last_row_watermark_ms, end.combined_ms or 0])
        for rows, last in [read[s.split] for s in end.splits if s.rows or s.known_at < s.start]:
            self.last_row_watermark_ms = max(
                [self.last_row_watermark_ms, last, *(row_watermark for _, row_watermark, _ in rows)]
            )
            for record_id, _, is_late in rows:
                (self.dropped if is_late and drops_late else self.emitted).append(record_id)
                if is_late:
                    self.app.faults.add(f"late row: {self.options.late_rows.value}")

    def script(self, split: str) -> Script:
        return self.log.scripts[split]
