"""over(): aggregates over the rows before each row, by Flink's rules, on Spark's state.

    loaded stream -> pack -> [shuffle by bucket] transformWithState -> count -> unpack -> attach, once, by the caller

Like session_windows(), the operator reads the stream below the attach step, gets the row watermark of every row and all
heartbeats, and runs in time mode None. A row is emitted when the watermark reaches its time, with a row watermark at
which it was not late yet, so a downstream operator treats it as Flink's would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField, StructType

from datasources.errors import QueryError
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
from datasources.spark.operators.over.aggregate_parsing import ParsedAggregates, parse_aggregates
from datasources.spark.operators.over.frames.frame_spec import OverFrame, OverRule, Unit
from datasources.spark.operators.over.over_processor import COUNTS, OverProcessor
from datasources.spark.plans.session_checks import require_frame
from datasources.spark.scan.schema import arrow_output_schema, time_attribute_of

_TIME = "__tidemark_rowtime"
_PARTITION = "__tidemark_partition"
OVER_METRICS_PREFIX: Final = "tidemark_over_"
"""Prefix of the observed metrics: late_rows, null_rowtime_rows and state_keys of each micro-batch."""

_WHOLE: Final = OverFrame(unit=Unit.RANGE)


def over(  # noqa: PLR0913 - each is a part of the window's definition
    df: DataFrame,
    aggregates: Mapping[str, str],
    *,
    keys: Sequence[str],
    attribute: str,
    frame: OverFrame = _WHOLE,
    processing_time: bool = False,
    ttl_ms: int | None = None,
    buckets: int = DEFAULT_BUCKETS,
    exact: bool = True,
) -> DataFrame:
    """Return the rows with `aggregate OVER (PARTITION BY keys ORDER BY attribute frame)`.

    A row is emitted when the watermark reaches its time; rows of one key are emitted in time order. Late rows (at or
    before the last firing of their key) and rows without rowtime are dropped; the query's progress counts both under
    `observedMetrics`, with the number of keys in the state.

    Args:
        df: a stream as returned by `load()` of a Tidemark source, with projections and filters at most, with the hidden
            columns and all heartbeats. Attach the result, not this. Or a batch DataFrame.
        aggregates: name of the new column -> SUM, COUNT, AVG, MIN, MAX, FIRST_VALUE or LAST_VALUE of an expression, or
            ROW_NUMBER(). Types and NULLs as in Spark; a sum that overflows its type is an error.
        keys: the columns of PARTITION BY; empty: one partition.
        attribute: the column of ORDER BY, ascending: TIMESTAMP or TIMESTAMP_NTZ.
        frame: `OverFrame.rows(n)`, `OverFrame.range(ms)`, or either without a number for UNBOUNDED PRECEDING.
            ROW_NUMBER() alone always uses rows without a number.
        processing_time: the attribute is processing time: rows are emitted at once and never late.
        ttl_ms: a gap between rows of a key longer than this, ms, starts the key anew, so its state can be cleared. Keys
            of bounded RANGE frames are always cleared; other keys only with a TTL.
        buckets: number of buckets into which keys are hashed; fixed for the life of a checkpoint.
        exact: compare each row with the watermark before it, as Flink does; useful with on-event emission only. False
            compares all rows of a micro-batch with the watermark before it, which drops fewer rows.

    Raises:
        QueryError: a column is missing or has the wrong type, an aggregate is not supported, the stream has no hidden
            columns, a number is out of range, or the session asks for another state store than RocksDB.
        EnvironmentProblem: a package that PySpark needs for it is missing.
    """
    require_frame(df, "over()")
    names = require_keys(df.schema, keys)
    time = require_time_column(df.schema, attribute)
    parsed = parse_aggregates(df, aggregates)
    rule = OverRule(
        keys=names,
        frame=_frame_for(parsed, frame),
        aggregates=parsed.aggregates,
        helpers=tuple(parsed.helpers),
        ttl_us=None if ttl_ms is None else ttl_ms * 1_000,
        exact=exact,
        is_processing_time=processing_time,
    )
    _validate(df, rule, buckets)
    if not df.isStreaming:
        return _batch_over(df, aggregates, rule, time)
    time_attribute_of(df.schema)
    configure_state(df.sparkSession)
    return _operator(df, rule, parsed, time, buckets if names else 1)


def _operator(df: DataFrame, rule: OverRule, parsed: ParsedAggregates, time: StructField, buckets: int) -> DataFrame:
    data = StructType(data_fields(df))
    columns = [F.col(f"`{name}`") for name in data.names]
    columns += [value.alias(name) for name, value in parsed.helpers.items()]
    hidden = [df.schema[name] for name in HIDDEN_COLUMNS]
    # A heartbeat has NULL in all data columns, even in those declared NOT NULL.
    nullable = [StructField(f.name, f.dataType, nullable=True, metadata=f.metadata) for f in data.fields]
    return run_buckets(
        row_batches(df, columns, time=time, keys=rule.keys, buckets=buckets),
        OverProcessor(rule, _settings(rule, data, time, buckets)),
        counts=COUNTS,
        metrics=OVER_METRICS_PREFIX,
        fields=StructType([*nullable, *parsed.fields, *hidden]),
    )


def _settings(rule: OverRule, data: StructType, time: StructField, buckets: int) -> StoredSettings:
    return StoredSettings.of(
        {
            "buckets": buckets,
            "hash": HASH_VERSION,
            "partition by": list(rule.keys),
            "order by": f"{time.name}{' (processing time)' if rule.is_processing_time else ''}",
            "frame": rule.frame.shown,
            "ttl (ms)": None if rule.ttl_us is None else rule.ttl_us // 1_000,
            "aggregates": [each.shown for each in rule.aggregates],
            "columns": str(arrow_output_schema(data)),
        },
        operator="OVER windows",
    )


def _frame_for(parsed: ParsedAggregates, frame: OverFrame) -> OverFrame:
    """ROW_NUMBER ignores the frame; other aggregates beside it must use the frame of all rows so far."""
    numbers = [each.name for each in parsed.aggregates if each.function == "ROW_NUMBER"]
    if not numbers:
        return frame
    whole = OverFrame(unit=Unit.ROWS)
    if len(numbers) < len(parsed.aggregates) and frame != whole:
        raise QueryError(
            f"'{numbers[0]}' is a ROW_NUMBER: it stands alone, or beside aggregates over ROWS BETWEEN UNBOUNDED "
            f"PRECEDING AND CURRENT ROW, OverFrame.rows()."
        )
    return whole


def _validate(df: DataFrame, rule: OverRule, buckets: int) -> None:
    require_buckets(buckets)
    if rule.frame.preceding is not None and rule.frame.preceding < 0:
        raise QueryError(f"the frame reaches {rule.frame.preceding} back: it must be 0 or more.")
    if rule.ttl_us is not None and rule.ttl_us < 1:
        raise QueryError("ttl_ms must be at least 1.")
    if rule.ttl_us is not None and rule.frame.is_bounded and rule.frame.unit is Unit.RANGE:
        raise QueryError("a bounded RANGE frame takes no ttl_ms: its keys are forgotten when their rows are out of it.")
    lower = [name.lower() for name in (*df.columns, *(each.name for each in rule.aggregates))]
    twice = next((name for name in lower if lower.count(name) > 1), None)
    if twice is not None:
        raise QueryError(f"there would be two columns '{twice}': give each its own name.")


def _batch_over(df: DataFrame, aggregates: Mapping[str, str], rule: OverRule, time: StructField) -> DataFrame:
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
