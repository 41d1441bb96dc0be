"""The ends of the scale: before 1970, no watermark yet, and the end of time; and the same table read as a batch."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import ScriptedDataSource, register
from tests.support.spark.scripted_stream import FORMAT, Scripts, drain, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

END_OF_TIME_S = 253_402_300_799.999
ON_EVENT = {"pipeline.auto-watermark-interval": "0", "scan.attached": "true"}


@pytest.fixture
def by_hand(spark):
    """Who sets scan.attached looks at the hidden columns."""
    spark.dataSource.register(ScriptedDataSource)
    yield spark
    register(spark)


def counts(df: Any) -> Any:
    grouped = df.groupBy(F.window("ts", "10 seconds")).count()
    return grouped.selectExpr("unix_timestamp(window.start)", "count")


def test_without_a_watermark_row_watermarks_are_the_epoch_and_never_null(by_hand, tmp_path):
    """The watermark is at -6, -1 and, after the last row, at 4: below 0 a row watermark is 0."""
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (-5, "a", "first"), (0, "a", "second"), (5, "a", "third"))
    df = scripts.loaded(by_hand, ON_EVENT).selectExpr("v", "unix_timestamp(_watermark)", "_heartbeat")
    rows, _ = drain(df)
    assert sorted(row[:2] for row in rows if not row[2]) == [("first", 0), ("second", 0), ("third", 0)]
    assert [row for row in rows if row[2]][-1] == (None, 4, True)
    assert all(row[1] is not None for row in rows)


def test_rows_before_1970_are_emitted_and_their_windows_too(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (-25, "a", ""), (-15, "a", ""))
    with running(scripts.stream(spark).select(F.unix_timestamp("ts"))) as query:
        query.drain()
        assert sorted(query.rows()) == [(-25,), (-15,)]
    with running(counts(scripts.stream(spark)), "update") as query:
        query.drain()
        assert query.watermarks == [0]


def test_on_event_row_watermarks_are_the_watermark_before_each_row(by_hand, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (10, "a", "1"), (30, "a", "2"), (20, "a", "late"), (40, "a", "3"))
    df = scripts.loaded(by_hand, ON_EVENT).selectExpr("v", "unix_timestamp(_watermark)", "_heartbeat")
    rows, _ = drain(df)
    assert [row[:2] for row in rows if not row[2]] == [("1", 0), ("2", 9), ("late", 29), ("3", 29)]


def test_the_final_watermark_is_emitted_only_where_the_source_ends(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", ""), (65, "a", ""))
    scripts.append("s-1", (3, "a", ""))
    rows, open_end = drain(counts(scripts.stream(spark)))
    assert rows == []
    assert open_end.watermarks[-1] == 2
    rows, bounded = drain(counts(scripts.stream(spark, {"scripted.bounded": "true"})))
    assert sorted(rows) == [(0, 2), (60, 1)]
    assert bounded.watermarks[-1] == pytest.approx(END_OF_TIME_S, abs=0.001)


def test_a_batch_read_of_the_same_table_has_the_rows_of_the_stream(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "1"), (65, "a", "2"), (-7, "b", "3"))
    scripts.append("s-1", (3, "a", "4"), (None, "a", "5"))
    register(spark)
    table = spark.read.format(FORMAT).options(**scripts.options()).load()
    row_watermarks = table.select(F.unix_micros("_watermark"), "_heartbeat").distinct().collect()
    assert [tuple(row) for row in row_watermarks] == [(0, False)]
    batch = [tuple(row) for row in table.select(F.unix_timestamp("ts"), "k", "v").collect()]
    stream, _ = drain(scripts.stream(spark).select(F.unix_timestamp("ts"), "k", "v"))
    assert sorted(batch, key=repr) == sorted(stream, key=repr)
    assert len(batch) == 5
    plain = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}
    assert spark.read.format(FORMAT).options(**scripts.options(plain)).load().columns == ["ts", "k", "v"]


def test_a_batch_read_of_an_empty_table_is_empty(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0")
    register(spark)
    assert spark.read.format(FORMAT).options(**scripts.options()).load().count() == 0
