"""make bench-align: what alignment costs and what it saves, on a real broker, in under five minutes.

A backlog with one of four partitions twelve hours behind is drained with and without alignment, alternating, once with
Spark's own connector, and by Flink with and without its alignment. Then batches over 1,000 partitions are planned in
memory. Writes benchmarks/results/align.json; the last line is JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console
from rich.table import Table

from benchmarks.align.flink_side import flink_overshoot
from benchmarks.align.overshoot import reported_overshoot_ms, true_overshoot_ms, unaligned_overshoot_ms
from benchmarks.align.plan import PlanCost, plan_group, plan_partitions
from benchmarks.measure import load_average, machine_facts
from datasources.demo.spark.local_spark import local_spark
from datasources.demo.spark.spark_kafka import SparkKafka, fetch_spark_kafka
from datasources.embedded import EmbeddedKafka
from examples.skew_day.outcome import assess
from examples.skew_day.progress import Drain
from examples.skew_day.story import SkewSettings, SkewStory, make_skew
from examples.skew_day.topic import Backlog, open_backlog
from examples.skew_day.variants import DrainSettings, Variant, drain

RESULTS: Final = Path(__file__).parents[1] / "results" / "align.json"
SIZE: Final = SkewSettings(rows_per_user_minute=15)
SETTINGS: Final = DrainSettings(rows_per_batch=40_000, max_drift_ms=10_000)
ROUNDS: Final = 3
PARTITIONS: Final = 1_000
SOURCES: Final = 100

_COLUMNS: Final = 110
_ORDER: Final = (Variant.ALIGNED, Variant.UNALIGNED, Variant.SPARK)

Drains = dict[Variant, list[Drain]]


def main() -> None:
    """Run everything and show it."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _COLUMNS)
    load = load_average()
    peer = fetch_spark_kafka(pyspark.__version__, console.print)
    console.print(f"{SIZE.rows:,} records, drift {SETTINGS.max_drift_ms / 1_000:g} s, load before the run {load}")
    story = make_skew(SIZE)
    drains, flink = _drains(story, peer, console)
    partitions = plan_partitions(PARTITIONS)
    group = plan_group(SOURCES)
    summary = _summary(story, drains, partitions)
    _show(console, drains, summary, group)
    _show_flink(console, flink)
    summary["flink_overshoot_ms"] = flink.get("overshoot_ms")
    _write({**summary, "flink": flink}, load, drains, group, peer.version)
    print(json.dumps(summary))


def _drains(story: SkewStory, peer: SparkKafka, console: Console) -> tuple[Drains, dict[str, Any]]:
    with (
        tempfile.TemporaryDirectory(prefix="tidemark-align-", ignore_cleanup_errors=True) as name,
        EmbeddedKafka() as kafka,
        local_spark(Path(name), jars=peer.jars) as spark,
        open_backlog(kafka.bootstrap_servers, story) as backlog,
    ):
        spark.sparkContext.setLogLevel("ERROR")
        drains = _Rounds(spark, story, backlog, Path(name), console).run()
        return drains, flink_overshoot(story, backlog, SETTINGS.max_drift_ms)


class _Rounds:
    """The runs over one backlog, in one session."""

    def __init__(self, spark: Any, story: SkewStory, backlog: Backlog, directory: Path, console: Console) -> None:
        self._spark = spark
        self._story = story
        self._backlog = backlog
        self._directory = directory
        self._console = console
        self._runs = 0

    def run(self) -> Drains:
        """Warm up, alternate which of the two goes first, and end with Spark's connector."""
        self._one(Variant.ALIGNED, "warm-up")
        found: Drains = {variant: [] for variant in Variant}
        both = (Variant.ALIGNED, Variant.UNALIGNED)
        for number in range(ROUNDS):
            for variant in both if number % 2 == 0 else both[::-1]:
                found[variant].append(self._one(variant, f"round {number + 1}"))
        found[Variant.SPARK].append(self._one(Variant.SPARK, "once"))
        return found

    def _one(self, variant: Variant, label: str) -> Drain:
        self._runs += 1
        place = self._directory / f"checkpoint-{self._runs}"
        result = drain(self._spark, variant, SETTINGS, self._backlog, place)
        accuracy = assess(self._story, result.answer)
        if variant is not Variant.SPARK and not accuracy.is_perfect:
            raise SystemExit(f"{variant.value}, {label}: {accuracy.lost_rows:,} records lost; nothing was compared")
        self._console.print(
            f"  {label:8} {variant.value:31} {result.drain.seconds:5.1f} s, {len(result.drain.batches)} batches, "
            f"at most {result.drain.peak_state_rows:,} rows of state"
        )
        return result.drain


