"""Results of windows joined with the version of their time: the probe side is an aggregation of an attached stream."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import temporal_join, with_source_watermark
from datasources.errors import QueryError
from tests.support.forms import full_cases
from tests.support.oracles.oracle_joins import JoinCase, load_join_case
from tests.support.spark.scripted_stream import DEADLINE_S, DyingSink, running

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("operator_queries")]

WINDOW_MS = 10_000
OUTER_MS = 30_000


def case() -> JoinCase:
    """Rows up to an hour out of order would keep all windows open to the end: these are at most so far behind."""
    loaded = load_join_case("joins_03")
    highest, behind = 0, 0
    for *_, ts in (*loaded.ev, *loaded.rates):
        highest = max(highest, ts)
        behind = max(behind, highest - ts)
    return replace(loaded, watermark=f"ts - INTERVAL '{behind // 1_000 + 1}' SECOND")


def expected_joins(loaded: JoinCase) -> list[tuple[Any, ...]]:
    """(k, end of the window, sum, rate) by a model that sees everything at once."""
    sums: dict[tuple[int, int], int] = defaultdict(int)
    for _, k, v, ts in loaded.ev:
        sums[k, ts // WINDOW_MS * WINDOW_MS + WINDOW_MS] += v
    rows = []
    for (k, end), total in sums.items():
        versions = [(ts, rid, rate) for rid, key, rate, ts in loaded.rates if key == k and ts < end]
        rows.append((k, end, total, max(versions)[2] if versions else None))
    return sorted(rows, key=repr)


def windowed(spark: Any, path: Any, rows_per_batch: int, how: str = "left") -> Any:
    ev, rates = case().loaded(spark, path, rows_per_batch)
    sums = (
        with_source_watermark(ev)
        .groupBy("k", F.window("ts", "10 seconds"))
        .agg(F.sum("v").alias("total"))
        .select("k", F.window_time("window").alias("at"), "total")
    )
    return temporal_join(sums, rates, on=["k"], as_of="at", how=how, prefix="r_", buckets=2)


def as_model(rows: list[Any]) -> list[tuple[Any, ...]]:
    return sorted(((k, end_ms, total, rate) for k, end_ms, total, rate in map(tuple, rows)), key=repr)


def chosen(joined: Any) -> Any:
    return joined.select("k", (F.unix_millis("at") + 1).alias("end_ms"), "total", "r_rate")


@pytest.mark.long
@pytest.mark.parametrize(("how", "rows_per_batch"), [("left", 7), *full_cases(("inner", 1_000), ("left", 3))])
def test_results_of_windows_meet_the_version_of_their_time(spark, tmp_path, how, rows_per_batch):
    with running(chosen(windowed(spark, tmp_path, rows_per_batch, how))) as query:
        query.drain()
        wanted = expected_joins(case())
        assert as_model(query.rows()) == [row for row in wanted if how == "left" or row[3] is not None]
        assert query.counted("late_probe_rows") == query.counted("late_build_rows") == 0


@pytest.mark.long
def test_the_result_can_be_windowed_again(spark, tmp_path):
    joined = windowed(spark, tmp_path, 7)
    outer = joined.groupBy(F.window("at", "30 seconds")).agg(
        F.sum("total").alias("total"), F.count("r_rate").alias("n")
    )
    with running(outer.select(F.unix_millis("window.end").alias("end"), "total", "n")) as query:
        query.drain()
        found = sorted(map(tuple, query.rows()))
    wanted: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for _, end, total, rate in expected_joins(case()):
        outer_end = (end - 1) // OUTER_MS * OUTER_MS + OUTER_MS
        wanted[outer_end][0] += total
        wanted[outer_end][1] += rate is not None
    assert found == sorted((end, *values) for end, values in wanted.items())


@pytest.mark.full
def test_a_query_that_died_goes_on_as_if_it_had_not(spark, tmp_path):
    batches: dict[int, list[tuple[Any, ...]]] = {}

    def run_query(dies_in: int | None) -> None:
        joined = chosen(windowed(spark, tmp_path, 16))
        keep = DyingSink(batches, dies_in)
        trigger = {"availableNow": True}
        with running(joined, checkpoint=tmp_path / "checkpoint", for_each=keep, trigger=trigger) as query:
            assert query.query.awaitTermination(DEADLINE_S)

    for dies_in in (2, 3):
        with pytest.raises(StreamingQueryException, match="died"):
            run_query(dies_in)
    run_query(None)
    assert as_model([row for batch in batches.values() for row in batch]) == expected_joins(case())


def test_a_batch_gives_the_same(spark, tmp_path):
    loaded = case()
    plain = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}
    ev, rates = (
        spark.read.format("tidemark-scripted").options(**scripts.options(plain)).load()
        for scripts in loaded.write(tmp_path)
    )
    sums = ev.groupBy("k", F.window("ts", "10 seconds")).agg(F.sum("v").alias("total"))
    probe = sums.select("k", (F.col("window.end") - F.expr("INTERVAL 1 MICROSECOND")).alias("at"), "total")
    joined = temporal_join(probe, rates, on=["k"], as_of="at", build_time="ts", how="left", prefix="r_")
    assert as_model(chosen(joined).collect()) == expected_joins(loaded)


@pytest.mark.parametrize(
    ("as_of", "reason"),
    [
        ("end", "AS OF 'end', which is no event time behind the windows of the probe side"),
        ("PROCTIME()", "the probe side gives results of windows, and those are joined as of their time"),
    ],
)
def test_a_time_that_is_not_the_windows_is_refused(spark, tmp_path, as_of, reason):
    ev, rates = case().loaded(spark, tmp_path, 7)
    sums = with_source_watermark(ev).groupBy("k", F.window("ts", "10 seconds")).count()
    probe = sums.select("k", "window", F.col("window.end").alias("end"))
    with pytest.raises(QueryError, match="TIDEMARK_QUERY") as refused:
        temporal_join(probe, rates, on=["k"], as_of=as_of, prefix="r_")
    assert reason in str(refused.value)


def test_a_build_that_is_attached_is_refused(spark, tmp_path):
    ev, rates = case().loaded(spark, tmp_path, 7)
    with pytest.raises(QueryError, match="the build side is attached already"):
        temporal_join(ev, with_source_watermark(rates), on=["k"], as_of="ts", prefix="r_")
