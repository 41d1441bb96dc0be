"""Aggregates as they are described, shown and checked."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.errors import QueryError
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.aggregate_operator import AggregateOperator

DATA = pa.schema([("k", pa.string()), ("v", pa.int64()), ("b", pa.bool_())])


def call(function, argument=None, **options):
    return AggregateCall(name="r", function=function, argument=argument, type=pa.int64(), **options)


def test_a_call_is_shown_as_sql():
    shown = call(
        "listagg", "k", is_distinct=True, filter="b", separator="; ", order=(("v", False, True),), ignore_nulls=True
    ).shown
    assert shown == "LISTAGG(DISTINCT k, '; ' ORDER BY v DESC NULLS FIRST) IGNORE NULLS FILTER (WHERE b)"
    assert call("count").shown == "COUNT(*)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (call("sum", "w"), "SUM(w): there is no column 'w'; columns: k, v, b."),
        (call("median", "v"), "'r': there is no aggregate MEDIAN over changes; use one of any_value,"),
        (call("sum"), "'r': SUM needs an argument."),
        (call("min", "v", order=(("v", True, True),)), "MIN has no order; remove ORDER BY."),
        (call("collect", "k", is_distinct=True, order=(("v", True, True),)), "the order is that of 'k'; order by it."),
        (call("sum", "k"), "SUM(k): SUM does not accept string; cast 'k'."),
        (call("bool_and", "v"), "BOOL_AND does not accept int64"),
        (call("listagg", "v"), "LISTAGG does not accept int64"),
    ],
)
def test_a_call_that_is_none_of_the_columns_is_an_error(wrong, message):
    with pytest.raises(QueryError) as error:
        AggregateOperator(["k"], [wrong], DATA)
    assert message in str(error.value)
