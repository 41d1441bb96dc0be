"""Extremes, picks and lists."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from tests.support.spark.aggregate_run import AggregateRun

DATA = pa.schema([("k", pa.string()), ("v", pa.float64()), ("s", pa.string())])
ROWS = [("a", 3.0, "x"), ("a", 1.0, None), ("a", float("nan"), "y"), ("a", None, "z"), ("b", 2.0, "x"), ("b", 2.0, "x")]


def results(function, argument="v", *, kind=None, is_insert_only=False, **options):
    call = AggregateCall(
        name="r", function=function, argument=argument, type=kind or DATA.field(argument).type, **options
    )
    run = AggregateRun(DATA, ["k"], [call], is_insert_only=is_insert_only)
    run.advance([(row, 1) for row in ROWS])
    return dict(run.rows)


@pytest.mark.parametrize("is_insert_only", [True, False])
@pytest.mark.parametrize(
    ("function", "expected"),
    [("min", {"a": 1.0, "b": 2.0}), ("any_value", {"a": 1.0, "b": 2.0}), ("max", {"a": "NaN", "b": 2.0})],
)
def test_nan_is_the_largest_and_null_is_ignored(function, expected, is_insert_only):
    assert results(function, is_insert_only=is_insert_only) == expected


def test_without_an_order_first_is_the_smallest_and_last_the_largest():
    assert results("first", "s") == {"a": "x", "b": "x"}
    assert results("last", "s") == {"a": "z", "b": "x"}


@pytest.mark.parametrize(
    ("function", "options", "expected"),
    [
        ("first", {"order": (("v", True, True),)}, {"a": "z", "b": "x"}),
        ("first", {"order": (("v", True, False),)}, {"a": None, "b": "x"}),
        ("first", {"order": (("v", True, False),), "ignore_nulls": True}, {"a": "x", "b": "x"}),
        ("last", {"order": (("v", True, True),)}, {"a": "y", "b": "x"}),
        ("last", {"order": (("v", False, False),)}, {"a": "z", "b": "x"}),
    ],
)
def test_picks_follow_their_order(function, options, expected):
    assert results(function, "s", **options) == expected


def test_lists_are_sorted_and_repeat_equal_values():
    assert results("collect", kind=pa.list_(pa.float64())) == {"a": (1.0, 3.0, "NaN"), "b": (2.0, 2.0)}
    assert results("collect_set", kind=pa.list_(pa.float64())) == {"a": (1.0, 3.0, "NaN"), "b": (2.0,)}


def test_lists_follow_their_order():
    order = (("v", False, True),)
    assert results("listagg", "s", separator="-", order=order) == {"a": "z-y-x", "b": "x-x"}
    order = (("s", False, True),)
    assert results("listagg", "s", separator="-", order=order, is_distinct=True) == {"a": "z-y-x", "b": "x"}


def test_lists_of_no_values_are_empty_and_texts_null():
    data = pa.schema([("k", pa.string()), ("s", pa.binary())])
    calls = [
        AggregateCall(name="l", function="collect", argument="s", type=pa.list_(pa.binary())),
        AggregateCall(name="t", function="listagg", argument="s", type=pa.binary(), separator=","),
    ]
    run = AggregateRun(data, ["k"], calls)
    run.advance([(("a", None), 1), (("b", b"1"), 1), (("b", b"0"), 1)])
    assert run.rows == [("a", (), None), ("b", (b"0", b"1"), b"0,1")]
