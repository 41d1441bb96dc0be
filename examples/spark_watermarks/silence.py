"""Silent sources, and what the rest of the query waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from examples.spark_watermarks.claim import Observed
from examples.spark_watermarks.job import Job, minute_counts
from examples.spark_watermarks.sides import Side, Stage

__all__ = ["empty_source", "silent_after_restart"]

_IDLE: Mapping[str, str] = {"scan.watermark.idle-timeout": "500 ms", "scan.watermark.heartbeat-interval": "300 ms"}
_EXPECTED = "22:59:50"


def empty_source(stage: Stage) -> Observed:
    """One source continues for eleven hours, the other one has no row."""
    return Observed(
        spark=_beside_an_empty_one(stage, stage.spark_side, moves_by_time=False),
        tidemark=_beside_an_empty_one(stage, lambda: stage.tidemark_side(_IDLE), moves_by_time=True),
    )


def _beside_an_empty_one(stage: Stage, side: Callable[[], Side], *, moves_by_time: bool) -> str:
    found = []
    for name, combine in (("union", _union), ("join", _outer_join)):
        busy, empty = side(), side()
        busy.put("p0", ("12:00:00", "a"))
        empty.put("p0")
        with Job.running(combine(busy.stream(), empty.stream()), stage.place("checkpoint")) as job:
            job.drain()
            for time in ("13:00:00", "23:00:00"):
                busy.put("p0", (time, "a"))
                job.drain()
            if moves_by_time:
                job.wait_for_watermark(_EXPECTED)
            found.append(f"{name}: watermark {job.watermark}, {job.emitted} of 2 results")
    return "; ".join(found)


def _union(busy: DataFrame, empty: DataFrame) -> DataFrame:
    return minute_counts(busy.union(empty))


def _outer_join(busy: DataFrame, empty: DataFrame) -> DataFrame:
    within = F.expr("x.k = y.k AND y.ts BETWEEN x.ts AND x.ts + INTERVAL 1 MINUTE")
    return busy.alias("x").join(empty.alias("y"), within, "left_outer").select("x.ts", "x.v")


def silent_after_restart(stage: Stage) -> Observed:
    """A source that reached 13:00 has nothing new after a restart; the other one continues to 12:40."""
    return Observed(spark=_restarted(stage, stage.spark_side), tidemark=_restarted(stage, stage.tidemark_side))


def _restarted(stage: Stage, side: Callable[[], Side]) -> str:
    busy, silent = side(), side()
    checkpoint = stage.place("checkpoint")
    busy.put("p0", ("12:00:01", "a"), ("12:02:00", "a"))
    silent.put("p0", ("13:00:00", "b"))
    with Job.running(_union(busy.stream(), silent.stream()), checkpoint) as job:
        job.drain()
        before = job.watermark
    busy.put("p0", ("12:30:00", "a"))
    with Job.running(_union(busy.stream(), silent.stream()), checkpoint) as job:
        job.drain()
        busy.put("p0", ("12:40:00", "a"))
        job.drain()
        return f"watermark {before} before, {job.watermark} after; {len(job.windows)} of 2 windows"
