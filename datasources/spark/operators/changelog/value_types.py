"""Which types of values the operators can compare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkTypeError
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    MapType,
    StructType,
    VariantType,
)

from datasources.errors import QueryError
from datasources.spark.operators.buckets.partition_keys import as_bytes, is_collated

_NOT_COUNTABLE = (VariantType, CalendarIntervalType)
_NOT_COMPARABLE = (MapType, *_NOT_COUNTABLE)


@contextmanager
def arrow_conversion() -> Iterator[None]:
    """While in the block, a type that Spark does not hand to Python is a QueryError."""
    try:
        yield
    except (PySparkTypeError, ValueError) as error:  # the latter of VOID within an array or a map
        raise QueryError(f"an aggregate, a join or a rank over changes: {error} Cast the column.") from error


def require_countable(what: str, data_type: DataType) -> None:
    """Raise a QueryError unless a value that is removed is found among the values that there are."""
    for each in _types_in(data_type):
        if isinstance(each, _NOT_COUNTABLE):
            raise QueryError(
                f"{what} takes {data_type.simpleString().upper()}, whose values cannot be compared: cast it."
            )


def require_comparable(what: str, data_type: DataType, name: str) -> None:
    """Raise a QueryError unless values of a type are equal where their columns in Arrow are."""
    for each in _types_in(data_type):
        if isinstance(each, _NOT_COMPARABLE):
            raise QueryError(
                f"{what} is {data_type.simpleString().upper()}, whose values cannot be compared: use a text of it, for "
                f"example to_json({name})."
            )
        if is_collated(each):
            raise QueryError(
                f"{what} has the collation {each.collation}, under which different texts are equal. Compare bytes: "
                f"{as_bytes(name)}."
            )


def _types_in(data_type: DataType) -> Iterator[DataType]:
    yield data_type
    if isinstance(data_type, ArrayType):
        yield from _types_in(data_type.elementType)
    elif isinstance(data_type, MapType):
        yield from _types_in(data_type.keyType)
        yield from _types_in(data_type.valueType)
    elif isinstance(data_type, StructType):
        for field in data_type.fields:
            yield from _types_in(field.dataType)
