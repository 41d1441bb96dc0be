"""Upserts and deletions by key, rule by rule."""

from __future__ import annotations

import json
import pickle
from itertools import permutations

import pyarrow as pa
import pytest

from datasources.errors import RecordError
from datasources.spark.operators.changelog.normalize.normalize_operator import MISSING_DELETES, NormalizeOperator
from tests.support.spark.change_bucket_run import BucketRun

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def operator(**changed):
    settings = {
        "schema": SCHEMA,
        "keys": ["id"],
        "order_columns": ["part", "offset"],
        "kind_column": "is_delete",
        **changed,
    }
    return NormalizeOperator(**settings)


def table(hashing=lambda _: 7):
    """All keys have one hash."""
    made = operator()
    return BucketRun(made, [(made.input, ["id"])], hashing)


def upsert(key, name, offset, part=0):
    return ((key, name, part, offset, False), 1)


def delete(key, offset, name=None):
    return ((key, name, 0, offset, True), 1)


def test_the_first_event_of_a_key_adds_its_row():
    assert table().advance([upsert(1, "a", 0), upsert(2, "b", 1)]) == {(1, "a"): 1, (2, "b"): 1}


def test_a_later_event_replaces_the_row():
    run = table()
    run.advance([upsert(1, "a", 0)])
    assert run.advance([upsert(1, "b", 1)]) == {(1, "a"): -1, (1, "b"): 1}


def test_an_equal_row_emits_nothing():
    run = table()
    run.advance([upsert(1, "a", 0)])
    assert run.advance([upsert(1, "a", 1)]) == {}


def test_a_delete_removes_the_stored_row():
    run = table()
    run.advance([upsert(1, "a", 0), upsert(2, "b", 1)])
    assert run.advance([delete(1, 2)]) == {(1, "a"): -1}
    assert run.state.rows("rows") == 1


def test_a_delete_of_a_missing_key_is_counted():
    run = table()
    assert run.advance([delete(1, 0), delete(2, 1)]) == {}
    assert run.state.counts[MISSING_DELETES] == 2
    assert run.advance([upsert(1, "a", 2)]) == {(1, "a"): 1}
    assert run.state.counts[MISSING_DELETES] == 2


@pytest.mark.parametrize("events", list(permutations([upsert(1, "a", 0), upsert(1, "b", 1), upsert(1, "c", 2)])))
def test_the_highest_position_of_a_batch_decides(events):
    assert table().advance(list(events)) == {(1, "c"): 1}


def test_the_first_order_column_counts_most():
    assert table().advance([upsert(1, "a", 9, part=0), upsert(1, "b", 1, part=1)]) == {(1, "b"): 1}


def test_a_key_upserted_and_deleted_in_one_batch_never_appears():
    assert table().advance([upsert(1, "a", 0), delete(1, 1)]) == {}
    assert table().advance([delete(1, 0), upsert(1, "a", 1)]) == {(1, "a"): 1}


def test_an_event_read_twice_counts_once():
    assert table().advance([upsert(1, "a", 0), upsert(1, "a", 0)]) == {(1, "a"): 1}


@pytest.mark.parametrize("other", [upsert(1, "b", 3), delete(1, 3)])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_different_events_at_one_last_position_are_an_error(other, is_reversed):
    events = [upsert(1, "a", 3), other]
    with pytest.raises(RecordError, match=r"\(id\) and one position \(part 0, offset 3\)"):
        table().advance(events[::-1] if is_reversed else events)


@pytest.mark.parametrize(
    "events", list(permutations([upsert(1, "a", 3), delete(1, 3, "x"), delete(1, 3, "y")])), ids=range(6)
)
def test_an_upsert_beside_several_deletes_is_an_error_in_any_order(events):
    with pytest.raises(RecordError):
        table().advance(list(events))


def test_equal_positions_below_the_last_do_not_matter():
    assert table().advance([upsert(1, "a", 3), upsert(1, "b", 3), upsert(1, "c", 4)]) == {(1, "c"): 1}


def test_deletes_at_one_position_are_equal_whatever_their_row():
    run = table()
    run.advance([upsert(1, "a", 0)])
    assert run.advance([delete(1, 1, "x"), delete(1, 1, "y")]) == {(1, "a"): -1}


def test_different_keys_may_have_one_position():
    assert table().advance([upsert(1, "a", 0), upsert(2, "b", 0)]) == {(1, "a"): 1, (2, "b"): 1}


def test_null_is_a_key():
    run = table()
    run.advance([upsert(None, "a", 0)])
    assert run.advance([upsert(None, "b", 1)]) == {(None, "a"): -1, (None, "b"): 1}


def test_without_events_nothing_changes():
    assert table().advance([]) == {}


def test_the_normalize_operator_can_be_sent_and_its_settings_stored():
    sent = pickle.loads(pickle.dumps(operator()))
    assert json.loads(json.dumps(sent.settings)) == operator().settings


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"keys": []}, "key columns"),
        ({"order_columns": []}, "order columns"),
        ({"kind_column": "name"}, "same name: name"),
    ],
)
def test_an_unusable_normalization_is_rejected(changed, message):
    with pytest.raises(ValueError, match=message):
        operator(**changed)
