"""One side of the benchmark in a process of its own: a windowed count over JSON orders; prints one JSON line.

python -m benchmarks.window_query SIDE BOOTSTRAP TOPIC BATCH_ROWS JARS
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.measure import Sampler, cpu_seconds, jvm_of_this_process
from benchmarks.orders import SCHEMA

SIDES = ("tidemark", "spark-sql-kafka")
DELAY = "5 seconds"


def session(jars: str = "") -> SparkSession:
    """Return a session; the same settings on every side, and the peer's jars where it has any."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", 2)
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


def orders(spark: SparkSession, side: str, bootstrap: str, topic: str, batch_rows: int) -> DataFrame:
    """Return the orders with event time, as each side's documentation says to do it."""
    if side == "tidemark":
        from datasources import read_stream

        options = {
            "kafka.bootstrap.servers": bootstrap,
            "subscribe": topic,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": batch_rows,
            "format": "json",
            "schema": SCHEMA,
            "watermark.for": "ts",
            "watermark.as": "ts - INTERVAL '5' SECOND",
        }
        return read_stream(spark, "tidemark-kafka", options)
    raw = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", batch_rows)
        .load()
    )
    parsed = raw.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("order")).select("order.*")
    return parsed.withWatermark("ts", DELAY)


def counted(df: DataFrame) -> DataFrame:
    """Return the windowed count of orders: the window's start as text, and `n`."""
    windows = df.groupBy(F.window("ts", "10 seconds")).agg(F.count("user").alias("n"), F.sum("price").alias("total"))
    return windows.select(F.col("window.start").cast("string"), "n")


def run(windows: DataFrame, *, measured: bool) -> dict[str, Any]:
    """Run a count over everything that is there; return counts and, if measured, what it cost.

    Args:
        windows: rows of (text of the window's start, count).
        measured: also return CPU per record, rows per second and memory, from the first commit to the last.
    """
    counts: dict[str, int] = {}
    lock = threading.Lock()

    def collect(batch: DataFrame, _: int) -> None:
        with lock:
            for row in batch.collect():
                counts[str(row[0])] = row[1]

    jvm = jvm_of_this_process()
    with tempfile.TemporaryDirectory() as checkpoint, Sampler(jvm) as sampler:
        writer = windows.writeStream.outputMode("update")
        query = writer.foreachBatch(collect).option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        marks: list[tuple[float, float, int]] = []  # time, CPU, rows so far, at each commit
        while query.isActive or not marks:
            _mark(query, marks, jvm)
            query.awaitTermination(0.02)
        _mark(query, marks, jvm)
        query.awaitTermination()
    result: dict[str, Any] = {"rows": sum(counts.values()), "counts": counts}
    if measured:
        first, last = marks[0], marks[-1]
        rows = last[2] - first[2]
        result |= {
            "cpu_us_per_record": (last[1] - first[1]) / rows * 1e6,
            "rows_per_s": rows / (last[0] - first[0]),
            "batches": len(marks),
            "peak_worker_mb": round(sampler.peak_worker_mb),
            "peak_jvm_mb": round(sampler.peak_jvm_mb),
        }
    return result


def _mark(query: Any, marks: list[tuple[float, float, int]], jvm: Any) -> None:
    """Note time and CPU when another batch was committed. Heartbeats are batches of one row, and not marks."""
    rows = sum(p.numInputRows for p in query.recentProgress)
    if query.recentProgress and (not marks or rows > marks[-1][2]):
        marks.append((time.perf_counter(), cpu_seconds(jvm), rows))


def main() -> None:
    """Run once to warm up, then measure."""
    side, bootstrap, topic, batch_rows = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    spark = session(sys.argv[5] if side == "spark-sql-kafka" else "")
    run(counted(orders(spark, side, bootstrap, topic, batch_rows)), measured=False)
    result = run(counted(orders(spark, side, bootstrap, topic, batch_rows)), measured=True)
    print(json.dumps(result))
    spark.stop()


if __name__ == "__main__":
    main()
