"""OVER windows on real Spark: Flink's answers, restarts, batches, types that pandas would spoil, errors."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import OverFrame, over, with_source_watermark
from datasources.errors import QueryError
from tests.support.forms import full
from tests.support.oracles.oracle import CASES, load_case, oracle_stream
from tests.support.spark.scripted_stream import PROVIDER, DyingSink, Scripts, process_all, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("operator_queries")]

QUERIES = {
    "over_range": ("SUM(v)", OverFrame.range(10_000)),
    "over_rows": ("COUNT(v)", OverFrame.rows(2)),
    "over_unbounded": ("SUM(v)", OverFrame.range()),
}


def answer_of(df: Any, query: str, buckets: int = 2) -> Any:
    call, frame = QUERIES[query]
    return over(df, {"r": call}, keys=["k"], attribute="ts", frame=frame, buckets=buckets)


def samples() -> list[Any]:
    default_cases = [
        ("stream_00", "over_range", 7),
        ("stream_03", "over_unbounded", 1),
    ]
    every = [(name, query, rows) for name in CASES for query in QUERIES for rows in (1, 7, 1_000)]
    every = [each for each in every if each[0] == "stream_03" or each[2] > 1]
    return [each if each in default_cases else pytest.param(*each, marks=pytest.mark.full) for each in every]


@pytest.mark.parametrize(("name", "query", "rows_per_batch"), samples())
def test_over_gives_flinks_answer_at_any_size_of_batches(spark, tmp_path, name, query, rows_per_batch):
    attached = with_source_watermark(answer_of(oracle_stream(spark, tmp_path, name, rows_per_batch), query))
    with running(attached.select("id", "r")) as run:
        process_all(run.query)
        run.drain()
        found = sorted((tuple(row) for row in spark.table(run.name).collect()), key=repr)
        assert found == load_case(name).answers[query].inserted
        assert run.counted("late_rows") == len(load_case(name).rows) - len(found)


@pytest.mark.classic
def test_available_now_gives_the_whole_answer_of_a_bounded_stream_and_ends(spark, tmp_path):
    attached = with_source_watermark(answer_of(oracle_stream(spark, tmp_path, "stream_00", 16), "over_range"))
    found: list[tuple[Any, ...]] = []
    keep = {"for_each": lambda df, _: found.extend(tuple(row) for row in df.collect())}
    with running(attached.select("id", "r"), trigger={"availableNow": True}, **keep) as run:
        assert run.query.awaitTermination(120)
    assert sorted(found, key=repr) == load_case("stream_00").answers["over_range"].inserted


@pytest.mark.full
def test_a_query_that_died_goes_on_as_if_it_had_not_and_refuses_other_buckets(spark, tmp_path):
    batches: dict[int, list[tuple[Any, ...]]] = {}

    def run(buckets: int, dies_in: int | None) -> None:
        answer = answer_of(oracle_stream(spark, tmp_path, "stream_00", 16), "over_range", buckets)
        attached = with_source_watermark(answer).select("id", "r")
        with running(attached, checkpoint=tmp_path / "checkpoint", for_each=DyingSink(batches, dies_in)) as query:
            process_all(query.query)

    with pytest.raises(StreamingQueryException, match="died"):
        run(buckets=2, dies_in=2)
    with pytest.raises(StreamingQueryException) as refused:
        run(buckets=3, dies_in=None)
    reason = "[TIDEMARK_OFFSET] the checkpoint's OVER windows were made with other settings: buckets was 2 and is 3."
    assert reason in str(refused.value)
    run(buckets=2, dies_in=None)
    found = sorted((row for rows in batches.values() for row in rows), key=repr)
    assert found == load_case("stream_00").answers["over_range"].inserted


def test_an_aggregate_behind_it_takes_no_row_for_late_and_sees_the_watermark(spark, tmp_path):
    answer = answer_of(oracle_stream(spark, tmp_path, "stream_03", 7), "over_rows")
    groups = with_source_watermark(answer).groupBy(F.window("ts", "20 seconds")).count()
    with running(groups) as run:
        process_all(run.query)
        run.drain()
        total = sum(row["count"] for row in spark.table(run.name).collect())
        assert total == len(load_case("stream_03").answers["over_rows"].rows)


WIDE = (
    "ts TIMESTAMP_NTZ, k DOUBLE, big BIGINT, amount DECIMAL(20,4), s STRING, at TIMESTAMP, tags ARRAY<STRUCT<a: INT>>"
)
WALL = "2024-03-10 0{}:00"  # in New York the clock went from 2 to 3 that night; a wall clock knows nothing of it
WIDE_ROWS = [
    {"ts": WALL.format("1:59"), "k": -0.0, "big": 9_007_199_254_740_993, "amount": "1.0001", "s": "a", "tags": []},
    {"ts": WALL.format("2:30"), "k": 0.0, "big": None, "amount": None, "s": None, "at": "2500-01-01T00:00:00Z"},
    {"ts": WALL.format("3:02"), "k": 0.0, "big": 3, "amount": "2", "s": "c", "tags": [{"a": 1}]},
    {"ts": None, "k": 0.0, "big": 4},
    {"ts": WALL.format("2:31"), "k": None, "big": 5, "s": "ä"},
    {"ts": WALL.format("2:40"), "k": None, "big": 6, "amount": "-0.0003", "at": "1969-12-31T23:59:59.999999Z"},
]
EVERY_AGGREGATE = {
    "total": "SUM(big)",
    "exact": "sum(amount * 2)",
    "mean": "avg(amount)",
    "rough": "AVG(big)",
    "known": "COUNT(s)",
    "rows": "COUNT(*)",
    "least": "MIN(s)",
    "newest": "MAX(at)",
    "begin": "FIRST_VALUE(big)",
    "tag": "LAST_VALUE(tags) IGNORE NULLS",
    "text": "first_value(concat(s, '!')) ignore nulls",
}


@pytest.mark.parametrize(
    "frame", [OverFrame.range(32 * 60_000), *full(OverFrame.rows(1), OverFrame.rows(), OverFrame.range())]
)
def test_wide_rows_unusual_keys_and_every_aggregate_equal_the_batch(spark, tmp_path, frame):
    scripts = Scripts(tmp_path, schema=WIDE)
    scripts.append("s-0", *WIDE_ROWS[:4])
    scripts.append("s-1", *WIDE_ROWS[4:])
    options = {"watermark.as": "ts - INTERVAL '1' HOUR", "scripted.bounded": "true"}
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        asked = {"keys": ["K"], "attribute": "ts", "frame": frame}
        answer = over(scripts.loaded(spark, options), EVERY_AGGREGATE, buckets=3, **asked)
        with running(with_source_watermark(answer)) as query:
            query.drain()
            found = [row.asDict() for row in spark.table(query.name).collect()]
            assert query.counted("null_rowtime_rows") == 1
            assert query.counted("late_rows") == 0
        loaded = spark.read.format("tidemark-scripted").options(**scripts.options(options)).load()
        batch = over(loaded, EVERY_AGGREGATE, **asked).drop("_watermark", "_heartbeat")
        assert batch.schema.simpleString() == answer.drop("_watermark", "_heartbeat").schema.simpleString()
        from_batch = [row.asDict() for row in batch.collect()]
    assert len(found) == 5
    assert sorted(map(repr, found)) == sorted(map(repr, from_batch))


def test_row_numbers_by_time_are_the_first_rows_of_each_key(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (5, "a", "z"), (3, "a", "x"), (4, "a", "y"), (6, "b", "w"), (1, None, "n"))
    numbered = over(
        scripts.loaded(spark, {"watermark.as": "ts - INTERVAL '9' SECOND", "scripted.bounded": "true"}),
        {"rn": "ROW_NUMBER()"},
        keys=["k"],
        attribute="ts",
    )
    with running(with_source_watermark(numbered).where("rn <= 2").select("k", "v", "rn")) as query:
        query.drain()
        found = sorted(query.rows(), key=repr)
    assert found == sorted([("a", "x", 1), ("a", "y", 2), ("b", "w", 1), (None, "n", 1)], key=repr)


def test_a_processing_time_gives_each_row_in_the_batch_in_which_it_came(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (5, "a", "1"), (3, "a", "2"), (4, "b", "3"))
    clocked = scripts.loaded(spark).withColumn("at", F.current_timestamp())
    answer = over(
        clocked,
        {"n": "COUNT(*)"},
        keys=["k"],
        attribute="at",
        frame=OverFrame.rows(1),
        processing_time=True,
        ttl_ms=None,
    )
    with running(with_source_watermark(answer).select("v", "n")) as query:
        query.drain()
        assert sorted(query.rows()) == [("1", 1), ("2", 2), ("3", 1)]
        scripts.append("s-0", (1, "a", "4"), (9, "b", "5"))
        query.drain()
        assert sorted(query.rows())[3:] == [("4", 2), ("5", 2)]
        assert query.counted("late_rows") == 0


REFUSED = [
    ({"keys": ["nothing"]}, "there is no column 'nothing' to partition by"),
    ({"keys": ["tags"]}, "column 'tags' of type ARRAY<STRUCT<A:INT>> cannot be a key"),
    ({"attribute": "big"}, "column 'big' is BIGINT, but a time attribute is a TIMESTAMP or a TIMESTAMP_NTZ"),
    ({"aggregates": {}}, "over\\(\\) needs at least one aggregate"),
    ({"aggregates": {"x": "big + 1"}}, "the aggregate 'x' is 'big \\+ 1', but it must be one call"),
    ({"aggregates": {"x": "STDDEV(big)"}}, "STDDEV of 'x' is no aggregate of OVER on a stream: SUM, COUNT"),
    ({"aggregates": {"x": "SUM(DISTINCT big)"}}, "DISTINCT over a window of a stream is not supported"),
    ({"aggregates": {"x": "SUM(missing)"}}, "Spark refuses 'SUM\\(missing\\)' of 'x'"),
    ({"aggregates": {"x": "SUM(s)"}}, "'SUM\\(s\\)' of 'x' is of STRING: cast the argument to a number"),
    ({"aggregates": {"x": "MIN(tags)"}}, "is of ARRAY<STRUCT<A:INT>>, of which a stream has no least or greatest"),
    ({"aggregates": {"x": "SUM(big) IGNORE NULLS"}}, "only FIRST_VALUE and LAST_VALUE take IGNORE NULLS"),
    ({"aggregates": {"x": "ROW_NUMBER(big)"}}, "ROW_NUMBER has no arguments"),
    ({"aggregates": {"x": "ROW_NUMBER()", "y": "SUM(big)"}}, "'x' is a ROW_NUMBER: it stands alone"),
    ({"aggregates": {"x": "SUM()"}}, "'SUM\\(\\)' of 'x' has no argument|Spark refuses"),
    ({"aggregates": {"BIG": "SUM(big)"}}, "there would be two columns 'big': give each its own name"),
    ({"buckets": 0}, "buckets = 0: it must be between 1 and 4096"),
    ({"frame": OverFrame.rows(-1)}, "the frame reaches -1 back: it must be 0 or more"),
    ({"ttl_ms": 0}, "ttl_ms must be at least 1"),
    ({"ttl_ms": 5, "frame": OverFrame.range(5)}, "a bounded RANGE frame takes no ttl_ms"),
]


def test_what_cannot_work_is_refused_before_anything_runs(spark, tmp_path):
    loaded = Scripts(tmp_path, schema=WIDE).loaded(spark)
    right = {"aggregates": {"total": "SUM(big)"}, "keys": ["k"], "attribute": "ts"}
    for change, reason in REFUSED:
        with pytest.raises(QueryError, match=reason):
            over(loaded, **{**right, **change})
    with pytest.raises(QueryError, match="attached already"):
        over(with_source_watermark(loaded), **right)
    with (
        settings(spark, {PROVIDER: "org.example.Other"}),
        pytest.raises(QueryError, match="is 'org.example.Other', but"),
    ):
        over(loaded, **right)


def test_a_time_to_live_gives_the_same_in_a_stream_and_in_a_batch(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", *((second, "a", str(second)) for second in (1, 2, 9, 10, 30)))
    options = {"watermark.as": "ts - INTERVAL '1' MINUTE", "scripted.bounded": "true"}
    asked = {"keys": ["k"], "attribute": "ts", "frame": OverFrame.rows(), "ttl_ms": 5_000}
    with running(with_source_watermark(over(scripts.loaded(spark, options), {"n": "COUNT(*)"}, **asked))) as query:
        query.drain()
        found = sorted((row["v"], row["n"]) for row in spark.table(query.name).collect())
    assert found == [("1", 1), ("10", 2), ("2", 2), ("30", 1), ("9", 1)]
    loaded = spark.read.format("tidemark-scripted").options(**scripts.options(options)).load()
    assert sorted((row["v"], row["n"]) for row in over(loaded, {"n": "COUNT(*)"}, **asked).collect()) == found
