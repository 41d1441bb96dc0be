"""Tidemark's sides: `tidemark mysql sync --once` into Delta Lake, and its source alone, into a sink that does nothing.

Both have a query for each table, each with a reader of its own. They run in the Spark that Delta Lake knows.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.mysql.sides import session
from benchmarks.mysql.tables import login_options
from benchmarks.tpcc.checksum import checksum_sql
from benchmarks.tpcc.schema import TABLES
from benchmarks.tpcc.sides.binlog_read import SOURCE, BinlogRead
from datasources import read_stream
from datasources.embedded import MySqlAddress
from datasources.sync.database_sync import DatabaseSync
from datasources.sync.sync_request import SyncRequest
from tests.support.spark.delta_spark import delta_spark

__all__ = ["open_tidemark_side"]

_SETTINGS: Final = {
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "4",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
}
"""Partitions as `tidemark mysql sync` has them on two cores."""


@contextmanager
def open_tidemark_side() -> Iterator[Callable[[BinlogRead], dict[str, Any]]]:
    """Start a Spark with Delta Lake; give what runs both sides."""
    settings = {**delta_spark().settings, **_SETTINGS}
    jars = [Path(jar) for jar in settings.pop("spark.jars").split(",")]
    with session(jars, settings) as spark:

        def run(asked: BinlogRead) -> dict[str, Any]:
            if asked.side == SOURCE:
                return _measured(lambda: {"images": _changes_alone(spark, asked)})
            result = _measured(lambda: _copy(spark, asked))
            return {**result, "checksums": _checksums(spark, asked)}

        yield run


def _measured(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    jvm = jvm_of_this_process()
    with UsageSampler(jvm) as sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        result = work()
        result |= {"seconds": time.perf_counter() - begun, "cpu_s": cpu_seconds(jvm) - used}
    return {**result, "peak_jvm_mb": round(sampler.peak_jvm_mb), "peak_worker_mb": round(sampler.peak_worker_mb)}


def _copy(spark: SparkSession, asked: BinlogRead) -> dict[str, Any]:
    """Copy what there is, or what is new."""
    request = SyncRequest(
        source_options=login_options(_login(asked)),
        database=asked.database,
        directory=asked.lake,
        is_once=True,
        restarts=0,
    )
    DatabaseSync(spark, request, lambda _: None).run(threading.Event())
    return {}


def _checksums(spark: SparkSession, asked: BinlogRead) -> dict[str, list[str]]:
    """Return number of rows and checksum of each copy, as texts."""
    found = {}
    for table in TABLES.values():
        select = checksum_sql(table, f"delta.`{asked.lake}/{table.name}`", text="STRING")
        found[table.name] = [str(value) for value in spark.sql(select).collect()[0]]
    return found


def _changes_alone(spark: SparkSession, asked: BinlogRead) -> dict[str, int]:
    """Read the changes; return how many rows there were of each table."""
    with tempfile.TemporaryDirectory() as checkpoints:
        queries = {}
        for table in TABLES:
            stream = read_stream(spark, "tidemark-mysql", _options(asked, table))
            writer = stream.writeStream.format("noop").option("checkpointLocation", f"{checkpoints}/{table}")
            queries[table] = writer.trigger(availableNow=True).start()
        for query in queries.values():
            query.awaitTermination()
    images = {table: sum(each.numInputRows for each in query.recentProgress) for table, query in queries.items()}
    return {table: count for table, count in images.items() if count}


def _options(asked: BinlogRead, table: str) -> dict[str, str]:
    return {
        **login_options(_login(asked)),
        "database-name": asked.database,
        "table-name": table,
        "scan.metadata": "row_kind",
        "scan.startup.mode": "specific-offset",
        "scan.startup.specific-offset.file": asked.file,
        "scan.startup.specific-offset.pos": str(asked.position),
    }


def _login(asked: BinlogRead) -> MySqlAddress:
    return MySqlAddress(host=asked.host, port=asked.port, user=asked.user, password=asked.password)
