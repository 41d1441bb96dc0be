"""Queries that do not read to the end, that read twice, or that have nothing to do."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.forms import full
from tests.support.source.counting_source import counted_stream, reads_of
from tests.support.spark.scripted_stream import Running, Scripts, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

ROWS = 4
ON_EVENT = {"pipeline.auto-watermark-interval": "0", "scan.watermark.heartbeat-interval": "60 s"}


def head(df: Any, found: list[Any]) -> None:
    found.append(df.head(1)[0].v)


def is_empty(df: Any, found: list[Any]) -> None:
    found.append(df.isEmpty())


def no_action(df: Any, found: list[Any]) -> None:
    found.append(df.columns)


def expected_of(consume: Callable[[Any, list[Any]], None], batches: int) -> list[Any]:
    return {
        head: [f"{n}-0" for n in range(batches)],
        is_empty: [False] * batches,
        no_action: [["ts", "k", "v"]] * batches,
    }[consume]


def append_batch(scripts: Scripts, number: int) -> None:
    scripts.append("s-0", *((number * 10 + i, "k", f"{number}-{i}") for i in range(ROWS)))


def run_batches(query: Running, scripts: Scripts, batches: int) -> None:
    for number in range(1, batches):
        query.drain()
        append_batch(scripts, number)
    query.drain()


def assert_flat(scripts: Scripts, query: Running, batches: int) -> None:
    """At most its own range and the one before by the task, and one more by the driver: whatever the batch."""
    reads = reads_of(scripts)
    assert all(read.end - read.start <= ROWS for read in reads), "what is read again never grows beyond one batch"
    assert max(Counter((read.split, read.start) for read in reads).values(), default=0) <= 3
    assert sum(read.rows for read in reads) <= 3 * ROWS * batches
    # The watermark of all but the newest ranges is known, although no task ever reported it.
    assert query.source()["splits"][0]["position"] == ROWS * batches
    assert query.source()["splits"][0]["watermark"] >= ((batches - 3) * 10 + ROWS - 1 - 1) * 1_000


@pytest.mark.long
@pytest.mark.parametrize("consume", [head, *full(is_empty), no_action])
@pytest.mark.parametrize("batches", [8, pytest.param(50, marks=pytest.mark.full)])
def test_a_sink_that_stops_early_stays_exact_at_flat_cost(spark, tmp_path, consume, batches):
    scripts = Scripts(tmp_path)
    append_batch(scripts, 0)
    found: list[Any] = []
    stream = counted_stream(spark, scripts, ON_EVENT)
    with running(stream, for_each=lambda df, _: consume(df, found)) as query:
        run_batches(query, scripts, batches)
        assert found == expected_of(consume, batches)
        assert_flat(scripts, query, batches)


@pytest.mark.long
@pytest.mark.parametrize("batches", [8, pytest.param(50, marks=pytest.mark.full)])
def test_a_limit_stays_exact_at_flat_cost(spark, tmp_path, batches):
    scripts = Scripts(tmp_path)
    append_batch(scripts, 0)
    with running(counted_stream(spark, scripts, ON_EVENT).limit(2)) as query:
        run_batches(query, scripts, batches)
        assert [row[2] for row in query.rows()] == ["0-0", "0-1"]
        assert_flat(scripts, query, batches)


def test_after_batches_without_an_action_the_watermark_is_what_an_undisturbed_query_has(spark, tmp_path):
    """The rows that were skipped count for the watermark: only they reach 33 s."""
    scripts = Scripts(tmp_path)
    append_batch(scripts, 0)
    counts: list[Any] = []

    def consume(df: Any, batch: int) -> None:
        if wakes.is_set():
            counts.extend(tuple(row) for row in df.collect())

    wakes = threading.Event()
    stream = counted_stream(spark, scripts)
    with running(stream.select("v"), for_each=consume) as query:
        run_batches(query, scripts, 4)
        wakes.set()
        scripts.append("s-0", (5, "k", "late"))
        query.drain()
        scripts.append("s-0", (72, "k", "last"))
        query.drain()
        assert counts[:2] == [("late",), ("last",)]
        assert query.source()["watermark"] == (3 * 10 + ROWS - 1 - 1) * 1_000


def test_a_batch_that_is_read_twice_counts_once(spark, tmp_path):
    scripts = Scripts(tmp_path)
    append_batch(scripts, 0)
    found: list[Any] = []

    def twice(df: Any, batch: int) -> None:
        found.append((df.count(), sorted(row.v for row in df.collect())))

    with running(counted_stream(spark, scripts, ON_EVENT), for_each=twice) as query:
        run_batches(query, scripts, 3)
        assert found == [(ROWS, [f"{n}-{i}" for i in range(ROWS)]) for n in range(3)]
        reads = Counter((read.start, read.end) for read in reads_of(scripts))
        assert reads == {(n * ROWS, n * ROWS + ROWS): 2 for n in range(3)}
        assert query.query.exception() is None


def test_nothing_moves_means_no_batch(spark, tmp_path):
    scripts = Scripts(tmp_path)
    append_batch(scripts, 0)
    df = scripts.stream(spark).groupBy(F.window("ts", "10 seconds")).count()
    with running(df) as query:
        query.drain()
        before = query.progress[-1].batchId
        threading.Event().wait(1.2)  # four heartbeat intervals
        assert query.progress[-1].batchId == before


def test_time_alone_makes_one_batch_and_then_none(spark, tmp_path):
    """Data, its heartbeat (1 s), Spark's own batch; the heartbeat after both timeouts (64 s), Spark's own batch."""
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "a1"), (65, "a", "a65"))
    scripts.append("s-1", (2, "b", "b2"))
    df = scripts.stream(spark, {"scan.watermark.idle-timeout": "1 s"}).groupBy(F.window("ts", "10 seconds")).count()
    with running(df) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [64])
        threading.Event().wait(1.2)  # four heartbeat intervals
        assert len(query.progress) <= 5
        assert [row[1] for row in query.rows()] == [2]


def test_an_idle_split_is_left_out_after_its_timeout_and_counts_again_at_once(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "a1"), (65, "a", "a65"))
    scripts.append("s-1", (2, "b", "b2"))
    df = scripts.stream(spark, {"scan.watermark.idle-timeout": "1 s"}).groupBy(F.window("ts", "10 seconds")).count()
    with running(df) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [64])
        statuses = {split["split"]: split["status"] for split in query.source()["splits"]}
        assert statuses == {"s-0": "idle", "s-1": "idle"}
        # s-1 is back at 70 and holds the watermark there, although s-0 is far ahead.
        scripts.append("s-1", (71, "b", "b71"))
        query.drain()
        scripts.append("s-0", (200, "a", "a200"))
        query.wait_for(lambda running_: running_.watermarks[-1] == 70)
        assert [row[1] for row in query.rows()] == [2, 1]
