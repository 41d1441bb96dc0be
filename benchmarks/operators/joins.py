"""`make bench-joins`: the temporal join and OVER on Spark, rows a second on two cores; under five minutes.

    python -m benchmarks.operators.joins            prints figures; the last line is JSON
    python -m benchmarks.operators.joins --save     writes results/joins.json as well, on an idle machine only

Temporal join: orders against a table of 1,000,000 keys, of which 1 % change in each batch; then batches of 1,000 orders
with 100 changes. OVER: sums over the last ten seconds, and over the last ten rows, of 100,000 keys. Rows come from
files that hold what a source gives (`join_rows`), into a noop sink; state lies in RocksDB. A figure is rows through
whole batches, the first ones left out. `plain` is the orders without an operator. Flink's temporal join of as many rows
of the same shape runs in the same minutes, where its jars can be had.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession

from benchmarks.kafka.sides.window_query import session
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process, load_before, machine_facts
from benchmarks.operators.join_rows import ChangePlan, RowPlan, stream, write_changes, write_rows
from benchmarks.operators.joins_flink import flink_temporal_join
from datasources import OverFrame, over, register, temporal_join, with_source_watermark

RESULTS: Final = Path(__file__).parents[1] / "results" / "joins.json"
KEYS: Final = 1_000_000
BATCH: Final = 1_000_000
LARGE: Final = 4
SMALL: Final = 8
OVER_KEYS: Final = 100_000
FLINK_ROWS: Final = 2_000_000
LEFT_OUT: Final = 4
"""Batches before the first one that counts: the table is loaded, workers start, caches fill, the JVM compiles."""
_UNLIMITED: Final = {"spark.sql.execution.arrow.maxBytesPerBatch": 2**31 - 1}
"""By default Spark measures what it hands to Python after every row, which costs a third of its tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A query that ran over everything.

    Attributes:
        seconds: of each batch, from its begin to its commit.
        cpu_seconds: of the whole query, its start included.
        worker_mb: the largest Python worker.
        jvm_mb: the JVM.
    """

    seconds: list[float]
    cpu_seconds: float
    worker_mb: float
    jvm_mb: float

    def rows_per_s(self, sizes: tuple[int, ...]) -> int:
        """Return rows a second of the large batches."""
        large = [place for place, size in enumerate(sizes) if size >= BATCH]
        counted = large[-LARGE:]
        return round(sum(sizes[place] for place in counted) / sum(self.seconds[place] for place in counted))

    def small_ms(self, sizes: tuple[int, ...]) -> int:
        """Return the median of the batches with 1,000 rows, ms."""
        small = [self.seconds[place] for place, size in enumerate(sizes) if 0 < size < BATCH]
        return round(statistics.median(small[2:]) * 1_000)


def run(df: DataFrame) -> Ran:
    """Run a query over everything that its files hold."""
    jvm = jvm_of_this_process()
    began = cpu_seconds(jvm)
    with tempfile.TemporaryDirectory() as checkpoint, UsageSampler(jvm) as sampler:
        writer = df.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        seconds = [progress.durationMs["triggerExecution"] / 1_000 for progress in query.recentProgress]
    return Ran(
        seconds=seconds,
        cpu_seconds=cpu_seconds(jvm) - began,
        worker_mb=sampler.peak_worker_mb,
        jvm_mb=sampler.peak_jvm_mb,
    )


def temporal_join_figures(spark: SparkSession, directory: Path) -> dict[str, Any]:
    """Measure the temporal join."""
    sizes = (0, *[BATCH] * (LARGE + LEFT_OUT - 1), *[1_000] * SMALL)
    changed = tuple(KEYS // 100 if size >= BATCH else 100 for size in sizes[1:])
    write_rows(directory / "orders", RowPlan(keys=KEYS, sizes=sizes))
    write_changes(directory / "rates", ChangePlan(keys=KEYS, changed=changed))
    orders, rates = stream(spark, directory / "orders"), stream(spark, directory / "rates")
    ran = run(with_source_watermark(temporal_join(orders, rates, on=["k"], as_of="ts", how="left", prefix="rate_")))
    plain = run(with_source_watermark(stream(spark, directory / "orders")))
    return {
        "rows_s": ran.rows_per_s(sizes),
        "batch_of_1000_ms": ran.small_ms(sizes),
        "seconds": ran.seconds,
        "cpu_us_per_row": round(ran.cpu_seconds / sum(sizes) * 1e6, 2),
        "peak_worker_mb": round(ran.worker_mb),
        "peak_jvm_mb": round(ran.jvm_mb),
        "plain_rows_s": plain.rows_per_s(sizes),
    }


def over_figures(spark: SparkSession, directory: Path) -> dict[str, Any]:
    """Measure OVER with both kinds of frame."""
    sizes = (BATCH,) * (LARGE + LEFT_OUT // 2)
    write_rows(directory / "sums", RowPlan(keys=OVER_KEYS, sizes=sizes))
    figures: dict[str, Any] = {}
    for name, frame in (("range_10_s", OverFrame.range(10_000)), ("rows_10", OverFrame.rows(10))):
        sums = over(
            stream(spark, directory / "sums"),
            {"total": "SUM(amount)", "n": "COUNT(*)"},
            keys=["k"],
            attribute="ts",
            frame=frame,
        )
        ran = run(with_source_watermark(sums))
        figures[name] = {
            "rows_s": ran.rows_per_s(sizes),
            "seconds": ran.seconds,
            "cpu_us_per_row": round(ran.cpu_seconds / sum(sizes) * 1e6, 2),
            "peak_worker_mb": round(ran.worker_mb),
            "peak_jvm_mb": round(ran.jvm_mb),
        }
    return figures


def main() -> None:
    """Measure and print; the last line is JSON."""
    load = load_before(is_saved="--save" in sys.argv)
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        spark = session()
        for key, value in _UNLIMITED.items():
            spark.conf.set(key, value)
        register(spark)
        join, sums = temporal_join_figures(spark, directory), over_figures(spark, directory)
        spark.stop()
    flink = flink_temporal_join(keys=KEYS, rows=FLINK_ROWS, report=print)
    peak = max(join["peak_worker_mb"], *(figures["peak_worker_mb"] for figures in sums.values()))
    everything = {
        "temporal_join": join,
        "over": sums,
        "flink": flink,
        "settings": _UNLIMITED,
        "load": load,
        **machine_facts(),
    }
    print(json.dumps(everything, indent=2))
    if "--save" in sys.argv:
        RESULTS.write_text(json.dumps(everything, indent=2) + "\n")
    headline = {
        "temporal_join_rows_s": join["rows_s"],
        "over_rows_s": sums["range_10_s"]["rows_s"],
        "peak_mb": peak,
        "load": load,
    }
    print(json.dumps(headline))


if __name__ == "__main__":
    main()
