"""One side of the latency benchmark in a process of its own; prints one JSON line.

python -m benchmarks.kafka.sides.latency_side SIDE BOOTSTRAP TOPIC [--jars ...]

SIDE may be python-source: the least there is.

One session, one windowed count with one checkpoint: it starts, takes batches of 1,000 orders that arrive one after the
other, stops, and starts again behind a backlog. Times are Spark's own, from the trigger to the commit of a batch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from typing import Any, Final

from benchmarks.kafka.python_source import NumberFeed, numbered_orders
from benchmarks.kafka.sides.window_query import counted, orders, session
from benchmarks.measure import cpu_seconds, jvm_of_this_process
from benchmarks.orders.json_orders import make_topic, produce
from benchmarks.sides import PYTHON_SOURCE

FEW = 10
"""A batch of fewer rows is one of heartbeats."""

PARTITIONS: Final = 4
SMALL_ROWS: Final = 1_000
SMALL_BATCHES: Final = 40
LEFT_OUT: Final = 10
BACKLOG_ROWS: Final = 1_000_000
BATCH_ROWS: Final = 500_000
_DEADLINE_S: Final = 120.0


def main() -> None:
    """Measure one side."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("side", "bootstrap", "topic"):
        parser.add_argument(name)
    parser.add_argument("--jars", default="")
    asked = parser.parse_args()
    spark = session(asked.jars)
    with tempfile.TemporaryDirectory() as directory:
        feed, rows = _input(spark, asked, directory)
        feed.add(SMALL_ROWS)
        checkpoint = f"{directory}/checkpoint"
        windows = counted(rows)
        writer = windows.writeStream.outputMode("update").format("noop").option("checkpointLocation", checkpoint)
        started = time.perf_counter()
        query = writer.start()
        _wait(query, SMALL_ROWS)
        first_s = time.perf_counter() - started
        small = _small_batches(query, feed)
        query.stop()
        query.awaitTermination()
        feed.add(BACKLOG_ROWS)
        restart = _restarted(writer)
    print(json.dumps({"first_commit_s": round(first_s, 2), **small, **restart}))
    spark.stop()


def _input(spark: Any, asked: argparse.Namespace, directory: str) -> tuple[_Feed | NumberFeed, Any]:
    """Return what orders are added to, and their stream."""
    if asked.side == PYTHON_SOURCE:
        numbers = NumberFeed(directory)
        return numbers, numbered_orders(spark, numbers, BATCH_ROWS)
    make_topic(asked.bootstrap, asked.topic, PARTITIONS)
    feed = _Feed(asked.bootstrap, asked.topic)
    return feed, orders(spark, asked.side, asked.bootstrap, asked.topic, BATCH_ROWS)


class _Feed:
    """Orders that follow one another in time, however often some are added."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._bootstrap, self._topic, self._next = bootstrap, topic, 0

    def add(self, rows: int) -> None:
        """Add orders and wait until the broker has them."""
        produce(self._bootstrap, self._topic, PARTITIONS, range(self._next, self._next + rows))
        self._next += rows


def _small_batches(query: Any, feed: _Feed | NumberFeed) -> dict[str, Any]:
    """Add 1,000 orders again and again, each time when the ones before are committed."""
    jvm, rows = jvm_of_this_process(), SMALL_ROWS
    cpu = 0.0
    for number in range(SMALL_BATCHES):
        if number == LEFT_OUT:
            cpu = cpu_seconds(jvm)
        feed.add(SMALL_ROWS)
        rows += SMALL_ROWS
        _wait(query, rows)
    cpu = cpu_seconds(jvm) - cpu
    taken = [p.durationMs["triggerExecution"] for p in query.recentProgress if p.numInputRows >= FEW]
    taken = taken[-(SMALL_BATCHES - LEFT_OUT) :]
    return {
        "small_batch_ms": round(statistics.median(taken)),
        "small_batch_p90_ms": round(statistics.quantiles(taken, n=10)[8]),
        "small_batch_cpu_ms": round(cpu / (SMALL_BATCHES - LEFT_OUT) * 1_000),
    }


def _restarted(writer: Any) -> dict[str, Any]:
    """Start again from the checkpoint; how long until the first batch is committed, and until nothing is left."""
    began = time.perf_counter()
    query = writer.trigger(availableNow=True).start()
    first_s: float | None = None
    while query.isActive:
        if first_s is None and query.lastProgress is not None:
            first_s = time.perf_counter() - began
        query.awaitTermination(0.02)
    query.awaitTermination()
    caught_up_s = time.perf_counter() - began
    rows = sum(p.numInputRows for p in query.recentProgress)
    if rows < BACKLOG_ROWS:
        raise SystemExit(f"{rows:,} of {BACKLOG_ROWS:,} orders were read after the restart")
    return {"restart_first_commit_s": round(first_s or caught_up_s, 2), "catch_up_s": round(caught_up_s, 2)}


def _wait(query: Any, rows: int) -> None:
    """Wait until so many orders have been committed. Heartbeats count as rows, so this asks for the batch's orders."""
    pause, until = threading.Event(), time.monotonic() + _DEADLINE_S
    while time.monotonic() < until:
        if not query.isActive:
            raise SystemExit(f"the query ended: {query.exception()}")
        if sum(p.numInputRows for p in query.recentProgress if p.numInputRows >= FEW) >= rows:
            return
        pause.wait(0.005)
    raise SystemExit(f"{rows:,} orders were not read within {_DEADLINE_S:.0f} s")


if __name__ == "__main__":
    main()
