"""Aggregates over changes: which groups have a row, and what changes."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pytest

from datasources.errors import InternalError, QueryError
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.aggregate_operator import AggregateOperator
from datasources.spark.operators.changelog.changes import weights
from tests.support.spark.aggregate_run import AggregateRun

DATA = pa.schema([("k", pa.string()), ("v", pa.int64()), ("b", pa.bool_())])
COUNT = AggregateCall(name="n", function="count", argument=None, type=pa.int64())
SUM = AggregateCall(name="total", function="sum", argument="v", type=pa.int64())
MAX = AggregateCall(name="high", function="max", argument="v", type=pa.int64())
LARGE = 1 << 62


def run_of(*calls, keys=("k",), **options):
    return AggregateRun(DATA, keys, calls, **options)


def row(k, v=None, b=None):
    return (k, v, b)


def test_a_changed_group_gives_its_old_and_its_new_row():
    run = run_of(COUNT, SUM)
    run.advance([(row("a", 1), 1)])
    output = run.advance([(row("a", 2), 1)])
    assert sorted(output.to_pylist(), key=str) == [
        {"k": "a", "n": 1, "total": 1, "__tidemark_weight": -1},
        {"k": "a", "n": 2, "total": 3, "__tidemark_weight": 1},
    ]


def test_a_group_whose_aggregates_stay_equal_gives_nothing():
    run = run_of(MAX)
    run.advance([(row("a", 5), 1)])
    assert run.advance([(row("a", 1), 1), (row("a", None), 1)]).num_rows == 0


def test_a_group_without_rows_disappears_and_is_not_stored():
    run = run_of(COUNT, MAX)
    run.advance([(row("a", 5), 1)])
    run.advance([(row("a", 5), -1)])
    assert run.rows == []
    assert all(run.state.stored(name) is None for name in run.operator.state_names)


def test_without_keys_there_is_no_row_before_the_first_change():
    run = run_of(COUNT, SUM, keys=())
    assert run.advance([]).num_rows == 0
    assert run.rows == []


def test_without_keys_the_row_stays_without_rows():
    run = run_of(COUNT, SUM, MAX, keys=())
    run.advance([(row("a", 5), 1)])
    run.advance([(row("a", 5), -1)])
    assert run.rows == [(0, None, None)]


def test_a_group_with_fewer_than_no_rows_has_no_row_and_is_counted():
    run = run_of(COUNT, MAX)
    run.advance([(row("a", 5), -2)])
    assert run.rows == []
    assert run.operator.missing_rows(run.state) == 2
    run.advance([(row("a", 5), 3)])
    assert run.rows == [("a", 1, 5)]
    assert run.operator.missing_rows(run.state) == 0


def test_a_removed_value_that_never_was_there_is_not_the_extreme():
    run = run_of(MAX)
    run.advance([(row("a", 9), -1), (row("a", 1), 1), (row("a", 2), 1)])
    assert run.rows == [("a", 2)]


def test_groups_without_aggregates_are_the_distinct_keys():
    run = run_of()
    run.advance([(row("a", 1), 1), (row("a", 2), 1), (row("b", 1), 1)])
    run.advance([(row("a", 1), -1), (row("b", 1), -1)])
    assert run.rows == [("a",)]


def test_groups_with_the_same_hash_are_kept_apart():
    distinct = AggregateCall(name="d", function="count", argument="v", type=pa.int64(), is_distinct=True)
    run = run_of(COUNT, MAX, distinct, hash_bits=0)
    run.advance([(row(k, n), 1) for n, k in enumerate("abc")])
    run.advance([(row("a", 0), -1), (row("c", 7), 1)])
    run.advance([(row("d", 4), 1)])
    assert run.rows == [("b", 1, 1, 1), ("c", 2, 7, 2), ("d", 1, 4, 1)]


def test_an_overflow_within_a_micro_batch_is_no_error():
    run = run_of(SUM)
    run.advance([(row("a", LARGE), 1)])
    run.advance([(row("a", LARGE), 2), (row("a", -LARGE), 2)])
    assert run.rows == [("a", LARGE)]


def test_a_sum_may_leave_the_range_and_come_back():
    run = run_of(AggregateCall(name="total", function="sum", argument="v", type=pa.int64(), overflow="null"))
    run.advance([(row("a", LARGE), 4)])
    assert run.rows == [("a", None)]
    run.advance([(row("a", LARGE), -3)])
    assert run.rows == [("a", LARGE)]


def test_an_overflow_wraps_without_ansi_mode():
    run = run_of(AggregateCall(name="total", function="sum", argument="v", type=pa.int64(), overflow="wrap"))
    run.advance([(row("a", LARGE), 2), (row("a", 1), 1)])
    assert run.rows == [("a", -(1 << 63) + 1)]


def test_an_overflow_names_the_aggregate_and_the_key():
    run = run_of(SUM)
    with pytest.raises(QueryError, match=r"TIDEMARK_QUERY.*SUM\(v\) AS total does not fit int64 for k = 'a': cast"):
        run.advance([(row("a", LARGE), 2), (row("b", 1), 1)])


def test_weights_beyond_what_digits_can_sum_are_exact():
    run = run_of(COUNT, AggregateCall(name="mean", function="avg", argument="v", type=pa.float64()))
    run.advance([(row("a", LARGE), 1 << 40)])
    assert run.rows == [("a", 1 << 40, float(LARGE))]


def test_the_state_has_one_schema_in_all_micro_batches():
    run = run_of(COUNT, SUM, MAX)
    schemas = set()
    for changes in ([(row("a"), 1)], [(row("a", 1, True), 1)], [(row("a"), -1)]):
        run.advance(changes)
        schemas |= {str(run.state.stored("groups").schema)}
    assert len(schemas) == 1


def test_insert_only_extremes_need_no_values():
    run = run_of(MAX, is_insert_only=True)
    run.advance([(row("a", 5), 1), (row("b"), 1)])
    run.advance([(row("a", 3), 1)])
    assert run.rows == [("a", 5), ("b", None)]
    assert run.operator.state_names == ("groups",)


def test_removals_from_an_insert_only_input_are_a_bug():
    with pytest.raises(InternalError, match="insertions only"):
        run_of(MAX, is_insert_only=True).advance([(row("a", 5), -1)])


def test_an_operator_is_picklable_and_its_settings_are_json():
    operator = pickle.loads(pickle.dumps(AggregateOperator(["k"], [SUM, MAX], DATA)))
    assert json.loads(json.dumps(operator.settings))["aggregates"] == ["SUM(v) AS total int64", "MAX(v) AS high int64"]
    assert operator.output.names == ["k", "total", "high"]


def test_every_row_of_the_output_has_the_weight_one():
    run = run_of(COUNT)
    assert weights(run.advance([(row("a", 1), 5), (row("b", 1), 7)])).tolist() == [1, 1]


def test_a_filter_that_is_null_ignores_the_row():
    run = run_of(AggregateCall(name="n", function="count", argument=None, type=pa.int64(), filter="b"))
    run.advance([(row("a", 1, True), 1), (row("a", 1, False), 1), (row("a", 1, None), 1)])
    assert run.rows == [("a", 1)]
