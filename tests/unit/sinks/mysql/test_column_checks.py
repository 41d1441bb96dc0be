"""Which columns of MySQL take which types."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T  # noqa: N812 - Spark's own idiom

from datasources.errors import OptionError
from datasources.sinks.mysql.column_checks import LiteralKind, MySqlColumn, column_writer

INTEGERS = {
    "tinyint": T.ByteType(),
    "smallint": T.ShortType(),
    "mediumint": None,
    "int": T.IntegerType(),
    "bigint": T.LongType(),
}
BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}


def takes(data_type: T.DataType, column: MySqlColumn) -> bool:
    try:
        column_writer("c", data_type, column, is_key=False)
    except OptionError:
        return False
    return True


def column(kind: str, **info: int) -> MySqlColumn:
    return MySqlColumn(name="c", data_type=kind.partition(" ")[0].partition("(")[0], column_type=kind, **info)


@pytest.mark.parametrize("name", [name for name, kind in INTEGERS.items() if kind is not None])
def test_a_signed_integer_takes_the_integers_that_are_no_wider(name):
    for other, bits in BITS.items():
        is_mediumint_of_int = (other, name) == ("mediumint", "int")  # which has no type of its own
        assert takes(INTEGERS[name], column(other)) == (bits >= BITS[name] or is_mediumint_of_int)


@pytest.mark.parametrize(
    ("kind", "data_type"),
    [
        ("tinyint unsigned", T.ShortType()),
        ("smallint unsigned", T.IntegerType()),
        ("mediumint unsigned", T.IntegerType()),
        ("int unsigned", T.LongType()),
        ("bigint unsigned", T.DecimalType(20, 0)),
    ],
)
def test_an_unsigned_integer_takes_the_next_larger_type_alone(kind, data_type):
    every = [*filter(None, INTEGERS.values()), T.DecimalType(20, 0), T.DecimalType(19, 0)]
    assert [each for each in every if takes(each, column(kind))] == [data_type]


def test_a_decimal_takes_what_has_no_more_digits_on_either_side():
    target = column("decimal(10,4)", precision=10, scale=4)
    fitting = [(p, s) for p in range(1, 14) for s in range(p + 1) if takes(T.DecimalType(p, s), target)]
    assert fitting == [(p, s) for p in range(1, 11) for s in range(min(p, 4) + 1) if p - s <= 6]
    assert takes(T.ShortType(), target)
    assert not takes(T.IntegerType(), target)


@pytest.mark.parametrize(
    ("data_type", "kind"),
    [
        (T.DoubleType(), "float"),
        (T.DoubleType(), "double(9,2)"),
        (T.IntegerType(), "double"),
        (T.StringType(), "int"),
        (T.TimestampType(), "datetime"),
        (T.TimestampNTZType(), "timestamp"),
        (T.DateType(), "datetime"),
        (T.ArrayType(T.IntegerType()), "json"),
    ],
)
def test_a_column_that_would_convert_values_is_refused(data_type, kind):
    with pytest.raises(OptionError, match=r"does not take every value of it"):
        column_writer("c", data_type, column(kind), is_key=False)


def test_a_text_is_a_key_where_different_texts_are_different_keys():
    binary = MySqlColumn(name="c", data_type="varchar", column_type="varchar(9)", length=9, collation="utf8mb4_bin")
    padded = column_writer("c", T.StringType(), binary, is_key=True)
    assert (padded.kind, padded.max_length, padded.refuses_blanks_at_end) == (LiteralKind.TEXT, 9, True)
    with pytest.raises(OptionError, match=r"utf8mb4_0900_ai_ci, by which different texts may be one key"):
        column_writer(
            "c",
            T.StringType(),
            MySqlColumn(name="c", data_type="varchar", column_type="varchar(9)", collation="utf8mb4_0900_ai_ci"),
            is_key=True,
        )
