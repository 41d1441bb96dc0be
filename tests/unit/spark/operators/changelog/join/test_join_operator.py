"""Joins of changes, rule by rule."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.join.join_operator import JoinKind, JoinOperator
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS
from tests.support.spark.change_bucket_run import BucketRun

LEFT = pa.schema([("id", pa.int64()), ("name", pa.string())])
RIGHT = pa.schema([("ref", pa.int64()), ("price", pa.int64())])
A, B = (1, "a"), (2, "b")
P, Q = (1, 10), (1, 20)


def operator(kind, **changed):
    settings = {
        "left": LEFT,
        "right": RIGHT,
        "left_keys": ["id"],
        "right_keys": ["ref"],
        "null_safe": [False],
        **changed,
    }
    return JoinOperator(kind=JoinKind(kind), **settings)


def join(kind, *, null_safe=False, hashing=lambda _: 7):
    """By default all keys have one hash."""
    return BucketRun(operator(kind, null_safe=[null_safe]), [(LEFT, ["id"]), (RIGHT, ["ref"])], hashing)


def test_rows_of_equal_keys_are_paired_in_whichever_order_they_arrive():
    run = join("inner")
    assert run.advance([(A, 1), (B, 1)], []) == {}
    assert run.advance([], [(P, 1)]) == {A + P: 1}
    assert run.advance([], [(Q, 1)]) == {A + Q: 1}


def test_changes_of_both_tables_in_one_batch_are_paired_once():
    assert join("inner").advance([(A, 1)], [(P, 1), (Q, 1)]) == {A + P: 1, A + Q: 1}


def test_different_keys_of_one_hash_are_not_paired():
    assert join("inner").advance([(B, 1)], [(P, 1)]) == {}


def test_an_update_removes_the_old_pairs_and_adds_the_new():
    run = join("inner")
    run.advance([(A, 1)], [(P, 1)])
    assert run.advance([], [(P, -1), (Q, 1)]) == {A + P: -1, A + Q: 1}


def test_a_key_that_changes_leaves_its_old_matches():
    run = join("inner")
    run.advance([(A, 1)], [(P, 1), ((2, 5), 1)])
    assert run.advance([(A, -1), ((2, "a"), 1)], []) == {A + P: -1, (2, "a", 2, 5): 1}


def test_multiplicities_are_multiplied():
    run = join("inner")
    assert run.advance([(A, 2)], [(P, 3)]) == {A + P: 6}
    assert run.advance([(A, -1)], [(P, 1)]) == {A + P: -2}


def test_changes_that_cancel_in_a_pair_emit_nothing():
    run = join("inner")
    run.advance([(A, 2)], [(P, 1)])
    assert run.advance([(A, -1)], [(P, 1)]) == {}


def test_without_keys_every_pair_matches():
    keyless = operator("inner", left_keys=[], right_keys=[], null_safe=[])
    run = BucketRun(keyless, [(LEFT, []), (RIGHT, [])])
    assert run.advance([(A, 1), (B, 1)], [(P, 1)]) == {A + P: 1, B + P: 1}


@pytest.mark.parametrize(("null_safe", "pairs"), [(False, {}), (True, {(None, "n", None, 1): 1})])
def test_null_keys_are_equal_only_where_null_safe(null_safe, pairs):
    assert join("inner", null_safe=null_safe).advance([((None, "n"), 1)], [((None, 1), 1)]) == pairs


def test_a_null_key_has_no_match_in_an_outer_join():
    run = join("full")
    assert run.advance([((None, "n"), 1)], [((None, 1), 1)]) == {(None, "n", None, None): 1, (None, None, None, 1): 1}


def test_the_first_match_replaces_the_unmatched_row():
    run = join("left")
    assert run.advance([(A, 2)], []) == {(*A, None, None): 2}
    assert run.advance([], [(P, 1)]) == {(*A, None, None): -2, A + P: 2}


def test_the_last_match_restores_the_unmatched_row():
    run = join("left")
    run.advance([(A, 1)], [(P, 1), (Q, 1)])
    assert run.advance([], [(P, -1)]) == {A + P: -1}
    assert run.advance([], [(Q, -1)]) == {A + Q: -1, (*A, None, None): 1}


def test_a_right_join_keeps_right_rows():
    assert join("right").advance([(B, 1)], [(P, 1)]) == {(None, None, *P): 1}


def test_a_semi_join_emits_when_the_first_match_arrives_and_the_last_goes():
    run = join("semi")
    assert run.advance([(A, 1)], [(P, 1)]) == {A: 1}
    assert run.advance([], [(Q, 1)]) == {}
    assert run.advance([], [(P, -1)]) == {}
    assert run.advance([], [(Q, -1)]) == {A: -1}


def test_an_anti_join_emits_rows_without_a_match():
    run = join("anti")
    assert run.advance([(A, 1), (B, 1)], [(P, 1)]) == {B: 1}
    assert run.advance([], [(P, -1)]) == {A: 1}


def test_an_existence_join_replaces_the_flag():
    run = join("existence")
    assert run.advance([(A, 1)], []) == {(*A, False): 1}
    assert run.advance([], [(P, 1)]) == {(*A, False): -1, (*A, True): 1}


def test_a_removal_of_a_missing_row_emits_nothing_and_is_counted():
    run = join("inner")
    assert run.advance([(A, 1)], [(P, -2)]) == {}
    assert run.state.counts[MISSING_REMOVALS] == 2
    assert run.advance([(A, -2)], []) == {}
    assert run.state.counts[MISSING_REMOVALS] == 3


def test_a_debt_is_paid_before_a_row_counts():
    run = join("inner")
    run.advance([(A, -1)], [(P, -1)])
    assert run.advance([(A, 1)], [(P, 2)]) == {}
    assert run.advance([(A, 1)], []) == {A + P: 1}
    assert run.state.counts[MISSING_REMOVALS] == 2


def test_without_changes_nothing_is_read_or_emitted():
    run = join("full")
    assert run.advance([], []) == {}
    assert {name: store.pages for name, store in run.state.stores.items()} == {"left": {}, "right": {}}


@pytest.mark.parametrize("kind", JoinKind)
def test_the_operator_can_be_sent_to_an_executor(kind):
    sent = pickle.loads(pickle.dumps(operator(kind)))
    assert sent.output == operator(kind).output


@pytest.mark.parametrize("kind", JoinKind)
def test_settings_are_json(kind):
    assert json.loads(json.dumps(operator(kind).settings)) == operator(kind).settings


def test_settings_differ_where_the_meaning_of_the_state_does():
    assert operator("inner").settings != operator("inner", null_safe=[True]).settings


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"right_keys": []}, "different lengths"),
        ({"right": pa.schema([("ref", pa.int32())])}, "different types"),
        ({"right": pa.schema([("ref", pa.int64()), ("name", pa.int64())])}, "occurs twice"),
    ],
)
def test_an_unusable_definition_is_rejected(changed, message):
    with pytest.raises(ValueError, match=message):
        operator("inner", **changed)
