"""SESSION windows on real Spark: Flink's answers, restarts, types that pandas would spoil, errors."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import QueryError
from datasources.spark.attach.attach import with_source_watermark
from datasources.spark.operators import session_windows
from tests.support.oracles.oracle import SCHEMA, load_case, normal_rows, oracle_stream
from tests.support.spark.scripted_stream import PROVIDER, DyingSink, Scripts, process_all, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("operator_queries")]

GAP_MS = 7_000


def sessions_of(df: Any, buckets: int = 2) -> Any:
    return session_windows(df, keys=["k"], attribute="ts", gap_ms=GAP_MS, buckets=buckets)


@pytest.mark.parametrize(
    ("name", "rows_per_batch"),
    [
        ("stream_03", 7),
        *(
            pytest.param(name, rows, marks=pytest.mark.full)
            for name, rows in (
                ("stream_05", 1_000),
                ("stream_00", 7),
                ("stream_03", 1),
                ("stream_05", 7),
                ("stream_00", 1_000),
                ("stream_03", 1_000),
            )
        ),
    ],
)
def test_an_aggregate_over_the_windows_gives_flinks_answer(spark, tmp_path, name, rows_per_batch):
    windows = sessions_of(oracle_stream(spark, tmp_path, name, rows_per_batch))
    groups = with_source_watermark(windows, "window_end").groupBy("window_start", "window_end", "k").count()
    texts = groups.select(
        F.col("window_start").cast("timestamp_ntz"), F.col("window_end").cast("timestamp_ntz"), "k", "count"
    )
    with running(texts) as query:
        process_all(query.query)
        query.drain()
        found = [tuple(row) for row in spark.table(query.name).collect()]
        assert normal_rows(found) == load_case(name).answers["session_key"].inserted
        dropped = [operator.numRowsDroppedByWatermark for p in query.progress for operator in p.stateOperators]
        assert set(dropped) == {0}
        assert query.counted("late_rows") == len(load_case(name).rows) - sum(row[3] for row in found)


def test_a_batch_gives_flinks_answer_where_nothing_is_late(spark, tmp_path):
    case = load_case("stream_03")
    scripts = Scripts(tmp_path, schema=SCHEMA)
    scripts.append("s-0", *(row.record for row in case.rows))
    plain = scripts.options({"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None})
    loaded = spark.read.format("tidemark-scripted").options(**plain).load()
    groups = sessions_of(loaded).groupBy("window_start", "window_end", "k").count()
    found = groups.select(
        F.col("window_start").cast("timestamp_ntz"), F.col("window_end").cast("timestamp_ntz"), "k", "count"
    )
    assert normal_rows(found.collect()) == case.answers["session_key"].inserted


@pytest.mark.long
def test_a_query_that_died_goes_on_as_if_it_had_not_and_refuses_other_buckets(spark, tmp_path):
    batches: dict[int, list[tuple[Any, ...]]] = {}

    def run(buckets: int, dies_in: int | None) -> None:
        windows = sessions_of(oracle_stream(spark, tmp_path, "stream_00", 16), buckets)
        attached = with_source_watermark(windows).selectExpr(
            "cast(window_start as timestamp_ntz) s", "cast(window_end as timestamp_ntz) e", "k"
        )
        with running(attached, checkpoint=tmp_path / "checkpoint", for_each=DyingSink(batches, dies_in)) as query:
            process_all(query.query)

    with pytest.raises(StreamingQueryException, match="died"):
        run(buckets=2, dies_in=2)
    with pytest.raises(StreamingQueryException) as refused:
        run(buckets=3, dies_in=None)
    reason = "[TIDEMARK_OFFSET] the checkpoint's session windows were made with other settings: buckets was 2 and is 3."
    assert reason in str(refused.value)
    run(buckets=2, dies_in=None)
    counts = Counter(row for rows in batches.values() for row in rows)
    assert (
        normal_rows((*window, count) for window, count in counts.items())
        == load_case("stream_00").answers["session_key"].inserted
    )


WIDE = "ts TIMESTAMP_NTZ, k DOUBLE, big BIGINT, amount DECIMAL(20,4), tags ARRAY<STRUCT<a: INT, t: TIMESTAMP>>"
WALL = "2024-03-10 0{}:00"  # in New York the clock went from 2 to 3 that night; a wall clock knows nothing of it
WIDE_ROWS = [
    {
        "ts": WALL.format("1:59"),
        "k": -0.0,
        "big": 9_007_199_254_740_993,
        "amount": "1.0001",
        "tags": [{"a": 1, "t": "2500-01-01T00:00:00Z"}],
    },
    {"ts": WALL.format("2:30"), "k": 0.0, "big": None, "amount": None, "tags": None},
    {"ts": WALL.format("3:02"), "k": 0.0, "big": 3, "amount": "2", "tags": []},
    {"ts": None, "k": 0.0, "big": 4, "amount": None, "tags": None},
    {"ts": WALL.format("2:31"), "k": None, "big": 5, "amount": None, "tags": None},
    {"ts": WALL.format("2:40"), "k": None, "big": 6, "amount": None, "tags": None},
]
WIDE_WANTED = [
    (
        9_007_199_254_740_993,
        datetime(2024, 3, 10, 1, 59),
        datetime(2024, 3, 10, 3, 1),
        datetime(2024, 3, 10, 3, 0, 59, 999_000),
    ),
    (None, datetime(2024, 3, 10, 1, 59), datetime(2024, 3, 10, 3, 1), datetime(2024, 3, 10, 3, 0, 59, 999_000)),
    (3, datetime(2024, 3, 10, 3, 2), datetime(2024, 3, 10, 3, 33), datetime(2024, 3, 10, 3, 32, 59, 999_000)),
    (5, datetime(2024, 3, 10, 2, 31), datetime(2024, 3, 10, 3, 11), datetime(2024, 3, 10, 3, 10, 59, 999_000)),
    (6, datetime(2024, 3, 10, 2, 31), datetime(2024, 3, 10, 3, 11), datetime(2024, 3, 10, 3, 10, 59, 999_000)),
]


@pytest.mark.long
def test_wall_clocks_wide_rows_and_unusual_keys_equal_the_batch(spark, tmp_path):
    scripts = Scripts(tmp_path, schema=WIDE)
    scripts.append("s-0", *WIDE_ROWS[:4])
    scripts.append("s-1", *WIDE_ROWS[4:])
    options = {"watermark.as": "ts - INTERVAL '1' HOUR", "scripted.bounded": "true"}
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        stream = session_windows(
            scripts.loaded(spark, options), keys=["K"], attribute="ts", gap_ms=31 * 60_000, buckets=3
        )
        with running(with_source_watermark(stream, "window_end")) as query:
            query.drain()
            found = [row.asDict() for row in spark.table(query.name).collect()]
            assert query.counted("null_rowtime_rows") == 1
            assert query.counted("late_rows") == 0
        loaded = spark.read.format("tidemark-scripted").options(**scripts.options(options)).load()
        batch = session_windows(loaded, keys=["k"], attribute="ts", gap_ms=31 * 60_000)
        from_batch = [row.asDict() for row in batch.drop("_watermark", "_heartbeat").collect()]
    windows = [(row["big"], row["window_start"], row["window_end"], row["window_time"]) for row in found]
    assert sorted(windows, key=repr) == sorted(WIDE_WANTED, key=repr)
    assert sorted(map(repr, found)) == sorted(map(repr, from_batch))


REFUSED = [
    ({"keys": ["nothing"]}, "there is no column 'nothing' to partition by"),
    ({"keys": ["tags"]}, "column 'tags' of type ARRAY<STRUCT<A:INT,T:TIMESTAMP>> cannot be a key"),
    ({"attribute": "nothing"}, "there is no column 'nothing' for the time attribute"),
    ({"attribute": "big"}, "column 'big' is BIGINT, but a time attribute is a TIMESTAMP or a TIMESTAMP_NTZ"),
    ({"gap_ms": 0}, "the gap of session windows is 0 ms: it must be at least 1 ms"),
    ({"buckets": 0}, "buckets = 0: it must be between 1 and 4096"),
]


def test_what_cannot_work_is_refused_before_anything_runs(spark, tmp_path):
    loaded = Scripts(tmp_path, schema=WIDE).loaded(spark)
    right = {"keys": ["k"], "attribute": "ts", "gap_ms": 1_000}
    for change, reason in REFUSED:
        with pytest.raises(QueryError, match=reason):
            session_windows(loaded, **{**right, **change})
    with pytest.raises(QueryError, match="already has a column 'window_end'"):
        session_windows(loaded.withColumn("window_end", F.col("ts")), **right)
    with pytest.raises(QueryError, match="attached already"):
        session_windows(with_source_watermark(loaded), **right)
    with (
        settings(spark, {PROVIDER: "org.example.Other"}),
        pytest.raises(QueryError, match="is 'org.example.Other', but"),
    ):
        session_windows(loaded, **right)
