"""One side of the benchmark in a process of its own: windowed counts of JSON orders, or raw values; prints a JSON line.

python -m benchmarks.kafka.sides.window_query SIDE BOOTSTRAP TOPIC BATCH_ROWS [--query sql] [--slots 1] [--jars ...]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.orders.json_orders import COUNT, SCHEMA, order_options, order_table

DELAY = "5 seconds"


def session(jars: str = "", *, slots: int = 2) -> SparkSession:
    """Return a session; the same settings on every side, and the peer's jars where it has any."""
    builder = (
        SparkSession.builder.master(f"local[{slots}]")
        .config("spark.sql.shuffle.partitions", slots)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
    )
    if jars:
        builder = builder.config("spark.jars", jars)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def orders(  # noqa: PLR0913, PLR0917 - what a side is asked
    spark: SparkSession, side: str, bootstrap: str, topic: str, batch_rows: int, min_partitions: int = 0
) -> DataFrame:
    """Return the orders with event time, as each side's documentation recommends."""
    split = {"minPartitions": min_partitions} if min_partitions else {}
    if side == "tidemark":
        from datasources import read_stream

        options = {**order_options(bootstrap, topic), "maxOffsetsPerTrigger": batch_rows, **split}
        return read_stream(spark, "tidemark-kafka", options)
    raw = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", batch_rows)
        .options(**split)
        .load()
    )
    parsed = raw.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("order")).select("order.*")
    return parsed.withWatermark("ts", DELAY)


def raw_values(spark: SparkSession, side: str, bootstrap: str, topic: str, batch_rows: int) -> DataFrame:
    """Return the values of a topic's records as bytes, one column."""
    options = {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(batch_rows),
    }
    if side == "tidemark":
        from datasources import register

        register(spark)
        options |= {"format": "raw", "schema": "value BINARY"}
    source = "tidemark-kafka" if side == "tidemark" else "kafka"
    return spark.readStream.format(source).options(**options).load().select("value")


def counted(df: DataFrame) -> DataFrame:
    """Return orders counted and summed in windows: the window's start as text, `n`, `total`."""
    windows = df.groupBy(F.window("ts", "10 seconds")).agg(F.count("user").alias("n"), F.sum("price").alias("total"))
    return windows.select(F.col("window.start").cast("string"), "n", "total")


def counted_in_the_reader(df: DataFrame) -> DataFrame:
    """Return the same by `windowed`."""
    from datasources import TimeWindow, windowed

    aggregates = {"n": "COUNT(user)", "total": "SUM(price)"}
    windows = windowed(df, aggregates, window=TimeWindow.tumble("10 s"), attribute="ts")
    return windows.select(F.col("window_start").cast("string"), "n", "total")


def counted_in_sql(
    spark: SparkSession, bootstrap: str, topic: str, batch_rows: int, *, pushes_aggregates: bool = True
) -> DataFrame:
    """Return the same by Tidemark's SQL: the statements that Flink gets, and how much a batch reads."""
    from datasources.sql import TableEnvironment

    settings = {"table.exec.source.aggregate-pushdown": str(pushes_aggregates).lower()}
    tables = TableEnvironment(spark, settings=settings)
    tables.sql(order_table(bootstrap, topic, maxOffsetsPerTrigger=str(batch_rows)))
    return tables.sql(COUNT)


def run(windows: DataFrame, batch_rows: int, *, measured: bool) -> dict[str, Any]:
    """Run a count over all available rows; return counts and, if measured, the cost.

    Args:
        windows: rows of (text of the window's start, count, sum).
        batch_rows: how many rows a batch reads.
        measured: also return CPU per record, rows per second and memory, from the first commit to the query's end.
    """
    counts: dict[str, tuple[int, float]] = {}
    lock = threading.Lock()

    def collect(batch: DataFrame, _: int) -> None:
        with lock:
            for row in batch.collect():
                counts[str(row[0])] = (row[1], row[2])

    cost = _run(windows.writeStream.outputMode("update").foreachBatch(collect))
    rows = sum(n for n, _ in counts.values())
    return {"rows": rows, "counts": counts, **(_per_record(cost, rows, batch_rows) if measured else {})}


