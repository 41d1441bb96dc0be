"""The demo's figures as rows of text, for the terminal and the page alike."""

from __future__ import annotations

from dataclasses import dataclass

from datasources.demo.report.watermark_chart import clock_text
from datasources.demo.results.outcome import Outcome, SideOutcome
from datasources.demo.story.orders import ROLES


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One measure of both sides, as text."""

    name: str
    spark: str
    tidemark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRow:
    """One partition at the end, as text."""

    number: str
    role: str
    position: str
    watermark: str
    status: str


def comparison(outcome: Outcome) -> list[ComparisonRow]:
    """Return the measures, the most important first."""
    measures = {
        "orders lost": lambda side: f"{side.accuracy.lost_rows:,} of {side.accuracy.expected_rows:,}",
        "results right": lambda side: f"{side.accuracy.correct_results} of {side.accuracy.expected_results}",
        "results with a wrong count": lambda side: f"{side.accuracy.wrong_results}",
        "results missing": lambda side: f"{side.accuracy.missing_results}",
        "numRowsDroppedByWatermark": lambda side: f"{side.timeline.dropped_rows:,}",
        "most rows of state": lambda side: f"{side.timeline.peak_state_rows:,}",
        "watermark at the end": _final_watermark,
    }
    return [
        ComparisonRow(name=name, spark=measure(outcome.spark), tidemark=measure(outcome.tidemark))
        for name, measure in measures.items()
    ]


def partition_rows(outcome: Outcome) -> list[PartitionRow]:
    """Return the partitions as Tidemark's source reported them last, idle or not while orders were read."""
    splits = outcome.tidemark.timeline.last_splits
    return [
        PartitionRow(
            number=str(number),
            role=ROLES[number].value,
            position=f"{split.position:,}",
            watermark="none" if split.watermark_ms is None else clock_text(split.watermark_ms),
            status=split.status,
        )
        for number, split in sorted(splits.items())
    ]


def _final_watermark(side: SideOutcome) -> str:
    last = next((m.watermark_ms for m in reversed(side.timeline.moments) if m.watermark_ms is not None), None)
    return "none" if last is None else clock_text(last)
