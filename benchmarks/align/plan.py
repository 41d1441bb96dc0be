"""What planning an aligned batch costs, in memory: no broker, no Spark, the planner and its coordinator as they are.

Every split has new records before every planning, and twice as many as the batch may take, so that each planning looks
ahead in every split and shares the budget by event time. Reports of all splits come over the coordinator's channel, as
they do from executors. What a broker takes to answer is not in the figures; evaluating the watermark expression over
the records that were looked at is.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.align.topic import SCHEMA, PlannedTopic
from benchmarks.measure import load_average
from datasources.expressions.compiler.compile import compile_rowtime, compile_watermark
from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.abilities import Alignment, ScanStrategy, WatermarkParams
from datasources.source.api.scan_range import ScanEnd, ScanRange
from datasources.source.api.split import SplitProgress
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.client import CoordinatorClient, CoordinatorLink
from datasources.source.coordination.reports import SplitReport
from datasources.source.coordination.server import Coordinator, Endpoint
from datasources.source.planning.planner import BatchPlanner, PlannerSettings
from watermark import SystemClock

__all__ = ["PlanCost", "plan_group", "plan_partitions"]

RESULTS: Final = Path(__file__).parents[1] / "results" / "align_plan.json"
_WARM_UP: Final = 5
_PLANS: Final = 41
_SPLITS_OF_A_MEMBER: Final = 10
_EXPRESSION: Final = "ts - INTERVAL '10' SECOND"
_IDENTITY: Final = Identity(strategy=f"{_EXPRESSION} on-periodic", schema="ts TIMESTAMP", subscription="orders")
_PARAMS: Final = WatermarkParams(alignment=Alignment(group="benchmark", max_drift_ms=10_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCost:
    """What was measured.

    Attributes:
        plan_ms: Median of one planning, with the offset's encoding.
        offset_bytes: The largest offset as Spark stores it.
    """

    plan_ms: float
    offset_bytes: int


def plan_partitions(partitions: int) -> PlanCost:
    """Plan batches of one source with many partitions."""
    return _measured(sources=1, partitions=partitions, plans=_PLANS)


def plan_group(sources: int) -> PlanCost:
    """Plan batches of many sources of ten partitions each in one group."""
    return _measured(sources=sources, partitions=_SPLITS_OF_A_MEMBER, plans=_WARM_UP)


def _measured(*, sources: int, partitions: int, plans: int) -> PlanCost:
    coordinator = Coordinator()
    try:
        members = [_Member(number, partitions, coordinator.endpoint) for number in range(sources)]
        for _ in range(_WARM_UP):
            for member in members:
                member.plan()
        costs = [member.plan() for _ in range(plans) for member in members]
        if not all(member.batches > plans // 2 for member in members):
            raise SystemExit("a source planned nothing again and again: the figures would mean nothing")
    finally:
        coordinator.close()
    return PlanCost(
        plan_ms=round(statistics.median(cost.plan_ms for cost in costs), 2),
        offset_bytes=max(cost.offset_bytes for cost in costs),
    )


class _Member:
    """One source: its planner, and tasks that report as if they had read."""

    def __init__(self, number: int, partitions: int, endpoint: Endpoint) -> None:
        self._source = f"source-{number}"
        self._topic = PlannedTopic(partitions, random.Random(number))
        self._tasks = CoordinatorClient(endpoint)
        report_store = CoordinatorLink(CoordinatorClient(endpoint), self._source)
        self._planner = BatchPlanner(
            enumerator=self._topic,
            report_store=report_store,
            scan=_never_scan,
            settings=PlannerSettings(identity=_IDENTITY, has_watermark=True, watermark=_PARAMS),
            clock=SystemClock(),
            peers=report_store,
            lookahead=ReaderLookahead(self._topic, _strategy()),
        )
        self._offset = self._planner.initial()

    @property
    def batches(self) -> int:
        """How many batches were planned; a planning whose splits all wait for others makes none."""
        return self._offset.sequence

    def plan(self) -> PlanCost:
        """Let records arrive, plan a batch of half of them, and let its tasks report."""
        budget_rows = self._topic.grow() // 2
        began_ns = time.perf_counter_ns()
        offset = self._planner.plan(self._offset, budget_rows)
        raw = offset.to_json()
        plan_ms = (time.perf_counter_ns() - began_ns) / 1e6
        if offset.sequence > self._offset.sequence:
            self._offset = offset
            self._report(offset)
        return PlanCost(plan_ms=plan_ms, offset_bytes=len(json.dumps(raw)))

    def _report(self, offset: Offset) -> None:
        reports = [self._report_of(offset, split).to_json() for split in offset.splits if split.rows]
        message: dict[str, Any] = {"ask": "report", "source": self._source, "batch": offset.sequence}
        self._tasks.ask({**message, "query": self._source, "run": self._source, "reports": reports})

    def _report_of(self, offset: Offset, split: SplitProgress) -> SplitReport:
        position = self._topic.end_of_allowed(split.split, split.end, offset.allowed_ms)
        stopped = position < split.end
        return SplitReport(
            sequence=offset.sequence,
            split=split.split,
            position=position,
            watermark_ms=self._topic.candidate_ms(split.split, position - 1),
            last_row_watermark_ms=offset.combined_ms,
            next_ms=self._topic.candidate_ms(split.split, position) if stopped else None,
            rows=position - split.start,
        )


def _strategy() -> ScanStrategy:
    return ScanStrategy(
        rowtime=compile_rowtime("ts", SCHEMA),
        watermark=compile_watermark(_EXPRESSION, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True),
        params=_PARAMS,
    )


def _never_scan(_: ScanRange) -> ScanEnd:
    raise SystemExit("a report was lost: the figures would mean nothing")


def main() -> None:
    """Measure planning alone, print it and write it down; the last line is JSON."""
    load = load_average()
    partitions, group = plan_partitions(1_000), plan_group(100)
    document = {
        "plan_ms_1000_partitions": partitions.plan_ms,
        "offset_bytes_1000_partitions": partitions.offset_bytes,
        "plan_ms_100_sources": group.plan_ms,
        "load": load,
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document))


if __name__ == "__main__":
    main()
