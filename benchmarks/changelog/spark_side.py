"""Our side of `make bench-changelog`, in a process of its own; the last line is JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.changelog.queries import QUERIES, WARM_UP_RUNS, ChangeBench
from benchmarks.kafka.sides.window_query import session
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from datasources import changelog, register

BATCH: Final = 500_000
_FILES: Final = 2
_SETTINGS: Final = {"spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1)}


def main() -> None:
    """Run each query to warm up, then measure it."""
    spark = session()
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    register(spark)
    with tempfile.TemporaryDirectory() as place:
        found = {name: _measured(spark, query, Path(place) / name) for name, query in QUERIES.items()}
    spark.stop()
    print(json.dumps({"queries": found, "settings": _SETTINGS, "batch": BATCH, "state": "RocksDB, with checkpoints"}))


def _measured(spark: SparkSession, query: ChangeBench, directory: Path) -> dict[str, Any]:
    _write(query, directory)
    for _ in range(WARM_UP_RUNS):
        _run(spark, query, directory)
    jvm = jvm_of_this_process()
    used, begun = cpu_seconds(jvm), time.perf_counter()
    with UsageSampler(jvm) as sampler:
        batches = _run(spark, query, directory)
    elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm) - used
    return {
        "cpu_us_per_row": round(cpu / query.total * 1e6, 2),
        "rows_per_s": round(query.total / elapsed),
        "batches_s": batches,
        "peak_worker_mb": round(sampler.peak_worker_mb),
        "peak_jvm_mb": round(sampler.peak_jvm_mb),
    }


def _run(spark: SparkSession, query: ChangeBench, directory: Path) -> list[float]:
    """Run a query over everything; return the seconds of each batch."""
    streams = {}
    for name in query.tables:
        files = spark.readStream.schema("id BIGINT, k BIGINT, amount INT").option("maxFilesPerTrigger", _FILES)
        streams[name] = files.parquet(str(directory / name))
    result = changelog.query(query.sql, **streams)
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = result.writeStream.format("noop").option("checkpointLocation", checkpoint)
        running = writer.trigger(availableNow=True).start()
        running.awaitTermination()
        return [progress.durationMs["triggerExecution"] / 1_000 for progress in running.recentProgress]


def _write(query: ChangeBench, directory: Path) -> None:
    drawn = np.random.default_rng(7)
    for name in query.tables:
        (directory / name).mkdir(parents=True)
        unique = drawn.permutation(query.keys) if query.has_unique_keys else None
        for part in range(query.rows // BATCH * _FILES):
            count = BATCH // _FILES
            ids = np.arange(part * count, (part + 1) * count)
            keys = drawn.integers(0, query.keys, count) if unique is None else unique[ids]
            amounts = drawn.integers(1, 10_000, count).astype(np.int32)
            path = directory / name / f"{part:05}.parquet"
            pq.write_table(pa.table({"id": ids, "k": keys, "amount": amounts}), path)
            os.utime(path, (part + 1, part + 1))  # the order in which Spark reads them


if __name__ == "__main__":
    main()
