"""Batches and runs: the results at the end of one, and those of the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.spark_watermarks.claim import Observed
from examples.spark_watermarks.job import Job, clock_time, minute_counts
from examples.spark_watermarks.sides import Side, Stage, every_second

__all__ = ["available_now", "latency", "progress_numbers"]

_SECOND_RUN = ("12:01", "12:02")


def available_now(stage: Stage) -> Observed:
    """An hourly job, partition p1 is behind; three runs of one checkpoint."""
    return Observed(spark=_three_runs(stage, stage.spark_side()), tidemark=_three_runs(stage, stage.tidemark_side()))


def _three_runs(stage: Stage, side: Side) -> str:
    checkpoint = stage.place("checkpoint")
    side.put("p0", *every_second("12:00", 4, "a"), ("12:10:00", "a"))
    side.put("p1", *every_second("12:00", 4, "b"))
    first = _run(side, checkpoint)
    side.put("p1", *(row for minute in _SECOND_RUN for row in every_second(minute, 4, "b")))
    second = _run(side, checkpoint)
    for partition in ("p0", "p1"):
        side.put(partition, ("12:30:00", "end"))
    third = _run(side, checkpoint)
    still_open = [minute for minute in ("12:00", "12:10") if minute not in first]
    lost = 8 - sum(run.get(minute, 0) for run in (second, third) for minute in _SECOND_RUN)
    return f"open after run 1: {' and '.join(still_open)}; run 2 loses {lost} of 8 rows"


def _run(side: Side, checkpoint: Path) -> dict[str, int]:
    with Job.running(minute_counts(side.stream()), checkpoint, available_now=True) as job:
        return job.windows


def latency(stage: Stage) -> Observed:
    """How many batches after the record that ends a window its result comes."""
    return Observed(
        spark=f"result {_batches_until_out(stage, stage.spark_side(), 1)} batch later",
        tidemark=f"one active split: {_batches_until_out(stage, stage.tidemark_side(), 1)} batch later; "
        f"two: {_batches_until_out(stage, stage.tidemark_side(), 2)} batches later",
    )


def _batches_until_out(stage: Stage, side: Side, partitions: int) -> int:
    for number in range(partitions):
        # All records are available at the start: batch 0 reads the record that ends the window, in every partition.
        side.put(f"p{number}", ("12:00:01", "a"), ("12:02:00", "a"))
    with Job.running(minute_counts(side.stream()), stage.place("checkpoint")) as job:
        job.drain()
        return job.emitted_in("12:00")


def progress_numbers(stage: Stage) -> Observed:
    """Spark's progress of a batch of one row, of 12:02:00."""
    with _after_one_row(stage, stage.spark_side()) as job:
        spark = _numbers(job)
    with _after_one_row(stage, stage.tidemark_side()) as job:
        position = job.source()["splits"][0]["position"]
        return Observed(spark=spark, tidemark=f"{_numbers(job)}; position = {position} of 2 rows")


@contextmanager
def _after_one_row(stage: Stage, side: Side) -> Iterator[Job]:
    side.put("p0", ("12:00:01", "a"))
    with Job.running(minute_counts(side.stream()), stage.place("checkpoint")) as job:
        job.drain()
        side.put("p0", ("12:02:00", "a"))
        job.drain()
        yield job


def _numbers(job: Job) -> str:
    batch = [batch for batch in job.batches if batch.numInputRows][-1]
    times = {name: clock_time(batch.eventTime[name]) for name in ("min", "max")}
    return f"numInputRows = {batch.numInputRows}, eventTime.min = {times['min']}, eventTime.max = {times['max']}"
