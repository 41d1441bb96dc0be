"""Plain Spark's side: the DataFrames of `spark_queries`, with state in RocksDB, in a JVM that stays."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.nexmark.sides.delivery import watch_stream
from benchmarks.nexmark.sides.side_run import SideRun
from benchmarks.nexmark.sides.stream_cost import run_stream, written_rows

__all__ = ["spark_runner"]

_STATE: Final = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def spark_runner(spark: Any) -> Callable[[SideRun], dict[str, Any]]:
    """Return what runs a query in a session."""
    spark.conf.set(_STATE, _ROCKSDB)
    return lambda asked: _answer(spark, asked)


def _answer(spark: Any, asked: SideRun) -> dict[str, Any]:
    from pyspark.errors import AnalysisException, StreamingQueryException

    from benchmarks.nexmark.sides.spark_queries import NOT_EXPRESSIBLE

    if asked.query in NOT_EXPRESSIBLE:
        return {"why": NOT_EXPRESSIBLE[asked.query]}
    try:
        return _run(spark, asked)
    except (AnalysisException, StreamingQueryException) as error:
        return {"why": str(error).splitlines()[0]}


def _run(spark: Any, asked: SideRun) -> dict[str, Any]:
    from benchmarks.nexmark.sides.spark_events import SparkEvents
    from benchmarks.nexmark.sides.spark_queries import SPARK_QUERIES

    query = SPARK_QUERIES[asked.query]
    result = query.result(SparkEvents(spark, asked))
    if asked.watch is not None:
        with tempfile.TemporaryDirectory() as checkpoint:
            return watch_stream(result, query.mode, asked.watch, checkpoint)
    if asked.output and not query.partitions:
        written_rows(result, query.mode, asked.output)
        return {"form": "parquet", "path": asked.output, "keys": query.keys}
    writer = result.writeStream.outputMode(query.mode)
    if not query.partitions:
        return run_stream(writer.format("noop"))
    directory = asked.output or tempfile.mkdtemp(dir=asked.directory)
    cost = run_stream(writer.format("csv").partitionBy(*query.partitions).option("path", directory))
    if asked.output:
        shutil.rmtree(Path(directory, "_spark_metadata"))
        return {"form": "csv", "path": directory}
    shutil.rmtree(directory)
    return cost
