"""The types that an INSERT may assign to each other: those that Flink casts by itself (`supportsImplicitCast`).

No assignment silently loses a value: no text into a number, no BIGINT into INT, no DOUBLE into
FLOAT. Such a cast is written out. NULL goes into every column.
"""

from __future__ import annotations

from itertools import starmap
from typing import Final

from pyspark.sql import types as T  # noqa: N812 - Spark's own idiom

_INTEGERS: Final = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_TIMESTAMPS: Final = (T.TimestampType, T.TimestampNTZType)
_SOURCES: Final[dict[type[T.DataType], tuple[type[T.DataType], ...]]] = {
    T.ShortType: _INTEGERS[:1],
    T.IntegerType: _INTEGERS[:2],
    T.LongType: _INTEGERS[:3],
    T.FloatType: (*_INTEGERS, T.DecimalType),
    T.DoubleType: (*_INTEGERS, T.FloatType, T.DecimalType),
    T.DecimalType: (*_INTEGERS, T.FloatType, T.DoubleType, T.DecimalType),
    T.DateType: (T.TimestampNTZType,),
    T.TimestampType: _TIMESTAMPS,
    T.TimestampNTZType: _TIMESTAMPS,
    T.StringType: (T.StringType, T.CharType, T.VarcharType),
}


def is_assignable(given: T.DataType, wanted: T.DataType) -> bool:
    """Return whether a value of a type may be stored in a column of another without a CAST.

    Fields of a ROW are matched by position, as columns are.
    """
    if isinstance(given, T.NullType) or given == wanted:
        return True
    if isinstance(given, T.ArrayType) and isinstance(wanted, T.ArrayType):
        return is_assignable(given.elementType, wanted.elementType)
    if isinstance(given, T.MapType) and isinstance(wanted, T.MapType):
        return is_assignable(given.keyType, wanted.keyType) and is_assignable(given.valueType, wanted.valueType)
    if isinstance(given, T.StructType) and isinstance(wanted, T.StructType):
        pairs = zip((f.dataType for f in given), (f.dataType for f in wanted), strict=False)
        return len(given) == len(wanted) and all(starmap(is_assignable, pairs))
    return type(given) in _SOURCES.get(type(wanted), ())
