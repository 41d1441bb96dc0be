"""Making Spark's stateful operators follow the reader's watermark (DESIGN F1).

    df.withWatermark("_watermark", "0 seconds")             -- Spark's watermark = the largest stamp = the reader's
      .filter("rand() + cast(_heartbeat as double) < 1")    -- the barrier: heartbeats end here
      .select(ts with metadata spark.watermarkDelayMs, ...) -- the columns that operators take for event time

The barrier must be non-deterministic and not splittable: Spark pushes deterministic filters, its own inferred ones
and the user's, below EventTimeWatermark. Without it heartbeats would vanish before they could move the watermark, and
the watermark would follow only the rows that pass the user's filter.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import QueryError
from datasources.source.stamps import HEARTBEAT_COLUMN, HIDDEN_COLUMNS, WATERMARK_COLUMN
from datasources.spark.schema import time_attribute_of
from datasources.spark.session_checks import require_classic, require_working_settings

__all__ = ["DELAY_KEY", "with_source_watermark"]

DELAY_KEY = "spark.watermarkDelayMs"
_BARRIER = f"rand() + cast({HEARTBEAT_COLUMN} as double) < 1"


def with_source_watermark(df: DataFrame, *time_attributes: str) -> DataFrame:
    """Return a stream that Spark's stateful operators follow, without the hidden columns.

    Args:
        df: what `load()` of a Tidemark source with `watermark.for` and `watermark.as` returned, unchanged.
        time_attributes: columns that are event time; default: the one of `watermark.for`. A nested one, `a.b.c`,
            becomes a top-level column `a_b_c`.

    Raises:
        QueryError: the DataFrame has no hidden columns, a column does not exist, or a setting breaks event time.
    """
    spark = df.sparkSession
    require_classic(spark)
    require_working_settings(spark)
    attribute = time_attribute_of(df.schema)
    paths = time_attributes or (attribute.path,)
    metadata = {DELAY_KEY: attribute.delay_ms}
    event_times = {_column_name(path): _attribute(df, path, metadata) for path in paths}
    data = [name for name in df.columns if name not in HIDDEN_COLUMNS]
    columns = [event_times.pop(name, F.col(f"`{name}`")) for name in data]
    attached = df.withWatermark(WATERMARK_COLUMN, "0 seconds").filter(_BARRIER)
    return attached.select(*columns, *event_times.values())


def _column_name(path: str) -> str:
    return path.replace("`", "").replace(".", "_") if "." in path else path.replace("`", "")


def _attribute(df: DataFrame, path: str, metadata: dict[str, int]) -> Column:
    top = path.split(".", 1)[0].replace("`", "")
    if top.lower() not in {name.lower() for name in df.columns}:
        raise QueryError(f"there is no column '{top}' for the time attribute '{path}'; columns: {df.columns}")
    name = next((n for n in df.columns if n.lower() == path.replace("`", "").lower()), _column_name(path))
    return F.col(path).alias(name, metadata=metadata)
