"""Session windows of a batch DataFrame with Spark's window functions: no state, no late rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField, TimestampType

from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS
from datasources.spark.operators.buckets.rowtime_micros import micros_of

__all__ = ["batch_session_windows"]

_TIME = "__tidemark_rowtime"
_BEGINS = "__tidemark_begins"
_SESSION = "__tidemark_session"
_US_PER_MS = 1_000


def batch_session_windows(df: DataFrame, *, keys: Sequence[str], time: StructField, gap_us: int) -> DataFrame:
    """Return the rows with their session windows; rows without rowtime are dropped."""
    by_key = Window.partitionBy(*(F.col(f"`{key}`") for key in keys))
    in_time = by_key.orderBy(_TIME)
    distance = F.col(_TIME) - F.lag(_TIME).over(in_time)
    timed = df.withColumn(_TIME, micros_of(time)).where(F.col(_TIME).isNotNull())
    if HEARTBEAT_COLUMN in df.columns:
        timed = timed.where(~F.col(HEARTBEAT_COLUMN))
    marked = timed.withColumn(_BEGINS, F.coalesce(distance > gap_us, F.lit(True)).cast("int"))
    up_to_here = in_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    numbered = marked.withColumn(_SESSION, F.sum(_BEGINS).over(up_to_here))
    in_session = Window.partitionBy(*(F.col(f"`{key}`") for key in keys), _SESSION)
    first, last = F.min(_TIME).over(in_session), F.max(_TIME).over(in_session)
    data = [name for name in df.columns if name not in HIDDEN_COLUMNS]
    return numbered.select(
        *(F.col(f"`{name}`") for name in data),
        _instant(first, time).alias("window_start"),
        _instant(last + gap_us, time).alias("window_end"),
        _instant(last + (gap_us - _US_PER_MS), time).alias("window_time"),
        *(name for name in HIDDEN_COLUMNS if name in df.columns),
    )


def _instant(micros: Column, time: StructField) -> Column:
    if isinstance(time.dataType, TimestampType):
        return F.timestamp_micros(micros)
    seconds = (micros / F.lit(1_000_000).cast("decimal(7, 0)")).cast("decimal(18, 6)")
    zero = F.lit(0)
    return F.expr("TIMESTAMP_NTZ'1970-01-01 00:00:00'") + F.make_dt_interval(zero, zero, zero, seconds)