def run_raw(values: DataFrame, batch_rows: int, *, measured: bool) -> dict[str, Any]:
    """Read all values into a sink that does nothing; return their number, their bytes, and the cost."""
    seen = values.observe("seen", F.count(F.lit(1)).alias("n"), F.sum(F.length("value")).alias("bytes"))
    cost = _run(seen.writeStream.format("noop"))
    counts: Counter[str] = Counter()
    for each in cost.progress:
        counts.update({key: value or 0 for key, value in each.observedMetrics["seen"].asDict().items()})
    measures = _per_record(cost, counts["n"], batch_rows) if measured else {}
    return {"rows": counts["n"], "counts": dict(counts), **measures}


def run_measured(writer: Any, rows: int, batch_rows: int) -> dict[str, Any]:
    """Run a query over so many records, all that are there; return what one cost."""
    return _per_record(_run(writer), rows, batch_rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cost:
    """What a query took from its first commit to its end; memory is that of the whole run."""

    cpu_s: float
    elapsed_s: float
    memory: UsageSampler
    progress: list[Any]


def _run(writer: Any) -> _Cost:
    """Run a query over all available rows."""
    jvm = jvm_of_this_process()
    with tempfile.TemporaryDirectory() as checkpoint, UsageSampler(jvm) as sampler:
        query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        while query.isActive and not query.recentProgress:
            query.awaitTermination(0.02)
        first_s, first_cpu = time.perf_counter(), cpu_seconds(jvm)
        query.awaitTermination()
        elapsed_s, cpu = time.perf_counter() - first_s, cpu_seconds(jvm) - first_cpu
    return _Cost(cpu_s=cpu, elapsed_s=elapsed_s, memory=sampler, progress=query.recentProgress)


def _per_record(cost: _Cost, rows: int, batch_rows: int) -> dict[str, Any]:
    """Return the cost of a record behind the first batch.

    Spark counts what a source delivers, which are partial aggregates where they are pushed down; so records are those
    that were counted, and the first batch has as many as a batch may have.
    """
    behind = max(rows - batch_rows, 1)
    return {
        "cpu_us_per_record": cost.cpu_s / behind * 1e6,
        "rows_per_s": behind / cost.elapsed_s,
        "batches": -(-rows // batch_rows),
        "delivered_rows": sum(each.numInputRows for each in cost.progress),
        "peak_worker_mb": round(cost.memory.peak_worker_mb),
        "peak_jvm_mb": round(cost.memory.peak_jvm_mb),
    }


def run_query(  # noqa: PLR0913, PLR0917 - what a side is asked
    spark: SparkSession,
    side: str,
    query: str,
    bootstrap: str,
    topic: str,
    batch_rows: int,
    *,
    min_partitions: int = 0,
    measured: bool,
) -> dict[str, Any]:
    """Run a query of a side over a whole topic: `window`, `window-rows`, `sql`, `sql-rows` or `raw`.

    Those with rows are Tidemark's without push-down.
    """
    source = (bootstrap, topic, batch_rows)
    if query == "raw":
        return run_raw(raw_values(spark, side, *source), batch_rows, measured=measured)
    if query == "sql-rows":
        return run(counted_in_sql(spark, *source, pushes_aggregates=False), batch_rows, measured=measured)
    if query == "sql":
        return run(counted_in_sql(spark, *source), batch_rows, measured=measured)
    if query == "window" and side == "tidemark":
        return run(counted_in_the_reader(orders(spark, side, *source, min_partitions)), batch_rows, measured=measured)
    return run(counted(orders(spark, side, *source, min_partitions)), batch_rows, measured=measured)


def main() -> None:
    """Run to warm up, then measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("side", "bootstrap", "topic"):
        parser.add_argument(name)
    parser.add_argument("batch_rows", type=int)
    parser.add_argument("--query", choices=("window", "window-rows", "sql", "sql-rows", "raw"), default="window")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--warm-ups", type=int, default=1)
    parser.add_argument("--jars", default="")
    asked = parser.parse_args()
    spark = session(asked.jars, slots=asked.slots)
    source = (asked.bootstrap, asked.topic, asked.batch_rows)
    for _ in range(asked.warm_ups):
        run_query(spark, asked.side, asked.query, *source, measured=False)
    print(json.dumps(run_query(spark, asked.side, asked.query, *source, measured=True)))
    spark.stop()


if __name__ == "__main__":
    main()
