"""The two sides of a temporal join, checked and prepared as input of the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField

from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS, LATE_COLUMN, WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_operator import data_fields
from datasources.spark.operators.buckets.row_batches import BUCKET_COLUMN, ROW_WATERMARK_COLUMN
from datasources.spark.operators.buckets.rowtime_micros import micros_of
from datasources.spark.operators.temporal.join_keys import JoinKey, key_columns
from datasources.spark.operators.temporal.versions.changelog_columns import Changelog
from datasources.spark.operators.temporal.versions.version_changes import KIND_COLUMN, TRUNCATE
from datasources.spark.operators.temporal.versions.versions import HASH_COLUMN, KEY_PREFIX, TIME_COLUMN
from datasources.spark.plans.mark_attached import mark_attached


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSide:
    """The side whose rows are emitted.

    The time attribute is None in processing time.
    """

    df: DataFrame
    keys: tuple[JoinKey, ...]
    time: StructField | None

    @property
    def fields(self) -> list[StructField]:
        """The data columns, all nullable: a heartbeat has NULL in all of them."""
        return [StructField(f.name, f.dataType, nullable=True, metadata=f.metadata) for f in data_fields(self.df)]

    def prepared(self, buckets: int | None = None) -> DataFrame:
        """Return the data columns with keys and time; with `buckets` also hash and bucket."""
        columns = [F.col(quoted(field.name)) for field in self.fields]
        side = _with_helpers(self.df, columns, self.time, key_columns(self.keys, is_probe=True))
        return side if buckets is None else _with_bucket(side, len(self.keys), buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSide:
    """The side whose versions are looked up.

    The time attribute is None in processing time; ``prefix`` is of its column names in the result.
    """

    df: DataFrame
    keys: tuple[JoinKey, ...]
    time: StructField | None
    changelog: Changelog
    prefix: str

    @property
    def fields(self) -> list[StructField]:
        """The columns in the result, without changelog columns and without keys that the probe side has too."""
        shared = (
            {key.build for key in self.keys if key.build.lower() == key.probe.lower()} if not self.prefix else set()
        )
        left_out = {*HIDDEN_COLUMNS, LATE_COLUMN, *self.changelog.columns, *shared}
        return [
            StructField(self.prefix + field.name, field.dataType, nullable=True)
            for field in self.df.schema.fields
            if field.name not in left_out
        ]

    def attached(self) -> BuildSide:
        """Return the side attached to Spark's watermark; its heartbeats still reach the operator."""
        return replace(self, df=mark_attached(self.df).withWatermark(WATERMARK_COLUMN, "0 seconds"))

    def prepared(self, buckets: int | None = None) -> DataFrame:
        """Return the result's columns with keys, time, kind and sequence; with `buckets` also hash and bucket."""
        begin = len(self.prefix)
        columns = [F.col(quoted(field.name[begin:])).alias(field.name) for field in self.fields]
        columns += [self.changelog.kind_column(_micros(self.time)), *self.changelog.sequence_columns()]
        side = _with_helpers(_with_hidden(self.df), columns, self.time, key_columns(self.keys, is_probe=False))
        if buckets is None:
            return side
        bucketed = _with_bucket(side, len(self.keys), buckets)
        return bucketed if self.changelog.row_kind is None else _to_every_bucket(bucketed, buckets)


def result_fields(probe: ProbeSide, build: BuildSide) -> list[StructField]:
    """Return the data columns of the result.

    Raises:
        QueryError: both sides have a column of the same name.
    """
    fields = [*probe.fields, *build.fields]
    seen: set[str] = set()
    for field in fields:
        if field.name.lower() in seen:
            raise QueryError(
                f"both sides of the join have a column '{field.name}': give the build side's columns a prefix "
                f"(prefix='...'), or leave one of the two out."
            )
        seen.add(field.name.lower())
    return fields


def _with_hidden(df: DataFrame) -> DataFrame:
    """Return the stream with hidden columns, added if it has no watermark (and so no heartbeats)."""
    if HEARTBEAT_COLUMN in df.columns:
        return df
    return df.select("*", F.timestamp_micros(F.lit(0)).alias(WATERMARK_COLUMN), F.lit(False).alias(HEARTBEAT_COLUMN))


def _with_helpers(
    df: DataFrame, columns: Sequence[Column], time: StructField | None, keys: Sequence[Column]
) -> DataFrame:
    return _with_hidden(df).select(
        *columns,
        *keys,
        HEARTBEAT_COLUMN,
        _micros(time).alias(TIME_COLUMN),
        F.unix_micros(WATERMARK_COLUMN).alias(ROW_WATERMARK_COLUMN),
    )


def _with_bucket(df: DataFrame, keys: int, buckets: int) -> DataFrame:
    """Add hash and bucket. A null key never matches, so such rows are spread over the buckets."""
    columns = [F.col(f"{KEY_PREFIX}{number}") for number in range(keys)]
    has_null = F.lit(False)
    for column in columns:
        has_null |= column.isNull()
    hashed = F.xxhash64(*columns)
    spread = F.when(has_null, F.xxhash64(TIME_COLUMN)).otherwise(hashed)
    bucket = F.pmod(spread, F.lit(buckets)).cast("int")
    return df.select("*", hashed.alias(HASH_COLUMN), bucket.alias(BUCKET_COLUMN))


def _to_every_bucket(df: DataFrame, buckets: int) -> DataFrame:
    """Send truncation rows to every bucket."""
    every = F.sequence(F.lit(0), F.lit(buckets - 1))
    own = F.array(F.col(BUCKET_COLUMN))
    chosen = F.explode(F.when(F.col(KIND_COLUMN) == TRUNCATE, every).otherwise(own)).alias(BUCKET_COLUMN)
    return df.select(*(name for name in df.columns if name != BUCKET_COLUMN), chosen)


def _micros(time: StructField | None) -> Column:
    return F.lit(0).cast("bigint") if time is None else micros_of(time)
