"""Late rows: counted, marked, dropped exactly."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.spark.scripted_stream import Scripts, drain, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

# Rowtimes with a watermark one second behind: 5, 30, 40 and 2 are late where they stand.
SECONDS = (10, 12, 11.5, 31, 5, 33, 30, 60, 59.5, 40, 2, 75)
LATE = [(2.0, 57.0), (5.0, 25.0), (30.0, 2.0), (40.0, 19.0)]


def scripts_at(path: Any) -> Scripts:
    scripts = Scripts(path)
    scripts.append("s-0", *((second, "k", str(second)) for second in SECONDS))
    return scripts


def windows(df: Any) -> Any:
    return df.groupBy(F.window("ts", "10 seconds")).count().selectExpr("unix_timestamp(window.start)", "count")


def test_dropping_makes_the_windows_independent_of_the_cuts_between_batches(spark, tmp_path):
    scripts = scripts_at(tmp_path)
    by_row, _ = drain(windows(scripts.stream(spark, {"watermark.late-rows": "drop", "scan.max-rows-per-batch": "1"})))
    at_once, query = drain(
        windows(scripts.stream(spark, {"watermark.late-rows": "drop", "scan.max-rows-per-batch": "10000"}))
    )
    assert sorted(by_row) == sorted(at_once) == [(10, 3), (30, 2), (50, 1), (60, 1)]
    assert query.source()["late_rows"] == len(LATE)
    assert query.source()["max_lateness_ms"] == 57_000
    assert query.source()["splits"][0]["late_rows"] == len(LATE)


def test_marked_rows_can_be_stored_elsewhere(spark, tmp_path):
    scripts = scripts_at(tmp_path)
    marked = scripts.stream(spark, {"watermark.late-rows": "mark", "scan.watermark.emit.strategy": "on-event"}).where(
        "_late"
    )
    with running(marked.select("ts", "_late")) as query:
        query.drain()
        assert sorted(row[0] for row in query.rows()) == [second for second, _ in LATE]
        assert {row[1] for row in query.rows()} == {True}
        scripts.append("s-0", (76, "k", "one more batch, whose progress tells of the one before"))
        query.drain()
        assert query.source()["late_rows"] == len(LATE)


def test_marking_loses_nothing_and_a_batch_read_marks_nothing(spark, tmp_path):
    scripts = scripts_at(tmp_path)
    rows, _ = drain(scripts.stream(spark, {"watermark.late-rows": "mark"}).select("ts", "_late"))
    assert len(rows) == len(SECONDS)
    read = spark.read.format("tidemark-scripted").options(**scripts.options({"watermark.late-rows": "mark"})).load()
    assert read.where("_late").count() == 0
    assert read.count() == len(SECONDS)
