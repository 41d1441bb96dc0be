"""The same windowed count twice: with Spark's watermark and with Tidemark's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.demo.queries.failure_text import first_line
from datasources.demo.results.timeline import Moment, QueryTimeline
from datasources.demo.story.broker import OrdersTopic
from datasources.errors import QueryError
from datasources.session import read_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_SCHEMA: Final = "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP"
_TRIGGER: Final = "1 second"

SNIPPET: Final = """\
from datasources import read_stream
orders = read_stream(spark, "tidemark-kafka", {
    "kafka.bootstrap.servers": "broker:9092", "subscribe": "orders", "startingOffsets": "earliest",
    "format": "json", "schema": "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP", "watermark.for": "ts",
    "watermark.as": "ts - INTERVAL '10' SECOND", "scan.watermark.idle-timeout": "8 s"})
counts = orders.groupBy(F.window("ts", "1 minute"), "item").count()"""
"""What a user copies; the demo runs the same options."""


class QuerySide(Enum):
    """What makes the watermark.

    Values: how it is shown.
    """

    SPARK = "Spark's withWatermark"
    SPARK_KAFKA = "Spark's withWatermark (its own Kafka source)"
    TIDEMARK = "Tidemark"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """One running query."""

    side: QuerySide
    query: StreamingQuery

    @classmethod
    def start(cls, spark: SparkSession, side: QuerySide, *, topic: OrdersTopic, directory: Path) -> Self:
        """Start counting the orders of a topic, from its beginning."""
        orders = _orders(spark, side, topic.bootstrap_servers, topic.name)
        counts = orders.groupBy(F.window("ts", "1 minute"), "item").count()
        writer = counts.writeStream.outputMode("append").format("memory").queryName(side.name.lower())
        writer = writer.option("checkpointLocation", str(directory / side.name.lower()))
        return cls(side=side, query=writer.trigger(processingTime=_TRIGGER).start())

    def newest_moment(self) -> Moment | None:
        """Return the newest batch that ended, if any.

        Raises:
            QueryError: The query failed; the message is its first line.
        """
        failure = self.query.exception()
        if failure is not None:
            raise QueryError(f"the demo's query '{self.side.value}' failed: {first_line(failure)}")
        progress = self.query.lastProgress
        return None if progress is None else Moment.from_progress(progress.json)

    def timeline(self) -> QueryTimeline:
        """Return all batches so far."""
        return QueryTimeline.from_progress(progress.json for progress in self.query.recentProgress)

    def answer(self, spark: SparkSession) -> dict[tuple[int, str], int]:
        """Return the counts so far, by (start of the window in ms since the epoch, item)."""
        table = spark.table(self.side.name.lower())
        rows = table.select(F.unix_millis("window.start").alias("start_ms"), "item", F.col("count").alias("orders"))
        return {(row["start_ms"], row["item"]): row["orders"] for row in rows.collect()}

    def stop(self) -> None:
        """Stop the query."""
        self.query.stop()


def tidemark_options(servers: str, topic: str) -> dict[str, str]:
    """Return the options of the query that follows Tidemark's watermark."""
    return {
        **_plain_options(servers, topic),
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '10' SECOND",
        "scan.watermark.idle-timeout": "8 s",
    }


def _orders(spark: SparkSession, side: QuerySide, servers: str, topic: str) -> DataFrame:
    if side is QuerySide.TIDEMARK:
        return read_stream(spark, "tidemark-kafka", tidemark_options(servers, topic))
    # The same delay; Spark takes it from the newest order of all partitions.
    return _without_watermark(spark, side, servers, topic).withWatermark("ts", "10 seconds")


def _without_watermark(spark: SparkSession, side: QuerySide, servers: str, topic: str) -> DataFrame:
    if side is QuerySide.SPARK:
        return read_stream(spark, "tidemark-kafka", _plain_options(servers, topic))
    stream = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    records = stream.option("subscribe", topic).option("startingOffsets", "earliest").load()
    return records.select(F.from_json(F.col("value").cast("string"), _SCHEMA).alias("order")).select("order.*")


def _plain_options(servers: str, topic: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": _SCHEMA,
    }
