"""What a streaming query of Spark's costs, from its start to its end; and its result, written down."""

from __future__ import annotations

import tempfile
import time
from typing import Any

from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process

__all__ = ["run_stream", "written_rows"]


def run_stream(writer: Any) -> dict[str, Any]:
    """Run a query over all available events; return its cost.

    `steady_cpu_s`, `steady_events` are those behind the first batch.
    """
    jvm = jvm_of_this_process()
    with tempfile.TemporaryDirectory() as checkpoint, UsageSampler(jvm) as sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        while query.isActive and not query.recentProgress:
            query.awaitTermination(0.02)
        first_cpu = cpu_seconds(jvm)
        query.awaitTermination()
        elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm)
        progress = query.recentProgress
    return {
        "cpu_s": cpu - used,
        "elapsed_s": elapsed,
        "steady_cpu_s": cpu - first_cpu,
        "batches": len(progress),
        "peak_jvm_mb": round(sampler.peak_jvm_mb),
        "peak_worker_mb": round(sampler.peak_worker_mb),
        "state_mb": round(max((_state_bytes(each) for each in progress), default=0) / 1e6) or None,
    }


def written_rows(result: Any, mode: str, directory: str) -> None:
    """Run a query and write its rows, with `_batch`, into Parquet files."""
    from pyspark.sql import functions as F  # noqa: N812

    def write(batch: Any, number: int) -> None:
        batch.withColumn("_batch", F.lit(number)).write.mode("append").parquet(directory)

    with tempfile.TemporaryDirectory() as checkpoint:
        writer = result.writeStream.outputMode(mode).foreachBatch(write).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()


def _state_bytes(progress: Any) -> int:
    """Return the size of a batch's state: of RocksDB's files, or of the maps in memory."""
    return sum(
        max(operator.memoryUsedBytes, operator.customMetrics.get("rocksdbSstFileSize", 0))
        for operator in progress.stateOperators
    )
