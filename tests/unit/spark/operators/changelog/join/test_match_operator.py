"""Rows by whether they have a match, rule by rule."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.join.match_operator import Emits, MatchOperator
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS
from tests.support.spark.change_bucket_run import BucketRun

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
A, B = (1, "a"), (None, "b")


def matching(emits):
    """All rows have one hash."""
    inputs = [(SCHEMA, SCHEMA.names), (SCHEMA, SCHEMA.names)]
    return BucketRun(MatchOperator(schema=SCHEMA, emits=Emits(emits)), inputs, hashing=lambda _: 7)


def test_a_row_is_unmatched_until_its_first_match():
    run = matching("unmatched")
    assert run.advance([(A, 1), (B, 1)], []) == {A: 1, B: 1}
    assert run.advance([], [(A, 1)]) == {A: -1}
    assert run.advance([], [(A, 1)]) == {}
    assert run.advance([], [(A, -2)]) == {A: 1}


def test_a_matched_row_appears_as_often_as_the_table_has_it():
    run = matching("matched")
    assert run.advance([(B, 2)], [(B, 6)]) == {B: 2}
    assert run.advance([(B, -1)], [(B, -3)]) == {B: -1}


def test_a_match_may_arrive_before_its_row():
    run = matching("matched")
    assert run.advance([], [(A, 1)]) == {}
    assert run.advance([(A, 1)], []) == {A: 1}


def test_the_flag_is_replaced():
    run = matching("flag")
    assert run.advance([(A, 1)], []) == {(*A, False): 1}
    assert run.advance([], [(A, 1)]) == {(*A, False): -1, (*A, True): 1}


def test_rows_of_one_hash_have_matches_of_their_own():
    assert matching("unmatched").advance([(A, 1), (B, 1)], [(B, 1)]) == {A: 1}


def test_a_row_that_goes_with_its_matches_leaves_no_state():
    run = matching("unmatched")
    run.advance([(A, 1)], [(A, 2)])
    assert run.advance([(A, -1)], [(A, -2)]) == {}
    assert run.state.rows("rows") == 0


def test_a_missing_row_and_a_missing_match_show_nothing():
    run = matching("matched")
    assert run.advance([(A, -1), (B, 1)], [(A, 1), (B, -1)]) == {}
    assert run.state.counts[MISSING_REMOVALS] == 1
    assert run.advance([(A, 1)], [(B, 1)]) == {}
    assert run.advance([(A, 1)], [(B, 1)]) == {A: 1, B: 1}


@pytest.mark.parametrize("emits", Emits)
def test_without_changes_no_match_is_emitted(emits):
    assert matching(emits).advance([], []) == {}


def test_the_match_operator_can_be_sent_and_its_settings_stored():
    made = MatchOperator(schema=SCHEMA, emits=Emits.FLAG)
    sent = pickle.loads(pickle.dumps(made))
    assert json.loads(json.dumps(sent.settings)) == made.settings


def test_a_flag_named_as_a_column_is_rejected():
    with pytest.raises(ValueError, match="already"):
        MatchOperator(schema=SCHEMA, emits=Emits.FLAG, flag_column="name")
