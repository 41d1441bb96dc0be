"""Rows by their rank, rule by rule."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pytest

from datasources.errors import InternalError
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS
from datasources.spark.operators.changelog.rank.rank_operator import RankOperator
from datasources.spark.operators.changelog.rank.ranked_rows import RankFunction
from datasources.spark.operators.changelog.rank.value_order import OrderKey
from tests.support.spark.change_bucket_run import BucketRun

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64()), ("name", pa.string())])
DESCENDING = [OrderKey("v", ascending=False, nulls_first=False)]


def operator(**changed):
    settings = {
        "schema": SCHEMA,
        "partition_keys": ["k"],
        "order": DESCENDING,
        "function": RankFunction.ROW_NUMBER,
        "limit": 2,
        **changed,
    }
    return RankOperator(**settings)


def ranked(**changed):
    """All keys have one hash."""
    made = operator(**changed)
    return BucketRun(made, [(SCHEMA, made.partition_keys)], hashing=lambda _: 7)


def row(v, name="x", k="a"):
    return (k, v, name)


def added(*rows):
    return [(each, 1) for each in rows]


def test_a_better_row_replaces_the_last_of_the_top():
    run = ranked()
    assert run.advance(added(row(1), row(2), row(3))) == {row(3): 1, row(2): 1}
    assert run.advance(added(row(5))) == {row(2): -1, row(5): 1}


def test_a_removed_row_lets_the_next_move_up():
    run = ranked()
    run.advance(added(row(1), row(2), row(3)))
    assert run.advance([(row(3), -1)]) == {row(3): -1, row(1): 1}


def test_partitions_of_one_hash_have_ranks_of_their_own():
    assert ranked(limit=1).advance(added(row(1, k="a"), row(9, k="b"))) == {row(1, k="a"): 1, row(9, k="b"): 1}


def test_a_row_that_changes_its_rank_within_the_range_emits_nothing():
    run = ranked()
    run.advance(added(row(1)))
    assert run.advance(added(row(2))) == {row(2): 1}


def test_with_a_rank_column_a_row_that_moves_is_replaced():
    run = ranked(rank_column="n")
    assert run.advance(added(row(1))) == {(*row(1), 1): 1}
    assert run.advance(added(row(2))) == {(*row(1), 1): -1, (*row(1), 2): 1, (*row(2), 1): 1}


def test_row_number_orders_peers_by_their_columns_from_the_first():
    run = ranked(limit=1)
    run.advance(added(row(1, "c")))
    assert run.advance(added(row(1, "b"))) == {row(1, "c"): -1, row(1, "b"): 1}
    assert run.advance(added(row(1, "d"))) == {}


def test_rank_returns_all_peers_and_leaves_a_gap():
    run = ranked(function=RankFunction.RANK, rank_column="n", limit=3)
    found = run.advance(added(row(9, "a"), row(9, "b"), row(5), row(4)))
    assert found == {(*row(9, "a"), 1): 1, (*row(9, "b"), 1): 1, (*row(5), 3): 1}


def test_dense_rank_leaves_no_gap():
    run = ranked(function=RankFunction.DENSE_RANK, rank_column="n")
    found = run.advance(added(row(9, "a"), row(9, "b"), row(5), row(4)))
    assert found == {(*row(9, "a"), 1): 1, (*row(9, "b"), 1): 1, (*row(5), 2): 1}


def test_copies_of_a_row_have_row_numbers_each():
    run = ranked(rank_column="n", limit=3)
    assert run.advance([(row(9), 2), (row(5), 2)]) == {(*row(9), 1): 1, (*row(9), 2): 1, (*row(5), 3): 1}
    assert run.advance([(row(9), -1)]) == {(*row(9), 2): -1, (*row(5), 2): 1}


def test_copies_beyond_the_limit_are_not_returned():
    assert ranked().advance([(row(9), 5)]) == {row(9): 2}


def test_offset_skips_the_first_ranks():
    run = ranked(offset=1)
    assert run.advance(added(row(3), row(2), row(1))) == {row(2): 1}
    assert run.advance(added(row(4))) == {row(2): -1, row(3): 1}


def test_an_offset_at_the_limit_leaves_nothing():
    assert ranked(offset=2).advance(added(row(3), row(2), row(1))) == {}


def test_without_a_limit_all_rows_are_numbered():
    found = ranked(limit=None, rank_column="n", rank_type=pa.int64()).advance(added(*(row(v) for v in range(5))))
    assert found == {(*row(v), 5 - v): 1 for v in range(5)}


def test_without_partition_keys_all_rows_are_one_partition():
    assert ranked(partition_keys=[], limit=1).advance(added(row(1, k="a"), row(9, k="b"))) == {row(9, k="b"): 1}


def test_without_order_the_smallest_rows_by_value_are_returned():
    assert ranked(order=[], limit=1).advance(added(row(2), row(1), row(None))) == {row(None): 1}


def test_an_insert_only_table_keeps_the_top_rows_only():
    run = ranked(is_insert_only=True)
    run.advance(added(*(row(v) for v in range(20))))
    assert run.state.rows("rows") == 2
    assert run.advance(added(row(30))) == {row(18): -1, row(30): 1}
    assert run.state.rows("rows") == 2


def test_an_insert_only_table_keeps_all_peers_of_the_last_rank():
    run = ranked(is_insert_only=True, function=RankFunction.RANK, limit=1)
    run.advance(added(row(5, "a"), row(5, "b"), row(1)))
    assert run.state.rows("rows") == 2


def test_an_insert_only_table_keeps_the_rows_below_the_offset():
    run = ranked(is_insert_only=True, offset=1)
    run.advance(added(row(3), row(2), row(1)))
    assert run.advance(added(row(4))) == {row(2): -1, row(3): 1}


def test_a_removal_from_an_insert_only_table_is_an_error():
    with pytest.raises(InternalError, match="insert-only"):
        ranked(is_insert_only=True).advance([(row(1), -1)])


def test_a_removal_of_a_missing_row_changes_no_rank_and_is_counted():
    run = ranked(rank_column="n")
    run.advance(added(row(1)))
    assert run.advance([(row(9), -1)]) == {}
    assert run.state.counts[MISSING_REMOVALS] == 1
    assert run.advance(added(row(9))) == {}


def test_a_group_of_peers_that_is_a_debt_has_no_dense_rank():
    run = ranked(function=RankFunction.DENSE_RANK, rank_column="n")
    assert run.advance([(row(9), -1), (row(5), 1)]) == {(*row(5), 1): 1}


def test_without_changes_no_rank_is_emitted():
    assert ranked(rank_column="n", function=RankFunction.DENSE_RANK).advance([]) == {}


def test_the_rank_operator_can_be_sent_to_an_executor():
    assert pickle.loads(pickle.dumps(operator())).settings == operator().settings


def test_settings_of_ranks_are_json():
    assert json.loads(json.dumps(operator().settings)) == operator().settings


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"limit": -1}, "negative"),
        ({"offset": -1}, "negative"),
        ({"rank_column": "v"}, "already"),
        ({"schema": pa.schema([("k", pa.string()), ("v", pa.list_(pa.int64()))])}, "no order"),
    ],
)
def test_an_unusable_rank_is_rejected(changed, message):
    with pytest.raises(ValueError, match=message):
        operator(**changed)
