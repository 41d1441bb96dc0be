"""The frame of every bucket operator: pack rows, run the processor on each bucket, unpack rows and heartbeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import StructField, StructType

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS, WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import result_schema
from datasources.spark.operators.buckets.partition_keys import bucket_of
from datasources.spark.operators.buckets.row_batches import (
    BUCKET_COLUMN,
    ROW_BATCH_SCHEMA,
    ROW_WATERMARK_COLUMN,
    ROWTIME_COLUMN,
    Pack,
    Unpack,
)
from datasources.spark.operators.buckets.rowtime_micros import micros_of
from datasources.spark.plans.row_batch_marker import RowBatchMarker
from datasources.spark.scan.schema import arrow_output_schema

DEFAULT_BUCKETS: Final = 16
_MAX_BUCKETS: Final = 4_096
_numbers: Final = defaultdict[str, Iterator[int]](lambda: count(1))


def require_buckets(buckets: int) -> None:
    """Raise a QueryError unless the number of buckets is allowed."""
    if not 1 <= buckets <= _MAX_BUCKETS:
        raise QueryError(f"buckets = {buckets}: it must be between 1 and {_MAX_BUCKETS}; 16 suits most queries.")


def data_fields(df: DataFrame) -> list[StructField]:
    """Return the columns that are not hidden."""
    return [field for field in df.schema.fields if field.name not in HIDDEN_COLUMNS]


def _helper_columns(df: DataFrame, time: StructField, keys: Sequence[str], buckets: int) -> list[str | Column]:
    """Return the columns that packing needs: rowtime and row watermark in µs, bucket, heartbeat flag."""
    return [
        HEARTBEAT_COLUMN,
        micros_of(time).alias(ROWTIME_COLUMN),
        F.unix_micros(WATERMARK_COLUMN).alias(ROW_WATERMARK_COLUMN),
        bucket_of(df.schema, keys, buckets).alias(BUCKET_COLUMN),
    ]


def row_batches(
    df: DataFrame, columns: Sequence[Column], *, time: StructField, keys: Sequence[str], buckets: int
) -> DataFrame:
    """Return columns of a stream in row batches by the buckets of its keys, under a mark for the planner."""
    marker = RowBatchMarker(buckets=buckets, keys=tuple(keys), time=time.name)
    return packed(df.select(*columns, *_helper_columns(df, time, keys, buckets)), buckets).alias(marker.alias)


def packed(df: DataFrame, buckets: int) -> DataFrame:
    """Pack rows with helper columns into row batches, with heartbeats for every bucket."""
    return df.mapInArrow(Pack(buckets=buckets), ROW_BATCH_SCHEMA)


def run_buckets(  # noqa: PLR0913 - the definition of an operator
    batches: DataFrame,
    processor: StatefulProcessor,
    *,
    counts: Sequence[str],
    metrics: str,
    fields: StructType,
    time_mode: str = "None",
) -> DataFrame:
    """Run a processor on every bucket.

    ``batches`` is the result of `row_batches` or `packed`. The query's progress holds the sums of ``counts`` over all
    buckets as observed metrics whose names begin with ``metrics``. Hidden columns are the last of ``fields``; the time
    mode is EventTime for a processor that reads Spark's watermark.
    """
    results = batches.groupBy("bucket").transformWithStateInPandas(
        statefulProcessor=processor, outputStructType=result_schema(counts), outputMode="Append", timeMode=time_mode
    )
    sums = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in counts]
    return results.observe(f"{metrics}{next(_numbers[metrics])}", *sums).mapInArrow(
        Unpack(schema=arrow_output_schema(fields)), fields
    )
