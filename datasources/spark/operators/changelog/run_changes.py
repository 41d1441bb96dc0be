"""Puts an operator over changes into a streaming query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import LongType, StructField, StructType

from datasources.spark.operators.buckets.bucket_operator import DEFAULT_BUCKETS, require_buckets
from datasources.spark.operators.buckets.partition_keys import HASH_VERSION, key_hash
from datasources.spark.operators.buckets.state_settings import configure_state
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.changelog.change_batches import PACKED_SCHEMA, TIMED_WEIGHT, PackChanges, UnpackChanges
from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.change_processor import RESULT_SCHEMA, ChangeProcessor
from datasources.spark.operators.changelog.changes import (
    GENERATION_COLUMN,
    HASH_COLUMN,
    NO_TIME,
    TIME_COLUMNS,
    WEIGHT_COLUMN,
    data_names,
)
from datasources.spark.operators.changelog.state_ttl import StateTtl
from datasources.spark.operators.changelog.value_types import arrow_conversion
from datasources.spark.plans.packed_marker import PACKED_RESULTS, PackedMarker
from datasources.spark.scan.schema import arrow_output_schema

CHANGELOG_METRICS_PREFIX: Final = "tidemark_changelog_"
"""Prefix of the observed metrics: missing_rows, the removals of rows that are not there, of each micro-batch."""
_STATE_VERSION: Final = 2
"""Of a bucket's state: 1 had pages only, 2 has updates beside them."""
_TIMED_WEIGHT: Final = StructType([StructField(name, LongType()) for name in TIMED_WEIGHT])
_OF_WEIGHT: Final = dict(zip(("first", "last", "weight"), (*TIME_COLUMNS, WEIGHT_COLUMN), strict=True))
_numbers: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorInput:
    """An input of an operator.

    Attributes:
        changes: a stream of data columns and WEIGHT_COLUMN, a BIGINT or what `timed_weight` returns.
        keys: the columns by which rows are distributed; empty: all rows are in one bucket. Those of the inputs of one
            operator have the same types, in order.
        broadcast: name of a boolean column: rows where it is true go to every bucket; None: no row does.
    """

    changes: DataFrame
    keys: Sequence[str]
    broadcast: str | None = None

    @property
    def has_times(self) -> bool:
        """Whether the changes have times."""
        return isinstance(self.changes.schema[WEIGHT_COLUMN].dataType, StructType)

    @property
    def fields(self) -> StructType:
        """The data columns."""
        schema = self.changes.schema
        return StructType([StructField(name, schema[name].dataType) for name in data_names(schema.names)])

    @property
    def schema(self) -> pa.Schema:
        """The data columns, as the operator gets them.

        Raises:
            QueryError: Spark does not hand values of a type to Python.
        """
        with arrow_conversion():
            return plain_schema(arrow_output_schema(self.fields))


def timed_weight(weight: Column, time_us: Column) -> Column:
    """Return the weight of a change with its time, µs since the epoch; NULL or below 1: it is not known."""
    known = F.when(time_us > 0, time_us).otherwise(F.lit(NO_TIME)).cast("bigint")
    values = [weight.cast("bigint"), known, known, F.lit(0).cast("bigint")]
    return F.struct(*(each.alias(name) for each, name in zip(values, TIMED_WEIGHT, strict=True))).alias(WEIGHT_COLUMN)