def _summary(story: SkewStory, drains: Drains, plan: PlanCost) -> dict[str, Any]:
    drift_ms = SETTINGS.max_drift_ms
    aligned, unaligned = drains[Variant.ALIGNED], drains[Variant.UNALIGNED]
    ratios = [one.seconds / other.seconds for one, other in zip(aligned, unaligned, strict=True)]
    return {
        "overshoot_ms": max(
            max(reported_overshoot_ms(run), true_overshoot_ms(story, run, drift_ms)) for run in aligned
        ),
        "unaligned_overshoot_ms": max(unaligned_overshoot_ms(run, drift_ms) for run in unaligned),
        "catchup_ratio": round(statistics.median(ratios), 3),
        "peak_state_rows": {variant.name.lower(): _peak(drains[variant]) for variant in _ORDER},
        "plan_ms_1000_partitions": plan.plan_ms,
        "offset_bytes_1000_partitions": plan.offset_bytes,
    }


def _peak(runs: Sequence[Drain]) -> int:
    return max(run.peak_state_rows for run in runs)


def _show(console: Console, drains: Drains, summary: dict[str, Any], group: PlanCost) -> None:
    table = Table("", "seconds, median", "batches", "most rows of state")
    for variant in _ORDER:
        runs = drains[variant]
        seconds = statistics.median(run.seconds for run in runs)
        table.add_row(variant.value, f"{seconds:.1f}", str(len(runs[0].batches)), f"{_peak(runs):,}")
    console.print(table)
    console.print(
        f"aligned / unaligned: {summary['catchup_ratio']:.2f} of the time; watermarks ran ahead by "
        f"{summary['overshoot_ms']:,} ms, without alignment by {summary['unaligned_overshoot_ms']:,} ms"
    )
    console.print(
        f"planning over {PARTITIONS:,} partitions: {summary['plan_ms_1000_partitions']:.1f} ms, offset "
        f"{summary['offset_bytes_1000_partitions']:,} bytes; in a group of {SOURCES} sources: {group.plan_ms:.1f} ms"
    )


def _show_flink(console: Console, flink: dict[str, Any]) -> None:
    if "why" in flink:
        console.print(f"Flink: {flink['why']}")
        return
    console.print(
        f"Flink {flink['flink']} ran ahead by {flink['overshoot_ms']:,} ms with its alignment, which looks every "
        f"{flink['update_interval_ms']:,} ms, and by {flink['unaligned_overshoot_ms']:,} ms without"
    )


def _write(summary: dict[str, Any], load: float, drains: Drains, group: PlanCost, peer_version: str) -> None:
    document = {
        **summary,
        "load": load,
        "rows": SIZE.rows,
        "batch_rows": SETTINGS.rows_per_batch,
        "max_drift_ms": SETTINGS.max_drift_ms,
        "lag_minutes": SIZE.lag_minutes,
        "seconds": {variant.name.lower(): [round(run.seconds, 2) for run in drains[variant]] for variant in _ORDER},
        "batches": {variant.name.lower(): [len(run.batches) for run in drains[variant]] for variant in _ORDER},
        f"plan_ms_{SOURCES}_sources": group.plan_ms,
        "peer_version": peer_version,
        "spark": pyspark.__version__,
        **machine_facts(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
