"""The watermark of any Spark source, made by Spark itself: what stays of a strategy that could not be pushed down.

A row's candidate becomes the column `_watermark`, and from there on everything is as with a source of ours: Spark's
watermark is the largest candidate, and no filter of the user's moves below it. What is lost is what only a reader can
do: the watermark is not the minimum over splits, there are no heartbeats, no idleness and no alignment, and a row does
not know the watermark before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import ByteType, DataType, IntegerType, LongType, ShortType, TimestampNTZType, TimestampType

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import MAX_ROW_WATERMARK_MS, RESERVED_COLUMNS, WATERMARK_COLUMN
from datasources.spark.attach.attach import AttachedColumn, projected
from datasources.spark.plans.session_checks import require_working_settings
from datasources.spark.scan.schema import METADATA_KEY, watermark_metadata

# Always true, and never moved below the watermark. Spark removes conditions that it knows to be true, such as rand() <
# 1.
_BARRIER = f"spark_partition_id() * cast(unix_micros({WATERMARK_COLUMN}) as double) >= 0"
_INTEGERS = (ByteType, ShortType, IntegerType, LongType)


def assign_watermark(
    df: DataFrame,
    expression: str,
    columns: Sequence[AttachedColumn],
    *,
    delay_ms: int | None = None,
    row_watermark_as: str | None = None,
) -> DataFrame:
    """Return a stream whose watermark is the largest value of an expression, with exactly these columns.

    Args:
        df: a DataFrame of any source; computed columns that the expression names are already there.
        expression: the candidate of a row as Spark SQL: TIMESTAMP; TIMESTAMP_NTZ, which is its wall clock read as
            UTC; or epoch milliseconds as BIGINT. It is floored to whole milliseconds. NULL, or a time before 1970,
            moves nothing.
        columns: in order, over the columns of `df`.
        delay_ms: by how much the candidate is behind the rowtime; None = not constant.
        row_watermark_as: None. Only readers know the watermark before each row.

    Raises:
        QueryError: the type is another one, `df` has a column with a reserved name, row watermarks are requested, or a
            setting breaks event time.
    """
    if row_watermark_as is not None:
        raise QueryError(
            "the watermark of this source is made by Spark, so a row does not know the watermark before it: "
            "CURRENT_WATERMARK and exact late rows need a source that makes the watermark itself."
        )
    require_working_settings(df.sparkSession)
    taken = [name for name in df.columns if name.lower() in RESERVED_COLUMNS]
    if taken:
        raise QueryError(f"the column '{taken[0]}' has a name that Tidemark uses itself: rename it.")
    found = df.select(F.expr(expression)).schema.fields[0].dataType
    attribute = next((column.name for column in columns if column.is_event_time), "")
    info = watermark_metadata(
        attribute=attribute, delay_ms=delay_ms, is_local=isinstance(found, TimestampNTZType), is_clock=False
    )
    row_watermark = F.expr(_row_watermark(expression, found)).alias(WATERMARK_COLUMN, metadata={METADATA_KEY: info})
    return (
        df.select("*", row_watermark)
        .withWatermark(WATERMARK_COLUMN, "0 seconds")
        .filter(_BARRIER)
        .select(*(projected(column, delay_ms or 0) for column in columns))
    )


def _row_watermark(expression: str, found: DataType) -> str:
    return f"timestamp_millis(least(greatest(coalesce({_millis(expression, found)}, 0L), 0L), {MAX_ROW_WATERMARK_MS}L))"


def _millis(expression: str, found: DataType) -> str:
    """Return the candidate as epoch milliseconds. No text here depends on the session's zone."""
    if isinstance(found, TimestampType):
        return f"unix_millis({expression})"
    if isinstance(found, _INTEGERS):
        return f"CAST(({expression}) AS BIGINT)"
    if not isinstance(found, TimestampNTZType):
        raise QueryError(
            f"the watermark '{expression}' is {found.simpleString().upper()}, and has to be TIMESTAMP, TIMESTAMP_NTZ, "
            f"or BIGINT epoch milliseconds."
        )
    wall = f"({expression})"
    days = f"CAST(date_diff(CAST({wall} AS DATE), DATE '1970-01-01') AS BIGINT)"
    seconds = f"(({days} * 24 + hour({wall})) * 60 + minute({wall})) * 60"
    return f"(({seconds}) * 1000 + CAST(floor(extract(SECOND FROM {wall}) * 1000) AS BIGINT))"
