"""A user's job, for the tests on real executors: a script in a folder of its own that imports nothing of the tests.

    python job.py SETTINGS

SETTINGS is a JSON file: `master`, `folder`, `options` of the Kafka source, and what shall go wrong, if anything:
`stuck_at` = [split, first offset of the range] where a reader stops in the middle and its executor is killed,
`deafen_in` = the batch in which the driver's coordinator closes, `executor_version` = the version that executors find.
`settings` are further ones of Spark's.
The folder then holds `outcome.json` and `reads/`: one line for every range that a reader began, with the executor that
it ran in.

The source is one of the user's own, made of Kafka's: its classes live in this script, so Spark ships them by value,
while everything below them must be installed where the executors run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

import datasources
from datasources import read_stream
from datasources.kafka.data_source import KafkaDataSource
from datasources.kafka.reader.kafka_reader import KafkaReader, KafkaReaderFactory
from datasources.kafka.source import KafkaSource

JOB: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
FOLDER = Path(JOB["folder"])
STUCK = FOLDER / "stuck.json"
PIECE = 1_000
POLL_S = 0.05
FAST_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class WatchedReader(KafkaReader):
    """Notes what it reads and where; stops in the middle of the range that it is told to, once."""

    def read(self, split: Any, start_inclusive: int, end_exclusive: int) -> Iterator[Any]:
        """Yield the rows of a range, a piece at a time."""
        rows = 0
        try:
            for start in range(start_inclusive, end_exclusive, PIECE):
                for chunk in super().read(split, start, min(start + PIECE, end_exclusive)):
                    rows += chunk.columns.num_rows
                    yield chunk
                if [split, start_inclusive] == JOB.get("stuck_at") and not STUCK.exists():
                    note(split, start_inclusive, end_exclusive, rows)
                    publish(STUCK, {"executor": executor_pid()})
                    threading.Event().wait()
        finally:
            note(split, start_inclusive, end_exclusive, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedReaderFactory(KafkaReaderFactory):
    """Opens watched readers."""

    def open(self, *, only: frozenset[str] | None = None) -> KafkaReader:
        """Return a reader."""
        return WatchedReader(self, only)


@dataclass(frozen=True, kw_only=True)
class WatchedKafka(KafkaSource):
    """Kafka under another name."""

    format_name: ClassVar[str] = "watched-kafka"

    def reader_factory(self) -> KafkaReaderFactory:
        """Return the executors' part."""
        return WatchedReaderFactory(**{f.name: getattr(self.factory, f.name) for f in fields(self.factory)})


class WatchedDataSource(KafkaDataSource):
    """Its format."""

    connector: ClassVar[Any] = WatchedKafka


def executor_pid() -> int:
    """Return the process of the executor behind this Python worker: the parent of the daemon that forked it."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(status.rpartition(")")[2].split()[1])


def note(split: str, start: int, end: int, rows: int) -> None:
    """Write down a read."""
    line = {
        "split": split,
        "range": [start, end],
        "rows": rows,
        "executor": executor_pid(),
        "worker": os.getpid(),
        "package": datasources.__file__,
        "directory": str(Path.cwd()),
    }
    with (FOLDER / "reads" / f"{os.getpid()}.jsonl").open("a") as log:
        log.write(json.dumps(line) + "\n")


def publish(file: Path, content: Any) -> None:
    """Write a file that appears as a whole."""
    hidden = file.with_suffix(f".{os.getpid()}")
    hidden.write_text(json.dumps(content))
    hidden.rename(file)


def kill_the_stuck_executor() -> None:
    """Wait until a reader stands still, then kill its executor."""
    while not STUCK.exists():
        threading.Event().wait(POLL_S)
    os.kill(json.loads(STUCK.read_text())["executor"], signal.SIGKILL)


def note_version(_: Any) -> Iterator[int]:
    """Write metadata of another version where this executor's Python looks first: into its own directory."""
    version = JOB["executor_version"]
    folder = Path(f"tidemark_spark-{version}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tidemark-spark\nVersion: {version}\n")
    return iter(())


def session() -> SparkSession:
    """Start Spark, small, with all of its files below the folder."""
    settings = {
        "spark.master": JOB["master"],
        "spark.app.name": "tidemark-on-executors",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        # Nothing runs before both executors are there.
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.driver.extraJavaOptions": FAST_JVM,
        "spark.executor.extraJavaOptions": FAST_JVM,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(FOLDER / "scratch"),
        "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    builder = SparkSession.builder
    for key, value in {**settings, **JOB.get("settings", {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main() -> None:
    """Count orders per minute until all is read, and tell what came out."""
    spark = session()
    if "executor_version" in JOB:
        executors = spark.sparkContext.parallelize(range(2), 2).barrier()
        executors.mapPartitions(note_version).collect()
    orders = read_stream(spark, WatchedDataSource, JOB["options"])
    minutes = orders.groupBy(F.window("ts", "1 minute")).agg(F.count("id").alias("n"), F.sum("id").alias("ids"))
    emitted: list[list[Any]] = []

    def collect(batch: Any, number: int) -> None:
        emitted.extend([number, str(row["window"]["start"]), row["n"], row["ids"]] for row in batch.collect())
        if number == JOB.get("deafen_in"):
            spark.sparkContext._tidemark_coordinator.close()

    if "stuck_at" in JOB:
        threading.Thread(target=kill_the_stuck_executor, daemon=True).start()
    writer = minutes.writeStream.outputMode("append").option("checkpointLocation", str(FOLDER / "checkpoint"))
    query = writer.foreachBatch(collect).trigger(availableNow=True).start()
    query.awaitTermination()
    watermarks = [progress.eventTime["watermark"] for progress in query.recentProgress]
    publish(FOLDER / "outcome.json", {"emitted": emitted, "watermarks": watermarks, "driver": datasources.__file__})
    spark.stop()


if __name__ == "__main__":
    main()
