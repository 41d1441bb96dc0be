"""Keys of a join: columns of both sides, brought to one type, so that equal keys have one hash and one bucket."""

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
    StringType,
    StructType,
)

from datasources.errors import QueryError
from datasources.spark.operators.versions import KEY_PREFIX

__all__ = ["JoinKey", "join_keys", "key_columns"]

_INTEGRAL: Final = (ByteType, ShortType, IntegerType, LongType)
_FLOATING: Final = (FloatType, DoubleType)
_REFUSED: Final = frozenset({"array", "map", "struct", "variant", "calendar_interval", "void"})
_MOST_DIGITS: Final = 38


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinKey:
    """One equality of a join.

    Attributes:
        probe: the probe side's column.
        build: the build side's column.
        data_type: in which the two are compared.
    """

    probe: str
    build: str
    data_type: DataType

    @classmethod
    def of(cls, probe: StructType, build: StructType, names: str | tuple[str, str]) -> Self:
        """Return the key of a name that both sides have, or of a name of each.

        Raises:
            QueryError: a column is missing, or the types do not go together.
        """
        left, right = (names, names) if isinstance(names, str) else names
        probe_name, build_name = _found(probe, left, "probe"), _found(build, right, "build")
        types = probe[probe_name].dataType, build[build_name].dataType
        for name, data_type in zip((probe_name, build_name), types, strict=True):
            _require_comparable(name, data_type)
        common = _common(*types)
        if common is None:
            raise QueryError(
                f"the join compares '{probe_name}' {types[0].simpleString().upper()} with '{build_name}' "
                f"{types[1].simpleString().upper()}: cast one of them to the other's type in its table's definition."
            )
        return cls(probe=probe_name, build=build_name, data_type=common)

    def column(self, side: str) -> Column:
        """Return what is compared: the column in the common type, -0.0 as 0.0, every NaN as one."""
        typed = str(self.data_type.simpleString())
        column = F.col(_quoted(side)).cast(self.data_type)
        if not isinstance(self.data_type, DoubleType | FloatType):
            return column
        zero, nan = F.lit(0).cast(typed), F.lit("NaN").cast(typed)
        return F.when(F.isnan(column), nan).when(column == zero, zero).otherwise(column)


def join_keys(probe: StructType, build: StructType, on: Sequence[str | tuple[str, str]]) -> tuple[JoinKey, ...]:
    """Return the keys of a join.

    Args:
        probe: the probe side's schema.
        build: the build side's schema.
        on: names that both sides have, or pairs of (probe's name, build's name).

    Raises:
        QueryError: there are none, a column is missing, or types do not go together.
    """
    if isinstance(on, str) or not on:
        raise QueryError(
            "a temporal join needs on=[...]: the columns that are the build side's key, each equal to a column of the "
            "probe side. Other conditions go into condition=."
        )
    return tuple(JoinKey.of(probe, build, names) for names in on)


def key_columns(keys: Sequence[JoinKey], *, is_probe: bool) -> list[Column]:
    """Return the key columns of a side under the names that the operator knows."""
    return [key.column(key.probe if is_probe else key.build).alias(f"{KEY_PREFIX}{n}") for n, key in enumerate(keys)]


def _found(schema: StructType, name: str, side: str) -> str:
    found = next((field.name for field in schema.fields if field.name.lower() == name.lower()), None)
    if found is None:
        raise QueryError(f"the {side} side has no column '{name}' to join on; columns: {', '.join(schema.names)}.")
    return str(found)


def _require_comparable(name: str, data_type: DataType) -> None:
    if data_type.typeName() in _REFUSED:
        raise QueryError(
            f"column '{name}' of type {data_type.simpleString().upper()} cannot be a join's key: join on plain "
            f"columns, for a struct on its fields."
        )
    if isinstance(data_type, StringType) and getattr(data_type, "collation", "UTF8_BINARY") != "UTF8_BINARY":
        raise QueryError(
            f"column '{name}' has the collation {data_type.collation}, under which different texts are equal: join on "
            f"`lower({name})` or a column with the collation UTF8_BINARY."
        )


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
        return DecimalType(digits, scale) if digits <= _MOST_DIGITS else None
    return None


def _quoted(name: str) -> str:
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
