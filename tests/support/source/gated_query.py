"""A query of several sources that wait for each other, without Spark: one registry, triggers, crashes, runs that end."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass, field

from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.abilities import Alignment, WatermarkParams
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.planning.planner import BatchPlanner, PlannerSettings
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_planning import plan_tasks
from datasources.source.watermarks.row_watermark import OutputSchema
from tests.support.source.memory_source import OUTPUT, SCHEMA, strategy
from watermark import ManualClock

WALL_US = 1_700_000_000_000_000


def probe(log, *until, **more):
    """A source that waits."""
    return GatedSource(log, gate=LoadGateSettings(until=until or ("rates",)), **more)


def build(log, name="rates", *, time_ms=None, idle_timeout_ms=None, **more):
    """A source that is waited for."""
    return GatedSource(log, load=LoadSettings(name=name, time_ms=time_ms, idle_timeout_ms=idle_timeout_ms), **more)


@dataclass
class GatedSource:
    """One source of the query: what it reads, what it is set to, and what it delivered, batch by batch."""

    log: object
    gate: LoadGateSettings | None = None
    load: LoadSettings | None = None
    has_watermark: bool = False
    allows_change: bool = False
    idle_timeout_ms: int = 0
    alignment: Alignment | None = None
    id: str = ""
    planner: BatchPlanner | None = None
    offset: Offset | None = None
    delivered: list[tuple[int, list[str]]] = field(default_factory=list)
    heartbeats: int = 0

    def __post_init__(self) -> None:
        self.strategy = None
        if self.has_watermark:
            self.strategy = strategy(idle_timeout_ms=self.idle_timeout_ms, alignment=self.alignment)

    @property
    def ids(self) -> list[str]:
        return [each for _, ids in self.delivered for each in ids]

    def first_batch(self) -> int | None:
        """The batch of the query in which its first row was."""
        return next((batch for batch, ids in self.delivered if ids), None)


class GatedQuery:
    """The query; its sources are planned in this order in every trigger."""

    _names = itertools.count()

    def __init__(self, *sources: GatedSource, registry=None, clock=None, query="q", has_load_gates=True) -> None:
        self.sources = sources
        self.clock = clock or ManualClock(WALL_US)
        self.registry = registry or SourceRegistry(self.clock)
        self.query = query
        self.has_load_gates = has_load_gates
        self.batches = 0
        self.is_cut_off = False
        self.loses_reports = False
        self.asked: list[str] = []
        self.pending: list[tuple[GatedSource, str]] = []
        self.start()

    def start(self, *, is_available_now: bool = False) -> None:
        """A new run: new processes with empty memory."""
        self.run = f"run-{next(self._names)}"
        self.registry.expect_builds(self.run, Counter(s.load.name for s in self.sources if s.load is not None))
        for source in self.sources:
            source.id = f"source-{next(self._names)}"
            source.planner = self._planner(source)
            source.offset = source.offset or _as_written(source.planner.initial())
            if is_available_now:
                source.planner.limit_to_available_now()

    def _planner(self, source: GatedSource) -> BatchPlanner:
        report_store = CoordinatorLink(self, source.id, self.clock)
        return BatchPlanner(
            enumerator=source.log,
            report_store=report_store,
            scan=lambda wanted: scan_watermark(source.log, source.strategy, wanted),
            settings=PlannerSettings(
                identity=Identity(),
                has_watermark=source.has_watermark,
                watermark=WatermarkParams(idle_timeout_ms=source.idle_timeout_ms, alignment=source.alignment),
                poll_interval_ms=0,
                gate=source.gate,
                load=source.load,
                continue_on_change=source.allows_change,
            ),
            clock=self.clock,
            peers=report_store,
            lookahead=None if source.strategy is None else ReaderLookahead(source.log, source.strategy),
            load_gates=report_store if self.has_load_gates else None,
        )

    def ask(self, message):
        """The line to the coordinator."""
        self.asked.append(message["ask"])
        return None if self.is_cut_off else self.registry.answer(json.loads(json.dumps(message)))

    # -- a trigger --

    def plan(self) -> bool:
        """Write the offsets of the next batch; False if no source has anything new."""
        ends = [(source, source.planner.plan(source.offset)) for source in self.sources]
        new = [(source, json.dumps(end.to_json())) for source, end in ends if end is not source.offset]
        self.pending = new
        return bool(new)

    def read(self) -> None:
        """Read the batch that is written, and commit it."""
        for source, text in self.pending:
            end = Offset.from_json(json.loads(text))
            source.delivered.append((self.batches, self._rows(source, end)))
        for source, text in self.pending:
            source.offset = Offset.from_json(json.loads(text))
        self.pending = []
        self.batches += 1

    def trigger(self) -> bool:
        """One micro-batch; False if there was none."""
        if not self.pending and not self.plan():
            return False
        self.read()
        return True

    def triggers(self, max_count: int = 200) -> int:
        """Run until there is nothing to do; how many batches that were."""
        for count in range(max_count):
            if not self.trigger():
                return count
        raise AssertionError("the query never comes to rest")

    def _rows(self, source: GatedSource, end: Offset) -> list[str]:
        ids: list[str] = []
        for plan in plan_tasks(end, has_watermark=source.has_watermark):
            schema = OUTPUT if source.has_watermark else SCHEMA
            reader = TaskReader(factory=source.log, strategy=source.strategy, output=OutputSchema(schema))
            for batch in reader.run(plan, lambda reports: self._report(source, reports)):
                found = batch.column("id").to_pylist()
                source.heartbeats += found.count(None)
                ids += [each for each in found if each is not None]
        return ids

    def _report(self, source: GatedSource, reports) -> None:
        if self.loses_reports:
            return
        self.ask(
            {
                "ask": "report",
                "source": source.id,
                "query": self.query,
                "run": self.run,
                "batch": self.batches,
                "reports": [report.to_json() for report in reports],
            }
        )


def _as_written(offset: Offset) -> Offset:
    return Offset.from_json(json.loads(json.dumps(offset.to_json())))
