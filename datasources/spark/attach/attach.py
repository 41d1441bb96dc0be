"""Making Spark's stateful operators follow the reader's watermark (docs/design.md, Attaching).

    df.withWatermark("_watermark", "0 seconds")             -- Spark's watermark = largest row watermark = the reader's
      .filter("spark_partition_id() + ... _heartbeat ...")  -- the barrier: heartbeats end here
      .select(ts with metadata spark.watermarkDelayMs, ...) -- the columns that operators take for event time

The barrier must be non-deterministic and not splittable: Spark pushes deterministic filters, its own inferred ones
and the user's, below EventTimeWatermark. Without it heartbeats would vanish before they could move the watermark, and
the watermark would follow only the rows that pass the user's filter. What is computed is computed above it: no
expression of a user's ever sees a heartbeat.

`rand()` would do as well, but Spark gives it another seed in every batch, writes the seed into the code that it
generates, and compiles that code anew: in each batch, and the JVM's compiler starts again with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructType

from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS, WATERMARK_COLUMN
from datasources.spark.boundary.connect import is_connect, set_in_session
from datasources.spark.plans.mark_attached import mark_attached
from datasources.spark.plans.session_checks import (
    EXCHANGE_REUSE,
    registered_formats,
    require_frame,
    require_working_settings,
)
from datasources.spark.scan.schema import TimeAttribute, time_attribute_of
from datasources.spark.scan.time_attributes import DELAY_KEY, time_metadata

__all__ = ["DELAY_KEY", "AttachedColumn", "attach", "projected", "with_source_watermark", "with_watermark_of"]

_NO_PARTITION = 1 << 32
_BARRIER = f"spark_partition_id() + cast({HEARTBEAT_COLUMN} as bigint) * {_NO_PARTITION} < {_NO_PARTITION}"
_ROW_WATERMARK = f"nullif({WATERMARK_COLUMN}, TIMESTAMP '1970-01-01 00:00:00Z')"
_LOCAL_ROW_WATERMARK = (  # exact, and without the session's zone, which a cast to TIMESTAMP_NTZ would use
    "TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, "
    f"CAST(CAST(unix_micros({_ROW_WATERMARK}) AS DECIMAL(20, 0)) * 0.000001BD AS DECIMAL(18, 6)))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedColumn:
    """A column of an attached stream.

    Attributes:
        name: its name.
        expression: Spark SQL over the columns below, evaluated above the barrier; None = the column of that name.
        time: `time_attributes.ROWTIME` or PROCTIME for a time attribute.
        is_event_time: whether Spark's stateful operators take it for event time.
    """

    name: str
    expression: str | None = None
    time: str | None = None
    is_event_time: bool = False


def with_source_watermark(df: DataFrame, *time_attributes: str) -> DataFrame:
    """Return a stream that Spark's stateful operators follow, without the hidden columns.

    Args:
        df: what `load()` of a Tidemark source with `watermark.for` and `watermark.as` returned, unchanged.
        time_attributes: columns that are event time; default: the one of `watermark.for`. A nested one, `a.b.c`,
            becomes a top-level column `a_b_c`.

    Raises:
        QueryError: the DataFrame has no hidden columns, a column does not exist, or a setting breaks event time.
    """
    require_frame(df, "with_source_watermark()")
    return with_watermark_of(df, df.schema, time_attributes)


def with_watermark_of(df: DataFrame, schema: StructType, time_attributes: Sequence[str]) -> DataFrame:
    """Return `with_source_watermark(df, *time_attributes)`, where the schema is known without asking Spark."""
    _require_session(df)
    attribute = time_attribute_of(schema)
    paths = time_attributes or (attribute.path,)
    event_times = {_column_name(path): _event_time(schema.names, path, attribute) for path in paths}
    data = [name for name in schema.names if name not in HIDDEN_COLUMNS]
    columns = [event_times.pop(name, F.col(f"`{name}`")) for name in data]
    return _behind_barrier(df).select(*columns, *event_times.values())


def attach(df: DataFrame, columns: Sequence[AttachedColumn], *, row_watermark_as: str | None = None) -> DataFrame:
    """Return an attached stream with exactly these columns, for callers that know more than `with_source_watermark`.

    Args:
        df: what `load()` of a Tidemark source with a watermark returned, unchanged.
        columns: in order. An attribute that is computed above the scan is one with an expression.
        row_watermark_as: also keep the watermark before each row, as this column: in the type of the time
            attribute, NULL while there is none.

    Raises:
        QueryError: the DataFrame has no hidden columns, or a setting breaks event time.
    """
    _require_session(df)
    attribute = time_attribute_of(df.schema)
    row_watermark = (
        []
        if row_watermark_as is None
        else [F.expr(_LOCAL_ROW_WATERMARK if attribute.is_local else _ROW_WATERMARK).alias(row_watermark_as)]
    )
    return _behind_barrier(df).select(*(projected(column, attribute.delay_ms) for column in columns), *row_watermark)


def projected(column: AttachedColumn, delay_ms: int) -> Column:
    """Return the column as it is selected above the barrier, with its marks."""
    value = F.col(quoted(column.name)) if column.expression is None else F.expr(column.expression)
    metadata = time_metadata(time=column.time, delay_ms=delay_ms if column.is_event_time else None)
    return value.alias(column.name, metadata=metadata) if metadata else value.alias(column.name)


def _require_session(df: DataFrame) -> None:
    require_working_settings(df.sparkSession)
    has_listener = registered_formats(df.sparkSession) and not is_connect(df.sparkSession)  # which sets it for a query
    if not has_listener and not set_in_session(df.sparkSession, EXCHANGE_REUSE, "false"):
        raise QueryError(
            f"the definition of a pipeline can change no setting, and one would hide the watermark from operators. "
            f"Add it to the pipeline's specification, spark-pipeline.yml: configuration: {{{EXCHANGE_REUSE}: 'false'}}"
        )


def _behind_barrier(df: DataFrame) -> DataFrame:
    return mark_attached(df).withWatermark(WATERMARK_COLUMN, "0 seconds").filter(_BARRIER)


def _column_name(path: str) -> str:
    return path.replace("`", "").replace(".", "_") if "." in path else path.replace("`", "")


def _event_time(columns: Sequence[str], path: str, attribute: TimeAttribute) -> Column:
    top = path.split(".", 1)[0].replace("`", "")
    if top.lower() not in {name.lower() for name in columns}:
        raise QueryError(f"there is no column '{top}' for the time attribute '{path}'; columns: {list(columns)}")
    name = next((n for n in columns if n.lower() == path.replace("`", "").lower()), _column_name(path))
    return F.col(path).alias(name, metadata=time_metadata(time=attribute.time, delay_ms=attribute.delay_ms))
