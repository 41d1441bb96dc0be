"""A driver of its own that reads topics with Spark's Kafka source and with this one, step by step, and writes what it saw.

It reads `job.json` in its folder: `jars`, `servers`, and `cases`: {name: {topics, options, steps}}, where a step is {partition: rows} to
append before all that is available is processed; the first one is appended before the query starts. It writes `seen.json`: {name: {format: [[batch sizes and metrics], ...]}}, a list for
each step.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from datasources import read_stream
from tests.support.spark.spark_session import start_spark

SPARK, OURS = "kafka", "tidemark-kafka"


def append(servers: str, topic: str, step: dict[str, int]) -> None:
    with Producer({"bootstrap.servers": servers}) as producer:
        for partition, rows in step.items():
            for number in range(rows):
                producer.produce(topic, str(number).encode(), partition=int(partition))
        assert producer.flush(60) == 0


def start(spark: Any, source: str, case: dict[str, Any], servers: str, checkpoint: Path) -> Any:
    options = {"kafka.bootstrap.servers": servers, "subscribe": case["topic"], "startingOffsets": "earliest"}
    options |= case["options"]
    if source == SPARK:
        frame = spark.readStream.format(source).options(**options).load()
    else:
        frame = read_stream(spark, source, options)
    return frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()


def info(progress: Any) -> dict[str, Any]:
    """How many rows a batch had, and what Spark calls its metrics: ours stand where a Python source can put them."""
    source = progress.sources[0]
    found = source.metrics or json.loads(source.latestOffset or "{}")
    names = ("minOffsetsBehindLatest", "maxOffsetsBehindLatest", "avgOffsetsBehindLatest")
    return {"rows": source.numInputRows} | {name: float(found[name]) for name in names if name in found}


def seen(spark: Any, source: str, case: dict[str, Any], job: dict[str, Any], folder: Path) -> list[list[Any]]:
    steps: list[list[Any]] = []
    append(job["servers"], case["topic"], case["steps"][0])
    query = start(spark, source, case, job["servers"], folder / f"checkpoint-{case['topic']}-{source}")
    known = -1
    try:
        for step in case["steps"]:
            if step is not case["steps"][0]:
                append(job["servers"], case["topic"], step)
            query.processAllAvailable()
            batches = {p.batchId: p for p in query.recentProgress if p.batchId > known and p.sources[0].numInputRows}
            known = max([known, *batches])
            steps.append([info(batches[number]) for number in sorted(batches)])
    finally:
        query.stop()
    return steps


def main() -> None:
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    spark = start_spark(folder, {"spark.jars": ",".join(job["jars"])})
    found = {
        name: {
            source: seen(spark, source, {**case, "topic": case["topics"][source]}, job, folder)
            for source in (SPARK, OURS)
        }
        for name, case in job["cases"].items()
    }
    (folder / "seen.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main()
