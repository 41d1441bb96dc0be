"""Nexmark's events as plain Spark reads them: spark-sql-kafka, `from_json` with the fields that a query needs."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.nexmark.dataset import TOPIC
from benchmarks.nexmark.sides.side_run import SideRun

__all__ = ["SparkEvents"]

_KINDS: Final = {"person": 0, "auction": 1, "bid": 2}
_TYPES: Final = {
    "name": "STRING", "emailAddress": "STRING", "creditCard": "STRING", "city": "STRING", "state": "STRING",
    "itemName": "STRING", "description": "STRING", "channel": "STRING", "url": "STRING", "extra": "STRING",
    "dateTime": "TIMESTAMP", "expires": "TIMESTAMP",
}  # fmt: skip
"""Other fields are BIGINT."""
_DELAY: Final = "4 seconds"


class SparkEvents:
    """The topic's events of each kind.

    Args:
        spark: the session.
        asked: the run.
    """

    def __init__(self, spark: Any, asked: SideRun) -> None:
        self.spark, self.asked = spark, asked

    def rows(self, kind: str, *fields: str) -> Any:
        """Return fields of the events of a kind."""
        from pyspark.sql import functions as F  # noqa: N812

        raw = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.asked.bootstrap)
            .option("subscribe", TOPIC)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", self.asked.batch_events)
            .load()
        )
        row = ", ".join(f"{field}: {_TYPES.get(field, 'BIGINT')}" for field in fields)
        schema = f"event_type INT, {kind} STRUCT<{row}>"
        event = raw.select(F.from_json(F.col("value").cast("string"), schema).alias("event"))
        return event.where(f"event.event_type = {_KINDS[kind]}").select(f"event.{kind}.*")

    def timed(self, kind: str, *fields: str) -> Any:
        """Return fields of the events of a kind, `dateTime` among them, with its watermark."""
        return self.rows(kind, *fields).withWatermark("dateTime", _DELAY)

    @property
    def side_input(self) -> Any:
        """The side input of q13, a table that does not change."""
        return self.spark.read.schema("key BIGINT, value STRING").csv(f"{self.asked.directory}/side_input.txt")
