"""Results of sums: rounded once, and NULL where nothing was summed."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest

from datasources.errors import QueryError
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from tests.support.spark.aggregate_run import AggregateRun


def result(function, kind, values, result_type, **options):
    data = pa.schema([("v", kind)])
    call = AggregateCall(name="r", function=function, argument="v", type=result_type, **options)
    run = AggregateRun(data, [], [call])
    run.advance([((value,), 1) for value in values])
    return run.rows[0][0]


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        (["0.01", "0.00", "0.00"], "0.003333"),
        (["0.05", "0.00", "0.00"], "0.016667"),
        (["-0.05", "0.00", "0.00"], "-0.016667"),
        (["99999999.99", "99999999.98"], "99999999.985000"),
    ],
)
def test_the_mean_of_decimals_is_rounded_half_up(values, mean):
    found = result("avg", pa.decimal128(10, 2), map(Decimal, values), pa.decimal128(14, 6))
    assert found == Decimal(mean)


@pytest.mark.parametrize("first", ["0.0000001", "-0.0000001", "9999999999999999999999999999999.0000001"])
def test_ties_of_means_are_rounded_away_from_zero(first):
    found = result("avg", pa.decimal128(38, 7), [Decimal(first), Decimal("0.0000000")], pa.decimal128(38, 7))
    assert (
        found
        == {
            "0.0000001": Decimal("0.0000001"),
            "-0.0000001": Decimal("-0.0000001"),
            "9999999999999999999999999999999.0000001": Decimal("4999999999999999999999999999999.5000001"),
        }[first]
    )


def test_the_mean_of_longs_is_the_nearest_double():
    values = [(1 << 63) - 1, (1 << 63) - 2, 1]
    assert result("avg", pa.int64(), values, pa.float64()) == sum(values) / 3


def test_a_sum_of_decimals_that_does_not_fit_is_an_error_or_null():
    wide, values = pa.decimal128(38, 0), [Decimal("9" * 38), Decimal(1)]
    with pytest.raises(QueryError, match=r"SUM\(v\) AS r does not fit decimal128\(38, 0\) for all rows"):
        result("sum", wide, values, wide)
    assert result("sum", wide, values, wide, overflow="null") is None


def test_infinities_of_both_signs_are_not_a_number():
    infinite = [math.inf, 1.0, -math.inf]
    assert result("sum", pa.float64(), infinite, pa.float64()) == "NaN"
    assert result("sum", pa.float64(), infinite[:2], pa.float64()) == math.inf
    assert result("avg", pa.float64(), infinite[1:], pa.float64()) == -math.inf


def test_sums_of_floats_are_doubles():
    assert result("sum", pa.float32(), [0.5, 2.0**-30], pa.float64()) == 0.5 + 2.0**-30


@pytest.mark.parametrize("function", ["sum", "avg", "bool_and", "bool_or"])
def test_a_group_without_values_has_no_result(function):
    kind = pa.bool_() if function.startswith("bool") else pa.float64()
    assert result(function, kind, [None], kind) is None
