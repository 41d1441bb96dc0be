"""Which types INSERT assigns without a CAST: Flink's table of implicit casts."""

from __future__ import annotations

import itertools

import pytest
from pyspark.sql import types as T  # noqa: N812 - Spark's own idiom

from datasources.sql.types.assignability import is_assignable

TYPES = {
    "boolean": T.BooleanType(),
    "tinyint": T.ByteType(),
    "smallint": T.ShortType(),
    "int": T.IntegerType(),
    "bigint": T.LongType(),
    "float": T.FloatType(),
    "double": T.DoubleType(),
    "decimal": T.DecimalType(10, 2),
    "string": T.StringType(),
    "binary": T.BinaryType(),
    "date": T.DateType(),
    "timestamp": T.TimestampNTZType(),
    "ltz": T.TimestampType(),
}
FROM = {
    "boolean": "boolean",
    "tinyint": "tinyint",
    "smallint": "tinyint smallint",
    "int": "tinyint smallint int",
    "bigint": "tinyint smallint int bigint",
    "float": "tinyint smallint int bigint float decimal",
    "double": "tinyint smallint int bigint float double decimal",
    "decimal": "tinyint smallint int bigint float double decimal",
    "string": "string",
    "binary": "binary",
    "date": "date timestamp",
    "timestamp": "timestamp ltz",
    "ltz": "timestamp ltz",
}


@pytest.mark.parametrize("wanted", TYPES)
def test_a_column_takes_what_flink_casts_by_itself_alone_and_inside_of_others(wanted):
    target = TYPES[wanted]
    taken = {name for name, given in TYPES.items() if is_assignable(given, target)}
    assert taken == set(FROM[wanted].split())
    for name, given in TYPES.items():
        row = [T.StructType().add(field, kind) for field, kind in (("a", given), ("b", target))]
        for nested, outer in (
            (T.ArrayType(given), T.ArrayType(target)),
            (T.MapType(T.StringType(), given), T.MapType(T.StringType(), target)),
            (row[0], row[1]),
        ):
            assert is_assignable(nested, outer) == (name in taken)
    assert is_assignable(T.NullType(), target)


def test_rows_of_other_lengths_and_other_kinds_of_types_do_not_fit():
    one, two = (
        T.StructType().add("a", T.IntegerType()),
        T.StructType().add("a", T.IntegerType()).add("b", T.IntegerType()),
    )
    kinds = (one, two, T.ArrayType(T.IntegerType()), T.MapType(T.StringType(), T.IntegerType()), T.IntegerType())
    for given, wanted in itertools.product(kinds, kinds):
        assert is_assignable(given, wanted) == (given is wanted), (given, wanted)
    assert is_assignable(T.DecimalType(38, 0), T.DecimalType(5, 2))
