"""OVER of a batch DataFrame with Spark's window functions: no state, no late rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField

from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS
from datasources.spark.operators.buckets.rowtime_micros import micros_of
from datasources.spark.operators.over.frames.frame_spec import OverFrame, OverRule, Unit

__all__ = ["batch_over"]

_TIME = "__tidemark_rowtime"
_PARTITION = "__tidemark_partition"


def batch_over(df: DataFrame, aggregates: Mapping[str, str], rule: OverRule, time: StructField) -> DataFrame:
    """Return the rows with their aggregates; rows without rowtime are dropped."""
    timed = df.withColumn(_TIME, micros_of(time)).where(F.col(_TIME).isNotNull())
    if HEARTBEAT_COLUMN in df.columns:
        timed = timed.where(~F.col(HEARTBEAT_COLUMN))
    keys = [F.col(f"`{key}`") for key in rule.keys]
    if rule.ttl_us is not None:
        in_time = Window.partitionBy(*keys).orderBy(_TIME)
        begins = F.coalesce(F.col(_TIME) - F.lag(_TIME).over(in_time) > rule.ttl_us, F.lit(False)).cast("int")
        timed = timed.withColumn(_PARTITION, begins)
        numbered = in_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        timed = timed.withColumn(_PARTITION, F.sum(_PARTITION).over(numbered))
        keys.append(F.col(_PARTITION))
    window = _framed(Window.partitionBy(*keys).orderBy(_TIME), rule.frame)
    data: Sequence[str] = [name for name in df.columns if name not in HIDDEN_COLUMNS]
    return timed.select(
        *(F.col(f"`{name}`") for name in data),
        *(F.expr(text).over(window).alias(name) for name, text in aggregates.items()),
        *(name for name in HIDDEN_COLUMNS if name in df.columns),
    )


def _framed(window: WindowSpec, frame: OverFrame) -> WindowSpec:
    begin = Window.unboundedPreceding if frame.preceding is None else -frame.preceding
    between = window.rowsBetween if frame.unit is Unit.ROWS else window.rangeBetween
    return between(begin, Window.currentRow)
