"""Orders on a real topic and a windowed count over them, as the Kafka tests with Spark use them."""

from __future__ import annotations

import datetime as dt
import json
from threading import Event

from pyspark.sql import functions as F  # noqa: N812

BASE = 1_760_000_040_000  # a full minute
MINUTE = 60_000
SCHEMA = "id BIGINT, ts TIMESTAMP"
DEADLINE_S = 240  # a session in a process of its own takes a minute to start where much else runs


def order(number: int, ts_ms: int) -> tuple[bytes, bytes, int]:
    value = {"id": number, "ts": f"{iso(ts_ms)}"}
    return b"k", json.dumps(value).encode(), ts_ms


def iso(ts_ms: int) -> str:
    return dt.datetime.fromtimestamp(ts_ms / 1_000, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def orders(kafka, topic, **options):
    given = {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": SCHEMA,
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '5' SECOND",
    }
    return given | {key.replace("__", "."): value for key, value in options.items()}


def minute_counts(df):
    return df.groupBy(F.window("ts", "1 minute")).agg(F.count("id").alias("n"))


def start(df, tmp_path, name="q", **trigger):
    """Start a query that collects (minute, count) into a list."""
    found: dict[int, int] = {}

    def collect(batch, _):
        for row in batch.collect():
            minute = (int(row["window"]["start"].timestamp() * 1_000) - BASE) // MINUTE
            assert minute not in found, "a window was emitted twice"
            found[minute] = row["n"]

    writer = (
        df.writeStream.outputMode("append").foreachBatch(collect).option("checkpointLocation", str(tmp_path / name))
    )
    return (writer.trigger(**trigger) if trigger else writer).start(), found


def wait_until(condition, query=None, timeout_s=DEADLINE_S):
    """Poll a condition on a deadline; a failed query ends the wait with its error."""
    pause = Event()
    for _ in range(timeout_s * 10):
        if condition():
            return
        if query is not None and query.exception() is not None:
            raise query.exception()
        pause.wait(0.1)
    raise AssertionError(f"not within {timeout_s} s; last progress: {query and query.lastProgress}")
