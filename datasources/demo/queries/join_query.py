"""The query of the demo's main job: orders wait for a table of MySQL, are joined with it, and counted in windows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import register, temporal_join, with_source_watermark
from datasources.demo.queries.failure_text import first_line
from datasources.demo.queries.waiting import wait_until
from datasources.demo.queries.window_queries import tidemark_options
from datasources.demo.results.join_outcome import Joined
from datasources.demo.results.timeline import Moment
from datasources.demo.story.broker import OrdersTopic
from datasources.demo.story.mysql_shop import CUSTOMERS_TABLE, table_options
from datasources.embedded import MySqlAddress
from datasources.errors import QueryError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

_NAME: Final = "joined_orders"
_TRIGGER: Final = "500 milliseconds"
_BUCKETS: Final = 4
_PROBE, _BUILD = 0, 1  # the indexes of the sources in the query's progress

SNIPPET: Final = """\
from datasources import register, temporal_join, with_source_watermark
register(spark)
orders = spark.readStream.format("tidemark-kafka").options(**order_options).load()      # scan.hold.until: customers
customers = spark.readStream.format("tidemark-mysql").options(**table_options).load()   # scan.hold.name: customers
joined = temporal_join(orders, customers, on=[("user", "id")], as_of="PROCTIME()", how="left")
counts = with_source_watermark(joined).groupBy(F.window("ts", "1 minute"), "item").count()"""
"""What a user copies."""


class JoinQuery:
    """The running query."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query

    @classmethod
    def start(cls, spark: SparkSession, topic: OrdersTopic, server: MySqlAddress, directory: Path) -> Self:
        """Start it: no order is read before the table was.

        The checkpoint goes into ``directory``; the server's login may read the table and its changes.
        """
        register(spark)
        orders = _load(spark, "tidemark-kafka", _order_options(topic))
        customers = _load(spark, "tidemark-mysql", _customer_options(server))
        joined = temporal_join(orders, customers, on=[("user", "id")], as_of="PROCTIME()", how="left", buckets=_BUCKETS)
        counts = (
            with_source_watermark(joined)
            .groupBy(F.window("ts", "1 minute"), "item")
            .agg(F.count("*").alias("orders"), F.count("city").alias("matched"))
        )
        writer = counts.writeStream.outputMode("append").format("memory").queryName(_NAME)
        writer = writer.option("checkpointLocation", str(directory / _NAME))
        return cls(writer.trigger(processingTime=_TRIGGER).start())

    @property
    def watermark_ms(self) -> int:
        """Spark's watermark, ms since the epoch; 0 before the first one.

        Raises:
            QueryError: The query failed.
        """
        failure = self._query.exception()
        if failure is not None:
            raise QueryError(f"the demo's query that joins orders with a MySQL table failed: {first_line(failure)}")
        progress = self._query.lastProgress
        return 0 if progress is None else Moment.from_progress(progress.json).watermark_ms or 0

    @property
    def _batches(self) -> int:
        progress = self._query.lastProgress
        return 0 if progress is None else progress.batchId

    def wait_for(self, watermark_ms: int) -> None:
        """Return when the watermark has reached a time, and with it the last windows that end by then.

        Raises:
            QueryError: The query failed, or did not get there in time.
        """
        wait_until(
            lambda: self.watermark_ms >= watermark_ms,
            lambda: self._batches,
            lambda: "the demo's query that joins orders with a MySQL table had not read all orders",
        )

    def joined(self, spark: SparkSession) -> Joined:
        """Return what it answered so far, and what it read when."""
        table = spark.table(_NAME)
        rows = table.select(F.unix_millis("window.start").alias("start_ms"), "item", "orders", "matched").collect()
        waiting = [progress.sources for progress in self._query.recentProgress if _is_waiting(progress)]
        all_read = sum(progress.sources[_BUILD].numInputRows for progress in self._query.recentProgress)
        read_before = [sources[_BUILD].numInputRows for sources in waiting]
        return Joined(
            answer={(row["start_ms"], row["item"]): row["orders"] for row in rows},
            unmatched=sum(row["orders"] - row["matched"] for row in rows),
            read_before=sum(read_before),
            batches_before=sum(1 for count in read_before if count),
            read_afterwards=all_read - sum(read_before),
        )

    def stop(self) -> None:
        """Stop it."""
        self._query.stop()


def _is_waiting(progress: StreamingQueryProgress) -> bool:
    return bool(json.loads(progress.sources[_PROBE].latestOffset or "{}").get("status") == "waiting")


def _load(spark: SparkSession, source: str, options: dict[str, str]) -> DataFrame:
    return spark.readStream.format(source).options(**options).load()


def _order_options(topic: OrdersTopic) -> dict[str, str]:
    options = tidemark_options(topic.bootstrap_servers, topic.name)
    # All orders are there already: a partition that is silent now stays silent.
    return {**options, "scan.watermark.idle-timeout": "2 s", "scan.hold.until": CUSTOMERS_TABLE}


def _customer_options(server: MySqlAddress) -> dict[str, str]:
    return {
        **table_options(server, CUSTOMERS_TABLE),
        "scan.incremental.snapshot.chunk.size": "2000",
        "scan.max-rows-per-batch": "8000",
        "scan.hold.name": CUSTOMERS_TABLE,
    }
