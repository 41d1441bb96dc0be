"""Values of groups with their counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.aggregate import multisets
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.pages import state_pages
from datasources.spark.operators.changelog.pages.page_cache import PageCache
from tests.support.spark.aggregate_run import AggregateRun

DATA = pa.schema([("k", pa.string()), ("v", pa.int64()), ("b", pa.bool_())])
DISTINCT = AggregateCall(name="d", function="count", argument="v", type=pa.int64(), is_distinct=True)
MIN = AggregateCall(name="low", function="min", argument="v", type=pa.int64())


def row(k, v=None, b=None):
    return (k, v, b)


def test_equal_values_count_once_until_the_last_is_removed():
    run = AggregateRun(DATA, ["k"], [DISTINCT])
    run.advance([(row("a", 1), 3), (row("a", 2), 1), (row("a"), 1)])
    assert run.rows == [("a", 2)]
    run.advance([(row("a", 1), -2)])
    assert run.rows == [("a", 2)]
    run.advance([(row("a", 1), -1)])
    assert run.rows == [("a", 1)]


def test_a_value_removed_before_it_is_added_never_counts():
    run = AggregateRun(DATA, ["k"], [DISTINCT])
    run.advance([(row("a", 1), -1), (row("a", 2), 2)])
    assert run.rows == [("a", 1)]
    run.advance([(row("a", 1), 1)])
    assert run.rows == [("a", 1)]
    run.advance([(row("a", 1), 1)])
    assert run.rows == [("a", 2)]


@pytest.mark.parametrize("call", [DISTINCT, MIN])
def test_a_group_is_stored_while_a_value_of_it_is(call):
    run = AggregateRun(DATA, ["k"], [call])
    run.advance([(row("a", 1), 1), (row("a", 2), -1)])
    assert run.rows == []
    assert run.state.stored("groups").num_rows == 1
    run.advance([(row("a", 1), -1), (row("a", 2), 1)])
    assert run.state.stored("groups") is None


def test_a_group_without_new_values_keeps_its_stored_ones():
    run = AggregateRun(DATA, ["k"], [MIN, AggregateCall(name="n", function="count", argument=None, type=pa.int64())])
    run.advance([(row("a", 5), 1)])
    run.advance([(row("a"), 1), (row("b", 7), 1)])
    assert run.rows == [("a", 5, 2), ("b", 7, 1)]


def test_values_with_the_same_hash_are_kept_apart(monkeypatch):
    monkeypatch.setattr(multisets, "mixed_hashes", lambda parts: np.zeros(len(parts[0]), dtype=np.uint64))
    run = AggregateRun(DATA, ["k"], [DISTINCT])
    run.advance([(row("a", 1), 1), (row("a", 2), 1)])
    run.advance([(row("b", 1), 1)])
    run.advance([(row("a", 1), -1)])
    assert run.rows == [("a", 1), ("b", 1)]


def test_a_micro_batch_reads_the_distinct_values_that_it_changes(monkeypatch):
    monkeypatch.setattr(state_pages, "WORKER_CACHE", PageCache(0))
    run = AggregateRun(DATA, [], [DISTINCT])
    run.advance([(row("a", n), 1) for n in range(5000)])
    read = []
    store = run.state.stores["values_0"]
    store.read = lambda number: read.append(number) or store.pages[number]
    run.advance([(row("a", 77), -1)])
    assert run.rows == [(4999,)]
    assert len(read) == 1 < len(store.pages)