def without_times(changes: DataFrame, *, has_generation: bool) -> DataFrame:
    """Return changes, whose last column is the weight, without their times, and with their generation before it."""
    if not isinstance(changes.schema[WEIGHT_COLUMN].dataType, StructType):
        return changes
    weight = F.col(WEIGHT_COLUMN)
    generation = [weight.getField("generation").alias(GENERATION_COLUMN)] if has_generation else []
    data = [F.col(f"`{name}`") for name in changes.columns[:-1]]
    return changes.select(*data, *generation, weight.getField("weight").alias(WEIGHT_COLUMN))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the names and types of a schema."""
    return pa.schema([(field.name, field.type) for field in schema])


def run_changes(  # noqa: PLR0913 - the facts of an operator's state
    inputs: Sequence[OperatorInput],
    operator: ChangeOperator,
    fields: StructType,
    *,
    buckets: int = DEFAULT_BUCKETS,
    statement: str = "",
    ttl: StateTtl | None = None,
) -> DataFrame:
    """Return the changes of the operator's result: ``fields``, then WEIGHT_COLUMN.

    Args:
        inputs: all of them have times or none has.
        operator: what is run.
        fields: of the result.
        buckets: into which keys are hashed; fixed for the life of a checkpoint.
        statement: of which the operator is part; fixed for the life of a checkpoint.
        ttl: of the state, if the inputs have times; None: it is kept.

    Raises:
        QueryError: the number of buckets is out of range, or the session asks for another state store than RocksDB.
        EnvironmentProblem: a package that PySpark needs for it is missing.
    """
    require_buckets(buckets)
    configure_state(inputs[0].changes.sparkSession)
    marker = PackedMarker(buckets=buckets, keys=tuple(map(_packed_keys, inputs)))
    packed = reduce(DataFrame.union, (_packed(each, number, buckets) for number, each in enumerate(inputs)))
    packed = packed.alias(marker.alias)
    settings = StoredSettings.of(
        {
            "buckets": buckets,
            "hash": HASH_VERSION,
            **operator.settings,
            **({"statement": statement} if statement else {}),
            **({"state ttl": True} if ttl is not None and ttl.forgets else {}),
            "columns": [str(each.schema).split("\n") for each in inputs],
        },
        operator="operators over changes",
        version=_STATE_VERSION,
    )
    has_times = inputs[0].has_times
    schemas = tuple(each.schema for each in inputs)
    results = packed.groupBy("bucket").transformWithStateInPandas(
        statefulProcessor=ChangeProcessor(operator, schemas, settings, has_times=has_times, ttl=ttl),
        outputStructType=RESULT_SCHEMA,
        outputMode="Append",
        timeMode="None" if ttl is None else "EventTime",
    )
    missing = F.coalesce(F.sum("missing_rows"), F.lit(0)).alias("missing_rows")
    results = results.observe(f"{CHANGELOG_METRICS_PREFIX}{next(_numbers)}", missing)
    nullable = StructType([StructField(field.name, field.dataType) for field in fields])
    if not has_times:
        results = results.alias(PACKED_RESULTS)
    return results.mapInArrow(
        UnpackChanges(schema=plain_schema(arrow_output_schema(nullable)), has_times=has_times),
        StructType([*nullable, StructField(WEIGHT_COLUMN, _TIMED_WEIGHT if has_times else LongType())]),
    )


def _packed_keys(each: OperatorInput) -> tuple[str, ...] | None:
    return None if each.has_times or each.broadcast is not None else tuple(each.keys)


def _packed(each: OperatorInput, number: int, buckets: int) -> DataFrame:
    columns = [F.col(f"`{name}`") for name in each.fields.names]
    weight = F.col(WEIGHT_COLUMN)
    weights = [weight.getField(name).alias(alias) for name, alias in _OF_WEIGHT.items()] if each.has_times else [weight]
    hashed = each.changes.select(*columns, _hash(each, buckets).alias(HASH_COLUMN), *weights)
    pack = PackChanges(input=number, buckets=buckets, schema=each.schema, has_times=each.has_times)
    return hashed.mapInArrow(pack, PACKED_SCHEMA)


def _hash(each: OperatorInput, buckets: int) -> Column:
    if not each.keys:
        return F.lit(0).cast("bigint")
    hashed = key_hash(each.changes.schema, each.keys)
    if each.broadcast is None:
        return hashed
    every = F.sequence(F.lit(0).cast("bigint"), F.lit(buckets - 1).cast("bigint"))
    return F.explode(F.when(F.col(each.broadcast), every).otherwise(F.array(hashed)))
