"""What makes a column event time, and how long a key is remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import keep_time_attribute
from examples.spark_watermarks.claim import Observed
from examples.spark_watermarks.job import Job, minute_counts
from examples.spark_watermarks.sides import Side, Stage

__all__ = ["dedup_horizon", "lost_attribute"]

_NO_CONSTANT_BOUND = {"watermark.as": "CASE WHEN v IS NOT NULL THEN ts - INTERVAL '10' SECOND END"}


def lost_attribute(stage: Stage) -> Observed:
    """A window over `date_trunc('second', ts)` of a stream that has a watermark."""
    side = stage.spark_side()
    side.put("p0", ("12:00:01", "a"), ("12:02:00", "a"))
    computed = side.stream().withColumn("ts", F.date_trunc("second", "ts"))
    refused = _failure(stage, minute_counts(computed))
    again = _failure(stage, minute_counts(computed.withWatermark("ts", "10 seconds")))
    return Observed(
        spark=f"expression: {refused}; withWatermark again: {again}", tidemark=_with_the_mark_given_back(stage)
    )


def _failure(stage: Stage, df: DataFrame) -> str:
    try:
        with Job.running(df, stage.place("checkpoint")) as job:
            job.drain()
    except PySparkException as error:
        known = ("not supported for streaming aggregations without watermark", "Redefining watermark is disallowed")
        return next((f'"{sentence}"' for sentence in known if sentence in str(error)), str(error).splitlines()[0])
    return f"{len(job.windows)} window"


def _with_the_mark_given_back(stage: Stage) -> str:
    side = stage.tidemark_side()
    side.put("p0", ("12:00:01", "a"), ("12:02:00", "a"))
    computed = keep_time_attribute(side.stream().withColumn("ts", F.date_trunc("second", "ts")), "ts")
    return f"keep_time_attribute: {_failure(stage, minute_counts(computed))}"


def dedup_horizon(stage: Stage) -> Observed:
    """A key comes at 12:00:01, again 8 s and 30 s later; the watermark is 10 s behind."""
    tidemark = _repeats(stage, stage.tidemark_side)
    unbound = _repeats(stage, lambda: stage.tidemark_side(_NO_CONSTANT_BOUND))
    horizon: Mapping[str, str] = {**_NO_CONSTANT_BOUND, "watermark.dedup-horizon": "10 s"}
    bounded = _repeats(stage, lambda: stage.tidemark_side(horizon))
    return Observed(
        spark=_repeats(stage, stage.spark_side),
        tidemark=f"{tidemark}; no constant bound: {unbound}; with watermark.dedup-horizon: {bounded}",
    )


def _repeats(stage: Stage, side: Callable[[], Side]) -> str:
    rows = side()
    rows.put("p0", ("12:00:01", "a", "first"), ("12:00:11.5", "b", "b"))
    df = rows.stream().dropDuplicatesWithinWatermark(["k"])
    with Job.running(df, stage.place("checkpoint")) as job:
        job.drain()
        # The watermark is 12:00:01.5 now: it has passed the first row, and not that row's 10 s.
        for repeat in ([("12:00:09", "a", "+8 s"), ("12:00:40", "c", "c")], [("12:00:31", "a", "+30 s")]):
            rows.put("p0", *repeat)
            job.drain()
        passed = [value for value in job.values if value.startswith("+")]
    return f"passes {' and '.join(passed) or 'none'}"
