"""session_windows(): Flink's SESSION windows with PARTITION BY, exact for late rows, on Spark's state.

    loaded stream -> pack -> [shuffle by bucket] transformWithState -> count -> unpack -> attach, once, by the caller

The operator reads the stream below the attach step, so it gets heartbeats and the row watermark of every row. Time mode
is None: in Spark's EventTime mode late rows would be dropped before the operator sees them, and in ProcessingTime mode
an AvailableNow query never ends. Emitted rows carry the watermark before the micro-batch, at which their session was
still open, and heartbeats the one after it: no downstream operator treats an emitted row as late. Flink does the same:
rows leave an operator before the watermark that made it emit them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField, StructType, TimestampType

from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS
from datasources.spark.operators.buckets.bucket_operator import (
    DEFAULT_BUCKETS,
    data_fields,
    require_buckets,
    row_batches,
    run_buckets,
)
from datasources.spark.operators.buckets.partition_keys import HASH_VERSION, require_keys
from datasources.spark.operators.buckets.rowtime_micros import micros_of, require_time_column
from datasources.spark.operators.buckets.state_settings import configure_state
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.sessions.session_groups import SessionGroups
from datasources.spark.operators.sessions.session_processor import COUNTS, SessionProcessor
from datasources.spark.operators.sessions.session_step import WINDOW_COLUMNS, SessionRule
from datasources.spark.plans.session_checks import require_frame
from datasources.spark.plans.session_marker import SessionMarker
from datasources.spark.scan.schema import arrow_output_schema, time_attribute_of

__all__ = ["DEFAULT_BUCKETS", "METRICS_PREFIX", "session_windows"]

_TIME = "__tidemark_rowtime"
_BEGINS = "__tidemark_begins"
_ATTRIBUTE = "__tidemark_attribute"
_KEY_PREFIX = "__tidemark_partition_key_"
_SESSION = "__tidemark_session"
_US_PER_MS = 1_000
METRICS_PREFIX: Final = "tidemark_session_windows_"
"""Prefix of the observed metrics: late_rows and null_rowtime_rows of each micro-batch."""


def session_windows(  # noqa: PLR0913 - each is a part of the window's definition
    df: DataFrame,
    *,
    keys: Sequence[str],
    attribute: str,
    gap_ms: int,
    buckets: int = DEFAULT_BUCKETS,
    exact: bool = True,
) -> DataFrame:
    """Return the rows with the session that each belongs to: window_start, window_end, window_time.

    A row is emitted when its session has ended: when the watermark reaches window_end - 1 ms. Rows exactly `gap_ms`
    apart are in one session. Late rows (whose session would have ended already) and rows without rowtime are dropped;
    the query's progress counts both under `observedMetrics`.

    Args:
        df: a stream as returned by `load()` of a Tidemark source, with projections and filters at most, with the
            hidden columns and all heartbeats. Attach the result, not this. Or a batch DataFrame.
        keys: the columns of PARTITION BY; empty: all rows share the same sessions.
        attribute: the time attribute, TIMESTAMP or TIMESTAMP_NTZ; the new columns have its type.
        gap_ms: the gap, ms, at least 1.
        buckets: number of buckets into which keys are hashed; fixed for the life of a checkpoint. More buckets than
            cores bring nothing.
        exact: compare each row with the watermark before it, as Flink does; useful with on-event emission only. False
            compares all rows of a micro-batch with the watermark before it, which drops fewer rows.

    Raises:
        QueryError: a column is missing or has the wrong type, the stream has no hidden columns, a number is out of
            range, or the session asks for another state store than RocksDB.
        EnvironmentProblem: a package that PySpark needs for it is missing.
    """
    require_frame(df, "session_windows()")
    names = require_keys(df.schema, keys)
    time = require_time_column(df.schema, attribute)
    _validate(df, gap_ms, buckets)
    rule = SessionRule(keys=names, gap_us=gap_ms * 1_000, exact=exact)
    if not df.isStreaming:
        return _batch_session_windows(df, keys=names, time=time, gap_us=rule.gap_us)
    time_attribute_of(df.schema)
    marker = SessionMarker(keys=names, attribute=time.name, gap_ms=gap_ms, buckets=buckets if names else 1, exact=exact)
    data = StructType(data_fields(df))
    settings = StoredSettings.of(_settings(marker, data))
    return _operator(df, marker, rule, settings, data).alias(marker.alias)


def grouped_session_windows(
    df: DataFrame, marker: SessionMarker, groups: SessionGroups, texts: Mapping[str, str]
) -> DataFrame:
    """Return partial aggregates of the rows of sessions with their windows, in place of the rows.

    State with rows goes on: their aggregates are computed when they are read.

    Args:
        df: the stream of the windows, as `session_windows` takes it.
        marker: the windows.
        groups: the aggregates.
        texts: the values of the columns of ``groups`` as Spark SQL over those of ``df``, in their order.
    """
    keys = {name: f"{_KEY_PREFIX}{number}" for number, name in enumerate(marker.keys)}
    values = {**{new: F.col(quoted(old)) for old, new in keys.items()}, _ATTRIBUTE: F.col(quoted(marker.attribute))}
    values |= {name: F.when(~F.col(HEARTBEAT_COLUMN), F.expr(text)) for name, text in texts.items()}
    rows = df.select(*(value.alias(name) for name, value in values.items()), *HIDDEN_COLUMNS)
    rule = SessionRule(keys=tuple(keys.values()), gap_us=marker.gap_ms * 1_000, exact=marker.exact, groups=groups)
    of_rows = _settings(marker, StructType(data_fields(df)))
    settings = replace(
        StoredSettings.of({**of_rows, "aggregates": list(texts.values())}), other=StoredSettings.of(of_rows).text
    )
    data = StructType([rows.schema[name] for name in groups.columns])
    return _operator(rows, replace(marker, keys=rule.keys, attribute=_ATTRIBUTE), rule, settings, data)


def _settings(marker: SessionMarker, data: StructType) -> dict[str, object]:
    return {
        "buckets": marker.buckets,
        "hash": HASH_VERSION,
        "partition by": list(marker.keys),
        "time attribute": marker.attribute,
        "gap (ms)": marker.gap_ms,
        "columns": str(arrow_output_schema(data)),
    }


def _operator(
    df: DataFrame, marker: SessionMarker, rule: SessionRule, settings: StoredSettings, data: StructType
) -> DataFrame:
    """Return columns of rows, or of what is kept of them, with their windows."""
    configure_state(df.sparkSession)
    time = df.schema[marker.attribute]
    columns = [F.col(quoted(field.name)) for field in data_fields(df)]
    return run_buckets(
        row_batches(df, columns, time=time, keys=marker.keys, buckets=marker.buckets),
        SessionProcessor(rule, settings),
        counts=COUNTS,
        metrics=METRICS_PREFIX,
        fields=_output_schema(df.schema, data, time),
    )


def _validate(df: DataFrame, gap_ms: int, buckets: int) -> None:
    if gap_ms < 1:
        raise QueryError(f"the gap of session windows is {gap_ms} ms: it must be at least 1 ms.")
    require_buckets(buckets)
    lower = [name.lower() for name in df.columns]
    if len(set(lower)) < len(lower):
        raise QueryError(f"the stream has several columns of one name: {', '.join(df.columns)}. Give each its own.")
    conflicting = [name for name in WINDOW_COLUMNS if name in lower]
    if conflicting:
        raise QueryError(
            f"the stream already has a column '{conflicting[0]}', which session windows add: rename it first."
        )


def _output_schema(whole: StructType, data: StructType, time: StructField) -> StructType:
    windows = [StructField(name, time.dataType) for name in WINDOW_COLUMNS]
    hidden = [whole[name] for name in HIDDEN_COLUMNS]
    # A heartbeat has NULL in all data columns, even in those declared NOT NULL.
    nullable = [StructField(f.name, f.dataType, nullable=True, metadata=f.metadata) for f in data.fields]
    return StructType([*nullable, *windows, *hidden])


def _batch_session_windows(df: DataFrame, *, keys: Sequence[str], time: StructField, gap_us: int) -> DataFrame:
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
