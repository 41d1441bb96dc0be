"""Keys of a join: columns of both sides in a common type, so that equal keys share hash and bucket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StructType,
)

from datasources.arrow_types import MAX_DECIMAL_DIGITS
from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.spark.operators.buckets.partition_keys import canonical, require_key_type
from datasources.spark.operators.temporal.versions.versions import KEY_PREFIX

_INTEGRAL: Final = (ByteType, ShortType, IntegerType, LongType)
_FLOATING: Final = (FloatType, DoubleType)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinKey:
    """One equality of a join."""

    probe: str
    build: str
    data_type: DataType

    @classmethod
    def of(cls, probe: StructType, build: StructType, names: str | tuple[str, str]) -> Self:
        """Return the key for one shared name, or for a pair of names.

        Raises:
            QueryError: a column is missing, or the types are not comparable.
        """
        left, right = (names, names) if isinstance(names, str) else names
        probe_name, build_name = _found(probe, left, "probe"), _found(build, right, "build")
        types = probe[probe_name].dataType, build[build_name].dataType
        for name, data_type in zip((probe_name, build_name), types, strict=True):
            require_key_type(name, data_type, key="a join's key", use="join on", of="on")
        common = _common(*types)
        if common is None:
            raise QueryError(
                f"the join compares '{probe_name}' {types[0].simpleString().upper()} with '{build_name}' "
                f"{types[1].simpleString().upper()}: cast one of them to the other's type in its table's definition."
            )
        return cls(probe=probe_name, build=build_name, data_type=common)

    def column(self, side: str) -> Column:
        """Return the column in the common type, with -0.0 as 0.0 and a single NaN."""
        return canonical(F.col(quoted(side)).cast(self.data_type), self.data_type)


def join_keys(probe: StructType, build: StructType, on: Sequence[str | tuple[str, str]]) -> tuple[JoinKey, ...]:
    """Return the keys of a join.

    ``on`` has shared names, or pairs of (probe's name, build's name).

    Raises:
        QueryError: there are none, a column is missing, or types are not comparable.
    """
    if isinstance(on, str) or not on:
        raise QueryError(
            "a temporal join needs on=[...]: the columns that are the build side's key, each equal to a column of the "
            "probe side. Other conditions go into condition=."
        )
    return tuple(JoinKey.of(probe, build, names) for names in on)


def key_columns(keys: Sequence[JoinKey], *, is_probe: bool) -> list[Column]:
    """Return the key columns of a side under the names that the operator uses."""
    return [key.column(key.probe if is_probe else key.build).alias(f"{KEY_PREFIX}{n}") for n, key in enumerate(keys)]


def _found(schema: StructType, name: str, side: str) -> str:
    found = next((field.name for field in schema.fields if field.name.lower() == name.lower()), None)
    if found is None:
        raise QueryError(f"the {side} side has no column '{name}' to join on; columns: {', '.join(schema.names)}.")
    return str(found)


def _common(one: DataType, other: DataType) -> DataType | None:
    if one == other:
        return one
    if isinstance(one, _INTEGRAL) and isinstance(other, _INTEGRAL):
        return LongType()
    if isinstance(one, _FLOATING) and isinstance(other, _FLOATING):
        return DoubleType()
    if isinstance(one, DecimalType) and isinstance(other, DecimalType):
        scale = max(one.scale, other.scale)
        digits = max(one.precision - one.scale, other.precision - other.scale) + scale
        return DecimalType(digits, scale) if digits <= MAX_DECIMAL_DIGITS else None
    return None
