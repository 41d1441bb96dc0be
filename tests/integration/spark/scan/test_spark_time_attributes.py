"""Which columns operators take for event time, and what stands between the source and Spark's watermark."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import keep_time_attribute
from datasources.errors import QueryError
from tests.support.project import ROOT
from tests.support.spark.scripted_stream import Scripts, drain, first_line, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("tiny_queries")]

MARK = "spark.watermarkDelayMs"
DOCS = ROOT / "docs" / "time-attributes.md"
PLAIN = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}


@pytest.fixture
def scripts(tmp_path):
    found = Scripts(tmp_path / "scripts")
    found.append("s-0", (1, "a", "a1"), (12, "b", "b12"), (25, "c", "c25"))
    return found


def documented(heading: str) -> list[tuple[str, str]]:
    section = DOCS.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `(.+)` \| `(\w+)` \|$", section, re.MULTILINE)


def evaluate(line: str, spark: Any, scripts: Scripts) -> Any:
    df = scripts.stream(spark)
    df.createOrReplaceTempView("stream")
    names = {
        "df": df,
        "F": F,
        "spark": spark,
        "other": scripts.stream(spark),
        "plain": scripts.stream(spark, PLAIN),
        "static": spark.createDataFrame([("a", "Ada")], "k STRING, name STRING"),
        "same": lambda batches: batches,
    }
    return eval(line, names)  # noqa: S307 - the project's own documentation


def windows(df: Any, column: str = "ts") -> Any:
    return df.groupBy(F.window(column, "10 seconds")).count().selectExpr("unix_timestamp(window.start)", "count")


def test_the_documentation_lists_what_it_should():
    assert len(documented("Keeps it")) == 21
    assert len(documented("Loses it")) == 9


def except_on_connect(cases: list[tuple[str, str]]) -> list[Any]:
    """The page says so: withColumn makes an ordinary column there, whatever it is given."""
    return [
        pytest.param(*case, marks=pytest.mark.classic) if ".withColumn(" in case[0] else pytest.param(*case)
        for case in cases
    ]


@pytest.mark.parametrize(("line", "column"), except_on_connect(documented("Keeps it")))
def test_what_keeps_the_attribute_by_the_documentation_does(spark, scripts, line, column):
    assert evaluate(line, spark, scripts).schema[column].metadata[MARK] == 1_000


@pytest.mark.parametrize(("line", "column"), documented("Loses it"))
def test_what_loses_the_attribute_by_the_documentation_does(spark, scripts, line, column):
    lost = evaluate(line, spark, scripts)
    assert MARK not in lost.schema[column].metadata
    kept = keep_time_attribute(lost, column)
    assert kept.columns == lost.columns
    assert kept.schema[column].metadata[MARK] == 1_000


def test_a_window_over_a_lost_attribute_is_refused_and_over_a_restored_one_follows_the_reader(spark, scripts):
    lost = scripts.stream(spark).mapInArrow(lambda batches: batches, "ts TIMESTAMP, k STRING, v STRING")
    with pytest.raises(AnalysisException, match="without watermark"):
        drain(windows(lost))
    rows, query = drain(windows(keep_time_attribute(lost, "ts")))
    assert sorted(rows) == [(0, 1), (10, 1)]
    assert query.watermarks[-1] == 24


@pytest.mark.parametrize("expression", ["ts - INTERVAL 1 HOUR", "ts + INTERVAL '-1' HOUR", "ts - make_interval(0,0,1)"])
def test_a_time_attribute_is_not_restored_on_times_that_moved_to_the_past(spark, scripts, expression):
    shifted = scripts.stream(spark).withColumn("ts", F.expr(expression))
    with pytest.raises(QueryError, match=r"moves it to the past.*watermark\.as"):
        keep_time_attribute(shifted, "ts")
    with pytest.raises(QueryError, match="to the past"):
        keep_time_attribute(shifted, "ts", shift="-1 hour")


def test_a_time_attribute_is_restored_on_times_that_moved_forward(spark, scripts):
    shifted = scripts.stream(spark).withColumn("ts", F.expr("ts + INTERVAL 1 HOUR"))
    assert keep_time_attribute(shifted, "ts").schema["ts"].metadata[MARK] == 1_000
    assert keep_time_attribute(shifted, "ts", shift="1 hour").schema["ts"].metadata[MARK] == 1_000


def test_only_a_timestamp_of_an_attached_stream_can_be_restored(spark, scripts):
    attached = scripts.stream(spark)
    with pytest.raises(QueryError, match="no column 'nope'"):
        keep_time_attribute(attached, "nope")
    with pytest.raises(QueryError, match="'v' is string, not a timestamp"):
        keep_time_attribute(attached, "v")
    with pytest.raises(QueryError, match="does not come from a stream that was attached"):
        keep_time_attribute(scripts.stream(spark, PLAIN), "ts")


def test_a_union_that_begins_with_a_plain_stream_is_refused(spark, scripts):
    with pytest.raises(AnalysisException, match="without watermark"):
        drain(windows(scripts.stream(spark, PLAIN).union(scripts.stream(spark))))


def test_a_second_watermark_on_an_attached_stream_is_refused_by_spark(spark, scripts):
    with pytest.raises(Exception, match="Redefining watermark is disallowed") as caught:
        drain(windows(scripts.stream(spark).withWatermark("ts", "5 seconds")))
    assert "Redefining watermark" in first_line(caught.value)


def two_attributes(directory: Path) -> Scripts:
    scripts = Scripts(directory, schema="ts TIMESTAMP, ts2 TIMESTAMP, v STRING")
    scripts.append("s-0", *({"ts": f"1970-01-01T00:00:{s}Z", "ts2": f"1970-01-01T00:00:{s}Z"} for s in (10, 11, 45)))
    return scripts


def test_one_attribute_is_marked_unless_more_are_asked_for(spark, tmp_path):
    scripts = two_attributes(tmp_path)
    schema = scripts.stream(spark).schema
    assert [field.name for field in schema if MARK in field.metadata] == ["ts"]
    schema = scripts.stream(spark, None, "ts", "ts2").schema
    assert [field.name for field in schema if MARK in field.metadata] == ["ts", "ts2"]


def test_with_two_attributes_a_window_over_one_of_them_works(spark, tmp_path):
    df = two_attributes(tmp_path).stream(spark, None, "ts", "ts2")
    assert drain(windows(df, "ts2"))[0] == [(10, 2)]


def test_grouping_by_two_time_attributes_fails_before_the_query_starts(spark, tmp_path):
    df = two_attributes(tmp_path).stream(spark, None, "ts", "ts2")
    with pytest.raises(Exception, match=r"MULTIPLE_EVENT_TIME_COLUMNS|event time columns") as caught:
        drain(df.dropDuplicates(["ts", "ts2"]))
    assert "event" in first_line(caught.value).lower()


@pytest.mark.parametrize(
    ("expression", "options", "delay_ms"),
    [
        ("ts - INTERVAL '5' SECOND", {}, 5_000),
        ("ts", {}, 0),
        ("ts - INTERVAL '5' SECOND", {"watermark.dedup-horizon": "1 min"}, 5_000),
        ("CASE WHEN k = 'a' THEN ts END", {}, 0),
        ("CASE WHEN k = 'a' THEN ts END", {"watermark.dedup-horizon": "1 min"}, 60_000),
    ],
)
def test_the_dedup_horizon_is_the_constant_bound_or_the_option(spark, scripts, expression, options, delay_ms):
    df = scripts.stream(spark, {"watermark.as": expression, **options})
    assert df.schema["ts"].metadata[MARK] == delay_ms


def test_duplicates_within_the_bound_are_dropped_although_the_watermark_passed_the_first(spark, tmp_path):
    """a@1 is remembered to 6; the watermark is 1.5 when a@4 comes. With a horizon of 0 a@4 would be emitted."""
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "a1"), (6.5, "b", "b6"))
    df = scripts.stream(spark, {"watermark.as": "ts - INTERVAL '5' SECOND"}).dropDuplicatesWithinWatermark(["k"])
    with running(df.select("v")) as query:
        query.drain()
        scripts.append("s-0", (4, "a", "dup"), (20, "c", "c20"))
        query.drain()
        scripts.append("s-0", (16, "a", "a16"))  # forgotten by now: the watermark is 15
        query.drain()
        assert query.rows() == [("a1",), ("b6",), ("c20",), ("a16",)]


@pytest.mark.classic
def test_a_horizon_of_zero_under_dedup_is_a_warning(spark, scripts, caplog):
    df = scripts.stream(spark, {"watermark.as": "CASE WHEN k = 'a' THEN ts END"})
    with caplog.at_level(logging.WARNING):
        drain(df.dropDuplicatesWithinWatermark(["k"]))
    assert any("watermark.dedup-horizon" in record.getMessage() for record in caplog.records)


FILTERS = [
    "v <> 'd'",
    "ts IS NOT NULL",
    "ts > TIMESTAMP '1970-01-01 00:00:10' AND k = 'a'",
    "v IS NULL OR k IN ('a', 'b')",
    "rand() < 0.5 AND k = 'a'",
]


def optimized(df: Any, capsys: Any) -> str:
    df.explain(extended=True)
    return capsys.readouterr().out.split("== Optimized Logical Plan ==", 1)[1].split("== Physical Plan ==", 1)[0]


def assert_no_filter_but_on_heartbeats(plan: str) -> None:
    filters = [line for line in plan.splitlines() if "Filter" in line]
    assert all(re.search(r"Filter isnotnull\(_heartbeat#\d+\)$", line) for line in filters), plan


@pytest.mark.parametrize("condition", FILTERS)
def test_no_filter_of_the_user_stands_below_the_watermark(spark, scripts, condition, capsys):
    plan = optimized(windows(scripts.stream(spark).filter(condition)), capsys)
    above, below = plan.split("EventTimeWatermark")
    assert "Filter" in above
    assert "cast(_heartbeat" in above
    assert_no_filter_but_on_heartbeats(below)


def test_a_join_condition_does_not_reach_below_the_watermark_either(spark, scripts, capsys):
    left, right = scripts.stream(spark).alias("x"), scripts.stream(spark).alias("y")
    joined = left.join(right, F.expr("x.k = y.k AND x.ts = y.ts AND x.v <> 'd'"))
    _, first, second = optimized(joined, capsys).split("EventTimeWatermark")
    # What follows the first source's subtree in the text is the other branch.
    assert_no_filter_but_on_heartbeats(first.split("StreamingRelation", 1)[0])
    assert_no_filter_but_on_heartbeats(second)


def test_a_filter_changes_the_result_and_never_the_watermark(spark, scripts):
    rows, query = drain(windows(scripts.stream(spark).filter("v = 'a1'")))
    assert rows == [(0, 1)]
    assert query.watermarks[-1] == 24


def test_a_nested_attribute_becomes_a_column_of_its_own(spark, tmp_path):
    scripts = Scripts(tmp_path, schema="a STRUCT<b: STRUCT<c: TIMESTAMP>>, v STRING")
    rows = [{"a": {"b": {"c": f"1970-01-01T00:00:{s}Z"}}, "v": s} for s in ("01", "12", "25")]
    scripts.append("s-0", *rows)
    df = scripts.stream(spark, {"watermark.for": "a.b.c", "watermark.as": "a.b.c - INTERVAL '1' SECOND"})
    assert df.columns == ["a", "v", "a_b_c"]
    assert df.schema["a_b_c"].metadata[MARK] == 1_000
    found, query = drain(windows(df, "a_b_c"))
    assert sorted(found) == [(0, 1), (10, 1)]
    assert query.watermarks[-1] == 24


def test_an_attribute_without_zone_is_read_as_utc_whatever_the_session_zone(spark, tmp_path):
    scripts = Scripts(tmp_path, schema="ts TIMESTAMP_NTZ, v STRING")
    scripts.append("s-0", *({"ts": f"1970-01-01T00:00:{s}", "v": s} for s in ("01", "12", "25")))
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        df = scripts.stream(spark).groupBy(F.window("ts", "10 seconds")).count()
        found, query = drain(df.selectExpr("CAST(window.start AS STRING)", "count"))
    assert sorted(found) == [("1970-01-01 00:00:00", 1), ("1970-01-01 00:00:10", 1)]
    assert query.watermarks[-1] == 24
