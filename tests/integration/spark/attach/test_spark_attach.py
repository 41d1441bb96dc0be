"""Attached streams as a planner makes them: computed attributes, row watermarks, functions, and any other source of Spark's."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import keep_time_attribute, register
from datasources.errors import QueryError
from datasources.expressions.arrow_function import arrow_function
from datasources.session import FORMATS
from datasources.spark.attach.assigner import _row_watermark, assign_watermark
from datasources.spark.attach.attach import _LOCAL_ROW_WATERMARK, AttachedColumn, attach
from datasources.spark.attach.register import register_formats
from datasources.spark.scan.time_attributes import DELAY_KEY, PROCTIME, ROWTIME, TIME_KEY
from tests.support.spark.scripted_stream import Scripts, drain, instant, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

COMPUTED = {
    "watermark.for": "d",
    "watermark.rowtime": "ts + INTERVAL '5' SECOND",
    "watermark.as": "ts + INTERVAL '5' SECOND - INTERVAL '1' SECOND",
}
CLOCK = {"watermark.for": "pt", "watermark.as": None, "watermark.processing-time": "always"}
D = AttachedColumn(name="d", expression="ts + INTERVAL '5' SECOND", time=ROWTIME, is_event_time=True)
NEW_YORK = {"spark.sql.session.timeZone": "America/New_York"}


@pytest.fixture
def scripts(tmp_path):
    found = Scripts(tmp_path / "scripts")
    found.append("s-0", (1, "a", "a1"), (12, "b", "b12"), (25, "c", "c25"))
    return found


def windows(df, column):
    return df.groupBy(F.window(column, "10 seconds")).count().selectExpr("unix_timestamp(window.start)", "count")


def generated_code(query):
    """What Spark compiles for the newest batch."""
    debug = getattr(getattr(query.spark._jvm.org.apache.spark.sql.execution.debug, "package$"), "MODULE$")
    plan = query.query._jsq.streamingQuery().lastExecution().executedPlan()
    return {line for line in debug.codegenString(plan).splitlines() if line.startswith("/*")}


def test_every_batch_runs_the_code_that_the_first_one_compiled(spark, scripts):
    """Compiling takes longer than a small batch, and what is new is interpreted first."""
    with settings(spark, {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}):
        codes = []
        with running(scripts.stream(spark).groupBy(F.window("ts", "10 seconds")).count(), "update") as query:
            for second in (31, 42, 53):
                scripts.append("s-0", (second, "a", ""), (second + 1, "b", ""))
                query.wait_for(lambda running_, to=second: running_.watermarks[-1:] == [to])
                codes.append(generated_code(query))
    assert len(codes[0]) > 100
    assert codes[1] == codes[2]


def time_attributes(schema):
    marks = ((field.name, (field.metadata or {}).get(TIME_KEY)) for field in schema.fields)
    return {name: mark for name, mark in marks if mark is not None}


def test_columns_are_marked_as_the_planner_decides(spark, scripts):
    columns = [
        AttachedColumn(name="k"),
        D,
        AttachedColumn(name="raw", expression="ts", time=ROWTIME),
        AttachedColumn(name="pt", expression="current_timestamp()", time=PROCTIME),
    ]
    df = attach(scripts.loaded(spark, COMPUTED), columns, row_watermark_as="stamp")
    assert df.columns == ["k", "d", "raw", "pt", "stamp"]
    assert time_attributes(df.schema) == {"d": "rowtime", "raw": "rowtime", "pt": "proctime"}
    marks = {f.name: f.metadata for f in df.schema.fields}
    assert marks["d"] == {DELAY_KEY: 1_000, TIME_KEY: "rowtime"}
    assert marks["raw"] == {TIME_KEY: "rowtime"}
    assert marks["k"] == marks["stamp"] == {}
    assert time_attributes(scripts.stream(spark).schema) == {"ts": "rowtime"}
    assert time_attributes(df.selectExpr("d AS e", "date_trunc('DAY', d) AS f").schema) == {"e": "rowtime"}


def test_a_computed_attribute_a_function_and_what_was_pushed_down_in_one_query(spark, scripts):
    def behind(moments: pa.Array, seconds: pa.Array) -> pa.Array:
        return pc.subtract(moments, pc.multiply(seconds, pa.scalar(1_000_000, pa.duration("us"))))

    functions = {"behind": arrow_function("TIMESTAMP")(behind)}
    register_formats(spark, FORMATS, functions=functions)
    try:
        options = {
            **COMPUTED,
            "watermark.as": "behind(ts + INTERVAL '5' SECOND, at * 0L + 1L)",
            "scan.metadata": "at FROM position",
            "scan.columns": "ts",
            "scan.filter": "k <> 'c' AND behind(ts, 1L) < TIMESTAMP '2000-01-01 00:00:00Z'",
        }
        loaded = scripts.loaded(spark, options)
        assert loaded.columns == ["ts", "_watermark", "_heartbeat"]
        rows, query = drain(windows(attach(loaded, [D]), "d"))
    finally:
        register_formats(spark, FORMATS, functions={})
    assert sorted(rows) == [(0, 1), (10, 1)]  # 6 and 17; the row of 30 was filtered away, and yet moved the watermark
    assert query.watermarks[-1] == 29


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_the_row_watermark_has_the_type_of_the_attribute(spark, tmp_path, kind):
    scripts = Scripts(tmp_path / "scripts", schema=f"ts {kind}, v STRING")
    texts = ["2026-03-08T06:30:00", "2026-03-08T07:30:00", "2026-07-01T00:00:00.123"]
    zone = "Z" if kind == "TIMESTAMP" else ""
    scripts.append("s-0", *({"ts": text + zone, "v": text} for text in texts))
    with settings(spark, NEW_YORK):
        register(spark)
        df = scripts.loaded(spark, {"pipeline.auto-watermark-interval": "0", "watermark.as": "ts"})
        df = attach(df, [AttachedColumn(name="v")], row_watermark_as="stamp")
        wall = "stamp" if kind == "TIMESTAMP_NTZ" else "to_utc_timestamp(stamp, 'America/New_York')"
        rows, _ = drain(df.selectExpr("v", f"date_format({wall}, 'yyyy-MM-dd HH:mm:ss.SSS')", "typeof(stamp)"))
    assert [row[2] for row in rows] == [kind.lower()] * 3
    assert dict(row[:2] for row in rows) == {
        texts[0]: None,
        texts[1]: "2026-03-08 06:30:00.000",
        texts[2]: "2026-03-08 07:30:00.000",
    }


def test_windows_of_processing_time_close_with_the_clock(spark, scripts):
    columns = [AttachedColumn(name="pt", expression="current_timestamp()", time=PROCTIME, is_event_time=True)]
    df = attach(scripts.loaded(spark, {**CLOCK, "scan.columns": ""}), columns)
    counts = df.groupBy(F.window("pt", "100 milliseconds")).count().select("count")
    with running(counts) as query:
        query.wait_for(lambda q: q.rows() != [])
        assert sum(count for (count,) in query.rows()) == 3


# -- any source of Spark's --


def test_a_watermark_that_spark_makes_closes_windows_whatever_is_filtered_above(spark, tmp_path):
    source = tmp_path / "files"
    source.mkdir()
    lines = [{"n": 1_000, "k": "a"}, {"n": 12_000, "k": "b"}, {"n": None, "k": "b"}, {"n": 25_000, "k": "c"}]
    (source / "one.json").write_text("\n".join(map(json.dumps, lines)))
    read = spark.readStream.schema("n BIGINT, k STRING").json(str(source))
    columns = [
        AttachedColumn(name="ts", expression="timestamp_millis(n)", time=ROWTIME, is_event_time=True),
        AttachedColumn(name="k"),
    ]
    df = assign_watermark(read, "n - 1000", columns, delay_ms=1_000)
    assert df.columns == ["ts", "k"]
    assert time_attributes(df.schema) == {"ts": "rowtime"}
    assert df.schema["ts"].metadata[DELAY_KEY] == 1_000
    shifted = df.selectExpr("ts + INTERVAL '1' MINUTE AS later")
    assert keep_time_attribute(shifted, "later", shift="1 minute").schema["later"].metadata[DELAY_KEY] == 1_000
    rows, query = drain(windows(df.filter("k <> 'c' AND ts IS NOT NULL"), "ts"))
    assert sorted(rows) == [(0, 1), (10, 1)]
    assert query.watermarks[-1] == 24


CASES = [
    # type, value, what `_watermark` is in ms
    ("TIMESTAMP", "2026-03-08 07:30:00.123456Z", 1_772_955_000_123),
    ("TIMESTAMP", "1969-12-31 23:59:59.999999Z", 0),
    ("TIMESTAMP_NTZ", "2026-03-08 02:30:00.123999", 1_772_937_000_123),  # an hour that New York does not have
    ("TIMESTAMP_NTZ", "2026-11-01 01:30:00", 1_793_496_600_000),  # and one that it has twice
    ("TIMESTAMP_NTZ", "1970-01-01 00:00:00.001", 1),
    ("TIMESTAMP_NTZ", "1582-10-10 00:00:00", 0),
    ("TIMESTAMP_NTZ", "9999-12-31 23:59:59.999999", 253_402_300_799_999),
    ("BIGINT", "1772955000123", 1_772_955_000_123),
    ("BIGINT", "-1", 0),
    ("BIGINT", "9223372036854775807", 253_402_300_799_999),
    ("INT", "7", 7),
    *((kind, None, 0) for kind in ("TIMESTAMP", "TIMESTAMP_NTZ", "BIGINT")),
]


def test_the_candidate_of_a_row_does_not_depend_on_the_zone_of_the_session(spark):
    with settings(spark, NEW_YORK):
        typed = [
            (f"CAST({'NULL' if value is None else repr(value)} AS {kind})", expected) for kind, value, expected in CASES
        ]
        types = [f.dataType for f in spark.range(1).selectExpr(*(text for text, _ in typed)).schema.fields]
        row_watermarks = [
            f"unix_micros({_row_watermark(text, kind)})" for (text, _), kind in zip(typed, types, strict=True)
        ]
        row = spark.range(1).selectExpr(*row_watermarks).first()
    assert [value / 1_000 for value in row] == [expected for _, expected in typed]


def test_a_local_row_watermark_is_the_wall_clock_in_utc(spark):
    texts = ["2026-03-08 07:30:00.123Z", "2026-11-01 05:30:00Z", "9999-12-31 23:59:59.999Z", "1970-01-01 00:00:00.001Z"]
    with settings(spark, NEW_YORK):
        moments = spark.createDataFrame([(t,) for t in [*texts, "1970-01-01 00:00:00Z"]], "t STRING")
        with_text = moments.selectExpr("t", "CAST(t AS TIMESTAMP) AS _watermark").selectExpr(
            "t", f"{_LOCAL_ROW_WATERMARK} AS stamp"
        )
        found = {row.t: row.text for row in with_text.selectExpr("t", "CAST(stamp AS STRING) AS text").collect()}
    assert found == {**{text: text.removesuffix("Z") for text in texts}, "1970-01-01 00:00:00Z": None}


@pytest.mark.parametrize(
    ("expression", "how", "message"),
    [
        (
            "value",
            {},
            "the watermark 'value' is STRING, and has to be TIMESTAMP, TIMESTAMP_NTZ, or BIGINT epoch milliseconds.",
        ),
        (
            "ts",
            {"row_watermark_as": "s"},
            "the watermark of this source is made by Spark, so a row does not know the watermark before it",
        ),
    ],
)
def test_what_spark_cannot_assign_is_refused(spark, expression, how, message):
    df = spark.createDataFrame([("x",)], "value STRING").withColumn("ts", F.current_timestamp())
    with pytest.raises(QueryError) as caught:
        assign_watermark(df, expression, [AttachedColumn(name="ts", time=ROWTIME, is_event_time=True)], **how)
    assert caught.value.message.startswith(message)


def test_a_source_with_a_column_of_ours_is_refused(spark):
    df = spark.createDataFrame([("x",)], "_late STRING")
    with pytest.raises(QueryError, match="the column '_late' has a name that Tidemark uses itself: rename it."):
        assign_watermark(df, "now()", [])


def test_instants_are_what_the_scripts_hold():
    assert instant(1) == "1970-01-01T00:00:01.000000Z"
