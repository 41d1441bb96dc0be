"""Rows that Spark loses, and how it reports them."""

from __future__ import annotations

from examples.spark_watermarks.claim import Observed
from examples.spark_watermarks.job import Job, minute_counts
from examples.spark_watermarks.sides import Side, Stage, every_second

__all__ = ["filter_below", "future_record", "lagging_partition", "late_rows"]

_LATER_ROWS = 8
_LATE_ROWS = 60


def lagging_partition(stage: Stage) -> Observed:
    """Partition p1 is ten minutes behind p0: neither is late against its own past."""
    return Observed(spark=_lagging(stage, stage.spark_side()), tidemark=_lagging(stage, stage.tidemark_side()))


def _lagging(stage: Stage, side: Side) -> str:
    side.put("p0", *every_second("12:00", 4, "a"))
    side.put("p1", *every_second("11:50", 4, "b"))
    with Job.running(minute_counts(side.stream()), stage.place("checkpoint")) as job:
        job.drain()
        for minute in (1, 2):
            for partition, hour in (("p0", "12:0"), ("p1", "11:5")):
                side.put(partition, *every_second(f"{hour}{minute}", 4, "x"))
                job.drain()
        for partition in ("p0", "p1"):
            side.put(partition, ("12:30:00", "end"))
            job.drain()
        lost = 24 - sum(job.windows.values())
        return f"{lost} of 24 rows lost, no error; watermark {job.watermark}"


def filter_below(stage: Stage) -> Observed:
    """Only one row in a thousand passes the filter; the others show how late it is."""
    return Observed(spark=_filtered(stage, stage.spark_side()), tidemark=_filtered(stage, stage.tidemark_side()))


def _filtered(stage: Stage, side: Side) -> str:
    side.put("p0", ("12:00:05", "rare"), ("12:00:06", "common"))
    with Job.running(minute_counts(side.stream().filter("k = 'rare'")), stage.place("checkpoint")) as job:
        job.drain()
        for time in ("12:09:00", "13:09:00"):
            side.put("p0", (time, "common"))
            job.drain()
        window = "out" if "12:00" in job.windows else "still open"
        return f"watermark {job.watermark}; window 12:00 is {window} at 13:09"


def late_rows(stage: Stage) -> Observed:
    """Sixty rows of one partition come seven minutes after their time: both sides drop them from their window."""
    job = _late(stage, stage.spark_side())
    spark = f"{_lost(job)} rows lost; numRowsDroppedByWatermark = {job.dropped}"
    job = _late(stage, stage.tidemark_side())
    split = job.source()["splits"][0]
    figures = f"split {split['split']}: late_rows = {split['late_rows']}, max_lateness_ms = {split['max_lateness_ms']}"
    marked = _marked(stage, stage.tidemark_side({"watermark.late-rows": "mark"}))
    return Observed(spark=spark, tidemark=f"{_lost(job)} rows lost; {figures}; {marked} rows marked on request")


def _late(stage: Stage, side: Side) -> Job:
    with Job.running(minute_counts(side.stream()), stage.place("checkpoint")) as job:
        _arrive_late(side, job)
        return job


def _marked(stage: Stage, side: Side) -> int:
    with Job.running(side.stream().filter("_late"), stage.place("checkpoint")) as job:
        _arrive_late(side, job)
        return job.emitted


def _arrive_late(side: Side, job: Job) -> None:
    # The last one is needed because the counts of a batch are in the progress of the next one.
    on_time, next_one, late = [("12:00:01", "a")], [("12:10:00", "a")], every_second("12:03", _LATE_ROWS, "a")
    for rows in (on_time, next_one, late, [("12:20:00", "a")]):
        side.put("p0", *rows)
        job.drain()


def _lost(job: Job) -> int:
    return _LATE_ROWS - job.windows.get("12:03", 0)


def future_record(stage: Stage) -> Observed:
    """One producer's clock is wrong, once: a record of the year 2999."""
    return Observed(spark=_future(stage, stage.spark_side()), tidemark=_future(stage, stage.tidemark_side()))


def _future(stage: Stage, side: Side) -> str:
    checkpoint = stage.place("checkpoint")
    side.put("p0", ("12:00:01", "a"))
    emitted = 0
    with Job.running(minute_counts(side.stream()), checkpoint) as job:
        job.drain()
        for rows in ([("2999-01-01T00:00:00", "a")], every_second("12:05", _LATER_ROWS // 2, "a")):
            side.put("p0", *rows)
            job.drain()
        emitted += job.windows.get("12:05", 0)
    with Job.running(minute_counts(side.stream()), checkpoint) as job:
        for rows in (every_second("12:10", _LATER_ROWS // 2, "a"), [("12:20:00", "a")]):
            side.put("p0", *rows)
            job.drain()
        emitted += job.windows.get("12:05", 0) + job.windows.get("12:10", 0)
    return f"watermark {job.watermark} after a restart; {_LATER_ROWS - emitted} of {_LATER_ROWS} later rows lost"
