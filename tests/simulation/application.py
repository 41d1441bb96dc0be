"""One application: the real registry, reached through JSON, and what the schedule does to it.

A question to the coordinator may take time, so that a planning ends later than it began: up to `slowness_ms` each.

Beside the registry it keeps, naively, who may be known to whom: a source that said something is a member of the group
until its lease ends, its query is terminated or the coordinator forgets everything.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from datasources.source.coordination.registry import SourceRegistry
from datasources.source.watermarks.source_status import SourceStatus
from watermark import ManualClock

if TYPE_CHECKING:
    from tests.simulation.source import Process

START_MS = 10_000_000
LEASE_NS = 60_000_000_000
_RENEWAL_MS = 30_000
_NS_PER_MS = 1_000_000


@dataclass(slots=True, kw_only=True)
class Member:
    """What a source said at its last planning that reached the coordinator.

    Attributes:
        floor_ms: F over its own splits once its planned batch is read, by the naive model.
        reported: the status itself.
        log_ends: its splits that were not idle, and how far each was known.
    """

    process: Process
    planned_minimum_ms: int | None
    reported: SourceStatus
    log_ends: dict[str, int]
    until_ns: int


@dataclass
class Application:
    """The driver's process. `faults` collects what happened, `trace` is a list while a failure is being explained."""

    random: random.Random
    trace: list[str] | None = None
    slowness_ms: int = 0
    clock: ManualClock = field(default_factory=lambda: ManualClock(START_MS * 1_000))
    is_reachable: bool = True
    faults: set[str] = field(default_factory=set)
    members: dict[str, Member] = field(default_factory=dict)
    delivered: dict[tuple[str, int], int] = field(default_factory=dict)
    late_post: list[dict] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    _numbers: int = 0

    def __post_init__(self) -> None:
        self.registry = SourceRegistry(self.clock)
        self.known_queries: set[str] = set()
        self._plans: dict[str, dict[str, int]] = {}
        self._pace = random.Random(self.slowness_ms)

    def note(self, text: str) -> None:
        if self.trace is not None:
            self.trace.append(text)

    def new_id(self, kind: str) -> str:
        return f"{kind}{self.new_number()}"

    def new_number(self) -> int:
        self._numbers += 1
        return self._numbers

    # -- time --

    def advance(self, duration_ms: int) -> None:
        """Let time pass; living sources renew their leases on the way."""
        while duration_ms > 0:
            part = min(duration_ms, _RENEWAL_MS)
            self.clock.advance_us(part * 1_000)
            duration_ms -= part
            for process in self.processes:
                if not process.hangs:
                    process.renew()

    def take_time(self) -> None:
        """Let the time of one question pass."""
        if self.slowness_ms:
            self.faults.add("time passes while a source plans")
            self.clock.advance_us(self._pace.randint(0, self.slowness_ms * 1_000))

    # -- the coordinator --

    def ask(self, message: dict) -> dict | None:
        if not self.is_reachable:
            self.faults.add("coordinator unreachable")
            return None
        answer = self.registry.answer(json.loads(json.dumps(message)))
        return json.loads(json.dumps(answer))

    def forget_everything(self) -> None:
        """The coordinator starts anew with empty memory."""
        self.registry = SourceRegistry(self.clock)
        for run, builds in self._plans.items():
            self.registry.expect_builds(run, builds)
        self.members.clear()
        self.delivered.clear()
        self.known_queries.clear()

    def expect_builds(self, run: str, builds: dict[str, int]) -> None:
        """The listener saw a plan; it reports to a restarted coordinator too."""
        self._plans[run] = builds
        self.registry.expect_builds(run, builds)

    def deliver(self, message: dict) -> None:
        """Hand a task's report to the coordinator."""
        answer = self.ask(message)
        if answer is None:
            return
        assert not answer["conflict"], answer["conflict"]
        self.known_queries.add(message["source"])
        for report in message["reports"]:
            if report["stamp_ms"] is not None:
                key = (message["source"], report["sequence"])
                self.delivered[key] = max(self.delivered.get(key, report["stamp_ms"]), report["stamp_ms"])

    def deliver_late_post(self) -> None:
        for message in self.late_post:
            self.deliver(message)
        self.late_post.clear()

    # -- who is known --

    def living(self, process: Process) -> list[Member]:
        """The other members that the coordinator may know at this moment."""
        now = self.clock.monotonic_ns()
        others = [m for m in self.members.values() if m.process is not process]
        return [m for m in others if m.until_ns > now or self.is_same_run(process, m.process)]

    def is_same_run(self, one: Process, other: Process) -> bool:
        return self.is_same_query(one, other) and one.run == other.run

    def is_same_query(self, one: Process, other: Process) -> bool:
        known = one.id in self.known_queries and other.id in self.known_queries
        return known and one.source.query is other.source.query

    def keep_alive(self, process: Process) -> None:
        member = self.members.get(process.id)
        if member is not None:  # else it is about to be one
            member.until_ns = self.clock.monotonic_ns() + LEASE_NS

    def forget_run(self, run: str) -> None:
        """A query run ended: the sources that its tasks reported are no members any more."""
        for source_id in [s for s, m in self.members.items() if m.process.run == run and s in self.known_queries]:
            del self.members[source_id]


def since_start(time_ms: int | None) -> int | None:
    """A time for people."""
    return None if time_ms is None else time_ms - START_MS
