"""Temporal joins of batch DataFrames with Spark's windows and joins: no state, no late rows."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.bucket_rows import SEQUENCE_PREFIX
from datasources.spark.operators.buckets.row_batches import BUCKET_COLUMN
from datasources.spark.operators.temporal.join_sides import BuildSide, ProbeSide
from datasources.spark.operators.temporal.versions.changelog_images import drop_replaced_images
from datasources.spark.operators.temporal.versions.version_changes import (
    INSERT,
    KIND_COLUMN,
    NO_CHANGE,
    TRUNCATE,
    UPDATE_AFTER,
)
from datasources.spark.operators.temporal.versions.versions import KEY_PREFIX, TIME_COLUMN

_READ: Final = "__tidemark_read"
_UNTIL: Final = "__tidemark_until"
_GONE: Final = "__tidemark_gone"
_BUCKETS: Final = 64
_LAST: Final = Window.unboundedFollowing


def batch_temporal_join(probe: ProbeSide, build: BuildSide, *, is_left: bool) -> DataFrame:
    """Return the rows that a stream gives after reading everything, without late rows.

    In event time probe rows without rowtime are dropped.
    """
    keys = [f"{KEY_PREFIX}{number}" for number in range(len(probe.keys))]
    versions = _versions(build, keys)
    rows = probe.prepared().where(~F.col(HEARTBEAT_COLUMN) & F.col(TIME_COLUMN).isNotNull())
    is_matched = F.lit(True)
    for key in keys:
        is_matched &= rows[key] == versions[f"{key}_build"]
    if probe.time is not None:
        is_current = versions[_UNTIL].isNull() | (rows[TIME_COLUMN] < versions[_UNTIL])
        is_matched &= (versions[f"{TIME_COLUMN}_build"] <= rows[TIME_COLUMN]) & is_current
    joined = rows.join(versions, is_matched, "left" if is_left else "inner")
    return joined.select(
        *(rows[quoted(field.name)] for field in probe.fields), *(versions[quoted(field.name)] for field in build.fields)
    )


def _versions(build: BuildSide, keys: list[str]) -> DataFrame:
    """Return the versions with the start of the next version of the key."""
    changes = build.prepared(_BUCKETS)
    if build.changelog.row_kind is not None:
        changes = changes.mapInArrow(drop_replaced_images, changes.schema)
    sequence = sorted(name for name in changes.columns if name.startswith(SEQUENCE_PREFIX)) or [_READ]
    read = changes.select("*", F.monotonically_increasing_id().alias(_READ))
    relevant = read.where(~F.col(HEARTBEAT_COLUMN) & F.col(TIME_COLUMN).isNotNull() & (F.col(KIND_COLUMN) != NO_CHANGE))
    is_truncation = F.col(KIND_COLUMN) == TRUNCATE
    for key in keys:
        relevant = relevant.where(is_truncation | F.col(key).isNotNull())
    if build.changelog.row_kind is not None:
        # A truncation ends every key's version, so it is in every bucket of keys.
        behind = Window.partitionBy(BUCKET_COLUMN).orderBy(TIME_COLUMN, *sequence).rowsBetween(1, _LAST)
        relevant = relevant.withColumn(_GONE, F.min(F.when(is_truncation, F.col(TIME_COLUMN))).over(behind)).where(
            ~is_truncation
        )
    else:
        relevant = relevant.withColumn(_GONE, F.lit(None).cast("bigint"))
    in_order = Window.partitionBy(*keys).orderBy(TIME_COLUMN, *sequence)
    known = relevant.withColumn(_UNTIL, F.least(F.lead(TIME_COLUMN).over(in_order), F.col(_GONE)))
    is_ever_valid = F.col(_UNTIL).isNull() | (F.col(_UNTIL) > F.col(TIME_COLUMN))
    current = known.where(is_ever_valid & F.col(KIND_COLUMN).isin(INSERT, UPDATE_AFTER))
    return current.select(
        *(F.col(quoted(field.name)) for field in build.fields),
        *(F.col(name).alias(f"{name}_build") for name in (*keys, TIME_COLUMN)),
        _UNTIL,
    )
