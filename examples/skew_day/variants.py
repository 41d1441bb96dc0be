"""The same windowed count three times: with Spark's connector, with Tidemark's, and with Tidemark's aligned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.durations import format_duration_ms
from datasources.errors import QueryError
from datasources.session import read_stream
from examples.skew_day.progress import Drain
from examples.skew_day.topic import Backlog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["DrainSettings", "Result", "Variant", "drain", "tidemark_options"]

_SCHEMA: Final = "user BIGINT, price DOUBLE, ts TIMESTAMP"
_GROUP: Final = "skew"


class Variant(Enum):
    """What makes the watermark, and whether the partitions wait for each other.

    Values: how it is shown.
    """

    SPARK = "spark-sql-kafka + withWatermark"
    UNALIGNED = "Tidemark"
    ALIGNED = "Tidemark, aligned"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainSettings:
    """How the backlog is read; the same for all variants.

    Attributes:
        rows_per_batch: maxOffsetsPerTrigger.
        max_drift_ms: scan.watermark.alignment.max-drift.
    """

    rows_per_batch: int
    max_drift_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one query did.

    Attributes:
        answer: Records by (start of the window in ms since the epoch, user).
        drain: Its batches.
    """

    answer: Mapping[tuple[int, int], int]
    drain: Drain


def drain(spark: SparkSession, variant: Variant, settings: DrainSettings, backlog: Backlog, directory: Path) -> Result:
    """Read the whole backlog with one variant; return when the query has ended.

    Args:
        spark: A session; Spark's own variant needs its connector on the class path.
        variant: Which query.
        settings: How it reads.
        backlog: What it reads.
        directory: For the checkpoint; does not exist yet.

    Raises:
        QueryError: The query gave a window twice.
    """
    records = _records(spark, variant, settings, backlog)
    counts = records.groupBy(F.window("ts", "1 minute"), "user").count()
    name = f"skew_{variant.name.lower()}"
    writer = counts.writeStream.outputMode("append").format("memory").queryName(name)
    query = writer.option("checkpointLocation", str(directory)).trigger(availableNow=True).start()
    try:
        query.awaitTermination()
        return Result(answer=_answer(spark, name), drain=Drain.from_progress(p.json for p in query.recentProgress))
    finally:
        query.stop()
        spark.catalog.dropTempView(name)


def _records(spark: SparkSession, variant: Variant, settings: DrainSettings, backlog: Backlog) -> DataFrame:
    common: dict[str, Any] = {
        "kafka.bootstrap.servers": backlog.servers,
        "subscribe": backlog.topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": settings.rows_per_batch,
    }
    if variant is Variant.SPARK:
        stream = spark.readStream.format("kafka").options(**common).load()
        parsed = stream.select(F.from_json(F.col("value").cast("string"), _SCHEMA).alias("record")).select("record.*")
        return parsed.withWatermark("ts", "10 seconds")
    return read_stream(spark, "tidemark-kafka", {**common, **tidemark_options(variant, settings)})


def tidemark_options(variant: Variant, settings: DrainSettings) -> dict[str, str]:
    """Return what Tidemark's two variants add to the options of Spark's."""
    options = {
        "format": "json",
        "schema": _SCHEMA,
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '10' SECOND",
        # The day is over: a partition that was read to its end does not wait, and the last windows close.
        "scan.bounded.mode": "latest-offset",
    }
    if variant is Variant.ALIGNED:
        options["scan.watermark.alignment.group"] = _GROUP
        options["scan.watermark.alignment.max-drift"] = format_duration_ms(settings.max_drift_ms)
    return options


def _answer(spark: SparkSession, table: str) -> dict[tuple[int, int], int]:
    rows = spark.table(table).select(F.unix_millis("window.start"), "user", "count").collect()
    given = Counter((row[0], row[1]) for row in rows)
    again = [key for key, times in given.items() if times > 1]
    if again:
        raise QueryError(f"the query gave {len(again)} windows more than once, the first is {again[0]}")
    return {(row[0], row[1]): row[2] for row in rows}
