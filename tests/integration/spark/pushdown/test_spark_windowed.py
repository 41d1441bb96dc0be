"""windowed(): the rows of groupBy(window), computed in part by the reader."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import TimeWindow, windowed
from datasources.errors import QueryError
from tests.support.spark.scripted_stream import Scripts, drain, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries", "registered")]

AGGREGATES = {"n": "COUNT(*)", "longest": "MAX(length(v))", "a": "SUM(CAST(v AS INT)) FILTER (WHERE k = 'a')"}
ROWS = [(second, "ab"[second % 2], str(second)) for second in (3, 1, 4, 12, 9, 31, 2, 25, 44, 60)]


@pytest.fixture
def scripts(tmp_path):
    found = Scripts(tmp_path / "scripts")
    found.append("s-0", *ROWS)
    return found


@pytest.mark.parametrize(
    ("window", "own"),
    [
        (TimeWindow.tumble("10 s"), "window(ts, '10 seconds')"),
        (TimeWindow.tumble("10 s", offset="3 s"), "window(ts, '10 seconds', '10 seconds', '3 seconds')"),
        (TimeWindow.hop("20 s", "5 s"), "window(ts, '20 seconds', '5 seconds')"),
    ],
)
def test_the_rows_are_those_of_sparks_own_windows(spark, scripts, window, own):
    df = scripts.stream(spark)
    found = windowed(df, AGGREGATES, window=window, attribute="ts", keys=["k"])
    assert "scan.aggregation" in found._jdf.queryExecution().analyzed().toString()
    rows, _ = drain(found)
    texts = [F.expr(text).alias(name) for name, text in AGGREGATES.items()]
    end = F.col("window.end").alias("window_end")
    expected, _ = drain(
        df.groupBy(F.expr(own).alias("window"), "k").agg(*texts).select("window.start", end, "k", *AGGREGATES)
    )
    assert expected
    assert sorted((start, last, *others) for start, last, _, *others in rows) == sorted(expected)


def test_a_loaded_stream_is_attached(spark, scripts):
    loaded = scripts.loaded(spark)
    rows, _ = drain(windowed(loaded, {"n": "COUNT(*)"}, window=TimeWindow.cumulate("20 s", "10 s"), attribute="ts"))
    assert [(start, end, n) for start, end, _, n in sorted(rows)] == [
        (0.0, 10.0, 5),
        (0.0, 20.0, 6),
        (20.0, 30.0, 1),
        (20.0, 40.0, 2),
        (40.0, 50.0, 1),
    ]


def test_filters_and_projections_below_are_pushed_too(spark, scripts):
    df = scripts.stream(spark).where("k = 'a'").select("ts", F.expr("CAST(v AS INT) * 2").alias("twice"))
    found = windowed(df, {"total": "SUM(twice)"}, window=TimeWindow.tumble("50 s"), attribute="ts")
    rows, _ = drain(found)
    assert [row[-1] for row in rows] == [2 * sum(second for second, k, _ in ROWS if k == "a" and second < 50)]


def is_pushed(df):
    return "scan.aggregation" in df._jdf.queryExecution().analyzed().toString()


@pytest.mark.parametrize(
    ("key", "other"), [("spark.sql.session.timeZone", "+05:00"), ("spark.sql.ansi.enabled", "false")]
)
def test_what_was_made_under_other_settings_stays_in_spark(spark, scripts, key, other):
    window = {"window": TimeWindow.tumble("10 s"), "attribute": "ts"}
    df = scripts.stream(spark)
    number = df.withColumn("x", F.expr("CAST(v AS INT) + 1")).where("ts > TIMESTAMP '1970-01-01 00:00:00Z'")
    with settings(spark, {key: other}):
        assert not is_pushed(windowed(df, {"n": "COUNT(*)"}, **window))
        again = scripts.stream(spark)
        assert is_pushed(windowed(again, {"n": "COUNT(*)"}, **window))
    assert is_pushed(windowed(df, {"n": "COUNT(*)"}, **window))
    assert is_pushed(windowed(number, {"n": "SUM(x)"}, **window))
    with settings(spark, {key: other}):
        other_number = df.withColumn("x", F.expr("CAST(v AS INT) + 1")).where("ts > CAST(v AS TIMESTAMP)")
    assert not is_pushed(windowed(other_number, {"n": "SUM(x)"}, **window))


def test_a_watermark_of_the_users_is_not_ignored(spark, scripts):
    df = scripts.stream(spark).withWatermark("ts", "1 minute")
    assert not is_pushed(windowed(df, {"n": "COUNT(*)"}, window=TimeWindow.tumble("10 s"), attribute="ts"))


@pytest.mark.parametrize(
    ("condition", "aggregate"), [("nullif(v, '0') = '3'", "COUNT(*)"), ("true", "SUM(CAST(nvl(v, '7') AS INT))")]
)
def test_functions_that_are_replaced_take_renamed_columns(spark, scripts, condition, aggregate):
    df = scripts.stream(spark).select("ts", F.col("v").alias("k"), F.col("k").alias("v"))
    df = df.select("ts", F.col("k").alias("x"), "v").select("ts", F.col("x").alias("v"), F.col("v").alias("k"))
    found = windowed(df.where(condition), {"n": aggregate}, window=TimeWindow.tumble("50 s"), attribute="ts")
    rows, _ = drain(found)
    own = df.where(condition).groupBy(F.expr("window(ts, '50 seconds')")).agg(F.expr(aggregate).alias("n"))
    expected, _ = drain(own.select("n"))
    assert expected
    assert [(row[-1],) for row in rows] == expected


def test_a_batch_gives_the_same_columns(spark):
    df = spark.sql("SELECT TIMESTAMP '2024-01-01 00:00:05Z' AS ts, 'x' AS k")
    found = windowed(df, {"n": "COUNT(*)"}, window=TimeWindow.tumble("10 s"), attribute="TS", keys=["k"])
    assert found.columns == ["window_start", "window_end", "window_time", "k", "n"]
    assert [row["n"] for row in found.collect()] == [1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"attribute": "nothing"}, "there is no column 'nothing'"),
        ({"attribute": "v"}, "not a timestamp"),
        ({"keys": ["zip"]}, "there is no column 'zip'"),
        ({"keys": ["k"], "aggregates": {"K": "COUNT(*)"}}, "two columns 'K'"),
        ({"aggregates": {}}, "at least one aggregate"),
        ({"aggregates": {"n": "SUM(nothing)"}}, "cannot be computed"),
    ],
)
def test_what_cannot_be_is_refused(spark, scripts, change, reason):
    given = {"aggregates": {"n": "COUNT(*)"}, "window": TimeWindow.tumble("10 s"), "attribute": "ts", **change}
    with pytest.raises(QueryError, match=reason):
        windowed(scripts.stream(spark), given.pop("aggregates"), **given)


@pytest.mark.parametrize("make", [lambda: TimeWindow.cumulate("10 s", "3 s"), lambda: TimeWindow.tumble("0 s")])
def test_a_window_that_is_none_is_refused(make):
    with pytest.raises(QueryError):
        make()
