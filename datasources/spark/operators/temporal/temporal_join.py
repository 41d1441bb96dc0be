"""temporal_join(): each row of one stream with the version of a changing table that was valid at its time.

    probe -> pack -+
                   +-> [shuffle by bucket] transformWithState -> count -> unpack -> attach, once, by the caller
    build -> pack -+

The operator reads both streams below the attach step. Time mode is None: in Spark's EventTime mode late changes would
be dropped before the operator sees them, and in ProcessingTime mode an AvailableNow query never ends. Heartbeats carry
both watermarks to every bucket; emitted rows carry the minimum as it was before the micro-batch, heartbeats as it is
after it. In processing time the result has the probe side's watermark alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final, Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import BooleanType, StructField, StructType, TimestampType

from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS, WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_operator import DEFAULT_BUCKETS, packed, run_buckets
from datasources.spark.operators.buckets.partition_keys import HASH_VERSION
from datasources.spark.operators.buckets.state_settings import configure_state
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.temporal.join_checks import PROCESSING_TIME, require_numbers, require_sides, times_of
from datasources.spark.operators.temporal.join_keys import join_keys
from datasources.spark.operators.temporal.join_sides import BuildSide, ProbeSide, result_fields
from datasources.spark.operators.temporal.temporal_batch import batch_temporal_join
from datasources.spark.operators.temporal.temporal_processor import (
    BUILD,
    COUNTS,
    PROBE,
    TemporalJoinProcessor,
    WindowedJoinProcessor,
)
from datasources.spark.operators.temporal.temporal_state import JoinRule
from datasources.spark.operators.temporal.versions.changelog_columns import changelog_of
from datasources.spark.operators.temporal.versions.changelog_images import drop_replaced_images
from datasources.spark.plans.load_gate_checks import require_load_gate
from datasources.spark.plans.plan_walk import SIDE_COLUMN
from datasources.spark.plans.session_checks import require_frame
from datasources.spark.scan.schema import arrow_output_schema

__all__ = ["DEFAULT_BUCKETS", "METRICS_PREFIX", "PROCESSING_TIME", "temporal_join"]

METRICS_PREFIX: Final = "tidemark_temporal_join_"
"""Prefix of the observed metrics: late and dropped rows of each micro-batch."""


def temporal_join(  # noqa: PLR0913 - each is a part of the join's definition
    probe: DataFrame,
    build: DataFrame,
    *,
    on: Sequence[str | tuple[str, str]],
    as_of: str,
    how: Literal["inner", "left"] = "inner",
    condition: str | None = None,
    build_time: str | None = None,
    row_kind: str | None = None,
    sequence: str | None = None,
    prefix: str = "",
    buckets: int = DEFAULT_BUCKETS,
    forget_deleted_ms: int | None = None,
) -> DataFrame:
    """Return the probe side's rows, each with the version of its key in the build side that was valid at its time.

    Event time (`as_of` is the probe side's time attribute): a row joins the newest version at or before its time; of
    several versions with the same time the last one counts. A deleted or not yet existing key does not match. A row is
    emitted when both watermarks have reached its time. Late probe rows are dropped; late changes are applied. Versions
    that no row can match any more are purged.

    Processing time (`as_of` is PROCTIME() or the probe side's processing-time attribute): in each micro-batch the
    changes are applied first, then every row joins the latest version of its key and is emitted at once. Tidemark
    sources of the probe side must wait until those of the build side are loaded (`scan.hold.until`, `scan.hold.name`).

    The query's progress counts late rows of both sides, rows without time and changes without key under
    `observedMetrics`.

    Args:
        probe: an append-only stream as returned by `load()`, with projections and filters at most, with the hidden
            columns and all heartbeats. Attach the result, not this. Or a batch DataFrame.
        build: the changelog of the table, likewise; see `row_kind`.
        on: the key of the table: shared columns, or pairs of (probe's column, build's column).
        as_of: the probe side's time attribute, or PROCTIME().
        how: 'inner', or 'left' to keep rows without a match, with nulls.
        condition: additional SQL condition over the result's columns; 'left' gives nulls where it is false.
        build_time: the build side's time attribute; by default the one of its watermark.
        row_kind: the build side's column with +I, -U, +U, -D or T; by default `row_kind` if there is one. Without
            it every row is the newest version of its key.
        sequence: the build side's column with a row's position in its log, a whole number or a struct of them;
            by default `_seq` if there is one. Without it rows count in the order in which they were read.
        prefix: begins the names of the build side's columns in the result.
        buckets: number of buckets into which keys are hashed; fixed for the life of a checkpoint.
        forget_deleted_ms: event time after which a deletion is forgotten; None: never, so that a change that comes very
            late is never taken for newer than the deletion. In processing time deletions are always forgotten.

    The probe side may also be the result of windows, a stream that was attached and then grouped by time
    (`as_of='window_time'`): such rows arrive when the watermark has passed them, none is late, and the watermark of the
    query is the minimum of both sides. The result is used as it is, and its time attribute may be windowed again.

    Returns:
        The probe side's columns, then the build side's, without those of the changelog and without keys that have the
        same name on both sides. The time attribute is the probe side's.

    Raises:
        QueryError: a side is attached and not windowed, has no watermark, or is not a changelog; a column is missing or
            has the wrong type; a number is out of range; in processing time a source of the probe does not wait for the
            build; the session asks for another state store than RocksDB.
        EnvironmentProblem: a package that PySpark needs is missing.
    """
    require_frame(probe, "temporal_join()")
    require_frame(build, "temporal_join()")
    require_sides(probe, build)
    require_numbers(how=how, buckets=buckets, forget_deleted_ms=forget_deleted_ms)
    keys = join_keys(probe.schema, build.schema, on)
    times = times_of(probe, build, as_of, build_time)
    changelog = changelog_of(build.schema, row_kind=row_kind, sequence=sequence)
    left = ProbeSide(df=probe, keys=keys, time=times[0])
    right = BuildSide(df=build, keys=keys, time=times[1], changelog=changelog, prefix=prefix)
    fields = result_fields(left, right)
    if not probe.isStreaming:
        joined = batch_temporal_join(left, right, is_left=how == "left")
        return _with_condition(joined, right.fields, condition, is_left=how == "left")
    if times[0] is None:
        require_load_gate(probe, build)
    configure_state(probe.sparkSession)
    rule = JoinRule(
        keeps_unmatched=how == "left",
        values=arrow_output_schema(StructType(right.fields)),
        processing_time=times[0] is None,
        follows_windows=times[0] is not None and WATERMARK_COLUMN not in probe.columns,
        forget_deleted_us=None if forget_deleted_ms is None else forget_deleted_ms * 1_000,
    )
    settings = StoredSettings.of(
        {
            "buckets": buckets,
            "hash": HASH_VERSION,
            "join": how,
            "keys": [f"{key.probe} = {key.build}: {key.data_type.simpleString()}" for key in keys],
            "as of": PROCESSING_TIME if times[0] is None else times[0].name,
            "build time": None if times[1] is None else times[1].name,
            "probe columns": str(arrow_output_schema(StructType(left.fields))),
            "build columns": str(rule.values),
        },
        operator="temporal joins",
    )
    joined = _streamed(left, right, fields, rule, settings, buckets)
    return _with_condition(joined, right.fields, condition, is_left=how == "left")


def _streamed(  # noqa: PLR0913, PLR0917 - one step of one function
    left: ProbeSide,
    right: BuildSide,
    fields: Sequence[StructField],
    rule: JoinRule,
    settings: StoredSettings,
    buckets: int,
) -> DataFrame:
    is_windowed = rule.follows_windows
    changes = (right.attached() if is_windowed else right).prepared(buckets)
    if right.changelog.row_kind is not None:
        changes = changes.mapInArrow(drop_replaced_images, changes.schema)
    row_batches = _packed_side(left.prepared(buckets), PROBE, buckets).unionAll(_packed_side(changes, BUILD, buckets))
    has_watermark = WATERMARK_COLUMN in left.df.columns
    processor = WindowedJoinProcessor if is_windowed else TemporalJoinProcessor
    joined = run_buckets(
        row_batches,
        processor(rule, settings, operator=uuid.uuid4().hex),
        counts=COUNTS,
        metrics=METRICS_PREFIX,
        fields=StructType([*fields, *_hidden_fields(left.df if has_watermark else right.df)]),
        time_mode="EventTime" if is_windowed else "None",
    )
    return joined if has_watermark else joined.where(~F.col(HEARTBEAT_COLUMN)).drop(*HIDDEN_COLUMNS)


def _packed_side(df: DataFrame, side: int, buckets: int) -> DataFrame:
    return packed(df, buckets).select("*", F.lit(side).alias(SIDE_COLUMN))


def _hidden_fields(df: DataFrame) -> list[StructField]:
    if WATERMARK_COLUMN in df.columns:
        return [df.schema[name] for name in HIDDEN_COLUMNS]
    return [
        StructField(name, data_type, nullable=False)
        for name, data_type in zip(HIDDEN_COLUMNS, (TimestampType(), BooleanType()), strict=True)
    ]


def _with_condition(
    joined: DataFrame, values: Sequence[StructField], condition: str | None, *, is_left: bool
) -> DataFrame:
    """Apply the additional condition; user expressions are not evaluated on heartbeats."""
    if condition is None:
        return joined
    is_kept = F.expr(f"({condition})")
    if HEARTBEAT_COLUMN in joined.columns:
        is_kept = F.when(F.col(HEARTBEAT_COLUMN), F.lit(not is_left)).otherwise(is_kept)
    if not is_left:
        return joined.where(is_kept)
    names = {field.name for field in values}
    columns = [
        _null_unless(joined, name, is_kept) if name in names else _column(joined, name) for name in joined.columns
    ]
    return joined.select(*columns)


def _null_unless(joined: DataFrame, name: str, is_kept: Column) -> Column:
    return F.when(is_kept, _column(joined, name)).alias(name)


def _column(joined: DataFrame, name: str) -> Column:
    return joined[quoted(name)]
