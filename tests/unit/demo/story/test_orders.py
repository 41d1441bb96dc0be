"""The story of the demo holds what the comparison rests on."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from datasources.demo.story.orders import DELAY_MS, ROLES, WINDOW_MS, Role, generate_story


@pytest.fixture(scope="module")
def story():
    return generate_story(7)


def _arrivals(story):
    """Yield (step, order) in order of arrival."""
    return [(number, order) for number, step in enumerate(story.steps) for order in step]


def test_a_story_depends_on_its_seed_only(story):
    assert generate_story(7) == story
    assert generate_story(8).steps != story.steps


def test_there_is_one_partition_that_lags_and_one_that_falls_silent():
    assert Counter(ROLES) == {Role.CURRENT: 2, Role.LAGGING: 1, Role.SILENT: 1}


def test_no_order_is_late_within_its_own_partition(story):
    newest = {}
    for _, order in _arrivals(story):
        assert order.ts_ms >= newest.get(order.partition, 0) - DELAY_MS
        newest[order.partition] = max(order.ts_ms, newest.get(order.partition, 0))


def test_the_lagging_partition_is_more_than_ten_minutes_behind_until_it_catches_up(story):
    lag_ms = {}
    newest = {}
    for number, order in _arrivals(story):
        newest[order.partition] = max(order.ts_ms, newest.get(order.partition, 0))
        lag_ms[number] = newest[0] - newest.get(2, newest[0])
    assert all(lag_ms[number] > 10 * 60_000 for number in range(1, 45))
    assert lag_ms[len(story.steps) - 1] < WINDOW_MS


def test_the_silent_partition_ends_early_and_all_others_write_in_every_step(story):
    partitions = [{order.partition for order in step} for step in story.steps]
    assert all({0, 1, 2} <= found for found in partitions)
    assert [3 in found for found in partitions] == [True] * 8 + [False] * 72


def test_the_truth_counts_every_order_of_the_windows_that_are_complete(story):
    counts = Counter((order.window_ms, order.item) for _, order in _arrivals(story))
    for key, count in story.truth.items():
        assert counts[key] == count
        assert key[0] + WINDOW_MS <= story.complete_until_ms
    left_out = {key for key in counts if key not in story.truth}
    assert all(start_ms + WINDOW_MS > story.complete_until_ms for start_ms, _ in left_out)


def test_what_is_complete_is_decided_by_the_slowest_partition_that_still_writes(story):
    newest = {}
    for _, order in _arrivals(story):
        newest[order.partition] = max(order.ts_ms, newest.get(order.partition, 0))
    assert story.complete_until_ms == min(newest[partition] for partition in (0, 1, 2)) - DELAY_MS
    assert newest[3] < story.complete_until_ms


def test_a_record_is_json_with_an_instant_in_utc(story):
    order = story.steps[0][0]
    record = json.loads(order.to_json())
    assert set(record) == {"user", "item", "price", "ts"}
    assert record["ts"].endswith("Z")
    assert record["price"] * 100 == pytest.approx(order.price_cents)
