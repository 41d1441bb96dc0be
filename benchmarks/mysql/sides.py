"""What Spark reads in `make bench-mysql`, each way once: a whole table, or what changed, into a noop sink.

A whole table takes from the first row asked to the last row committed: a batch read the time of `save`, a stream that
of its batches, planning included; starting Spark and its processes is in neither.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.mysql.tables import COLUMNS, DATABASE, Changes, options_of
from datasources import read_stream, register
from datasources.embedded import MySqlAddress
from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache

__all__ = [
    "JDBC_SETTINGS",
    "Ran",
    "Sides",
    "fetch_connector_j",
    "read_all",
    "read_batch",
    "session",
    "sums_of",
    "sums_of_stream",
]

PARALLELISM: Final = 2
CONNECTOR_J_VERSION: Final = "9.5.0"
JDBC_SETTINGS: Final = {
    "connector": f"mysql-connector-j {CONNECTOR_J_VERSION}",
    "numPartitions": str(PARALLELISM),
    "fetchsize": "-2147483648",
    "sslMode": "DISABLED",
    "preferTimestampNTZ": "true",
}
"""With this fetch size Connector/J hands rows on as they come."""

_KEY: Final = "id"
_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One reading.

    Attributes:
        rows: the number of rows read.
        seconds: how long it took.
    """

    rows: int
    seconds: float


def fetch_connector_j(report: Callable[[str], None]) -> tuple[Path, ...]:
    """Return the jars of MySQL's JDBC driver.

    Raises:
        EnvironmentProblem: They cannot be fetched; the message gives the reason.
    """
    bundle = JarBundle(
        title=f"mysql-connector-j {CONNECTOR_J_VERSION}",
        directory_name=f"peer-mysql-connector-j-{CONNECTOR_J_VERSION}",
        size_mb=5,
        artifacts=(Artifact(organisation="com.mysql", name="mysql-connector-j", revision=CONNECTOR_J_VERSION),),
        instead="Without it there is nothing to compare with.",
    )
    return tuple(sorted(JarCache(report=report).provide(bundle).glob("*.jar")))


@contextmanager
def session(jars: Sequence[Path], settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[SparkSession]:
    """Start the session of all sides, and stop it after the block."""
    builder = (
        SparkSession.builder.master(f"local[{PARALLELISM}]")
        .config("spark.jars", ",".join(map(str, jars)))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        spark.sparkContext.setLogLevel("ERROR")
        register(spark)
        yield spark
    finally:
        spark.stop()


class Sides:
    """Reads one server.

    Args:
        spark: the session.
        login: the reader's.
    """

    def __init__(self, spark: SparkSession, login: MySqlAddress) -> None:
        self._spark = spark
        self._login = login

    def jdbc(self, table: str, rows: int) -> DataFrame:
        """Return a table as Spark's JDBC source reads it, in two parts of the key."""
        login = self._login
        options = {
            "url": f"jdbc:mysql://{login.host}:{login.port}/{DATABASE}?sslMode={JDBC_SETTINGS['sslMode']}&allowPublicKeyRetrieval=true"
            "&connectionTimeZone=UTC",
            "driver": "com.mysql.cj.jdbc.Driver",
            "dbtable": table,
            "user": login.user,
            "password": login.password,
            "partitionColumn": _KEY,
            "lowerBound": 0,
            "upperBound": rows,
            "numPartitions": JDBC_SETTINGS["numPartitions"],
            "fetchsize": JDBC_SETTINGS["fetchsize"],
            "preferTimestampNTZ": JDBC_SETTINGS["preferTimestampNTZ"],
        }
        return self._spark.read.format("jdbc").options(**options).load()

    def ours(self, table: str) -> DataFrame:
        """Return a table as a batch read of Tidemark."""
        return self._spark.read.format("tidemark-mysql").options(**self._options(table)).load()

    def snapshot(self, table: str) -> DataFrame:
        """Return a table as Tidemark's stream reads it, up to the end of the table."""
        mode = {"scan.startup.mode": "snapshot"}
        return read_stream(self._spark, "tidemark-mysql", {**self._options(table), **mode})

    def changes(self, changes: Changes) -> DataFrame:
        """Return what changed."""
        start = {
            "scan.startup.mode": "specific-offset",
            "scan.startup.specific-offset.file": changes.start.file,
            "scan.startup.specific-offset.pos": str(changes.start.pos),
        }
        kinds = {"scan.metadata": "row_kind"}
        return read_stream(self._spark, "tidemark-mysql", {**self._options(changes.table), **start, **kinds})

    def _options(self, table: str) -> dict[str, str]:
        return {
            **options_of(self._login, table),
            "scan.metadata": "",  # the table's columns, as the peers read them
            "scan.snapshot.parallelism": str(PARALLELISM),
        }


def read_batch(df: DataFrame, rows: int) -> Ran:
    """Return the cost of a batch read of so many rows."""
    begin = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    return Ran(rows=rows, seconds=time.perf_counter() - begin)


def read_all(df: DataFrame) -> Ran:
    """Return the cost of a stream that reads all available rows."""
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = df.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
    batches = [each for each in query.recentProgress if each.numInputRows]
    first, last = batches[0], batches[-1]
    ended = _seconds(last.timestamp) + last.durationMs["triggerExecution"] / _MS
    return Ran(rows=sum(each.numInputRows for each in batches), seconds=ended - _seconds(first.timestamp))


def sums_of(df: DataFrame) -> tuple[Any, ...]:
    """Return what a table holds: the number of rows, and the sum of a hash of each."""
    every = F.sum(F.xxhash64(*[F.col(name) for name in COLUMNS]).cast("decimal(38,0)"))
    return tuple(df.select(*COLUMNS).agg(F.count("*"), every).collect()[0])


def sums_of_stream(df: DataFrame) -> tuple[Any, ...]:
    """Return the same of a stream's rows."""
    found: list[tuple[Any, ...]] = []

    def collect(batch: DataFrame, _: int) -> None:
        found.append(sums_of(batch))

    with tempfile.TemporaryDirectory() as checkpoint:
        query = df.writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint)
        query.trigger(availableNow=True).start().awaitTermination()
    return tuple(sum(values) for values in zip(*(each for each in found if each[0]), strict=True))


def _seconds(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).timestamp()
