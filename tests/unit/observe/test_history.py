"""The newest samples of every split: what is kept, what is forgotten, and how much memory that is."""

from __future__ import annotations

import tracemalloc
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.observe.history import History, HistoryLimits
from datasources.observe.tables import counts_by_status, worst_first
from tests.support.source.observed_tables import NOW_MS, split, table
from watermark.clock import ManualClock

SECOND_US: Final = 1_000_000
SMALL: Final = HistoryLimits(samples=4, splits=3, sources=2, series=100, forget_after_s=60)


@pytest.fixture
def clock():
    return ManualClock(NOW_MS * 1_000)


def record(history, clock, *tables, seconds=1):
    history.record(tables)
    clock.advance_us(seconds * SECOND_US)


def series_count(history):
    return sum(len(source.splits) for source in history._sources.values())


def test_a_sample_has_the_time_the_watermark_the_status_and_the_lag_of_each_split(clock):
    history = History(clock=clock)
    record(
        history,
        clock,
        table(split("a", watermark=10, lag=7), split("b", watermark=20, status="paused"), watermark=10, max_allowed=25),
    )
    record(history, clock, table(split("a", watermark=15), split("b", watermark=None, status="idle"), watermark=15))
    assert history.read("run-1") == {
        "source": "run-1",
        "start": 0,
        "next": 2,
        "times": [NOW_MS, NOW_MS + 1_000],
        "watermark": [10, 15],
        "max_allowed": [25, None],
        "low": [10, 15],
        "median": [20, 15],
        "high": [20, 15],
        "splits": {
            "a": {"watermark": [10, 15], "lag": [7, 0], "status": "aa"},
            "b": {"watermark": [20, None], "lag": [0, 0], "status": "pi"},
        },
    }


def test_a_source_that_is_not_known_has_no_history(clock):
    assert History(clock=clock).read("run-1") is None


def test_a_viewer_asks_for_what_is_new(clock):
    history = History(clock=clock)
    for watermark in range(5):
        record(history, clock, table(split("a", watermark=watermark)))
    new = history.read("run-1", since=3)
    assert (new["start"], new["next"], new["splits"]["a"]["watermark"]) == (3, 5, [3, 4])
    nothing = history.read("run-1", since=5)
    assert (nothing["start"], nothing["next"], nothing["times"]) == (5, 5, [])


@pytest.mark.parametrize("since", [0, 5, 11, 10**15])
def test_a_viewer_that_asks_for_what_is_not_there_gets_all_that_is(clock, since):
    history = History(clock=clock, limits=SMALL)
    for watermark in range(10):
        record(history, clock, table(split("a", watermark=watermark)))
    found = history.read("run-1", since=since)
    assert (found["start"], found["next"], found["splits"]["a"]["watermark"]) == (6, 10, [6, 7, 8, 9])


def test_a_split_that_comes_later_was_not_there_before(clock):
    history = History(clock=clock)
    record(history, clock, table(split("a", watermark=1)))
    record(history, clock, table(split("a", watermark=2), split("b", watermark=3, lag=9, status="finished")))
    assert history.read("run-1")["splits"]["b"] == {"watermark": [None, 3], "lag": [None, 9], "status": "-f"}


def test_a_split_that_went_away_is_shown_until_its_last_sample_is_overwritten(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, table(split("a", watermark=1), split("b", watermark=1)))
    for _ in range(3):
        record(history, clock, table(split("a", watermark=2)))
    assert history.read("run-1")["splits"]["b"]["status"] == "a---"
    record(history, clock, table(split("a", watermark=2)))
    assert set(history.read("run-1")["splits"]) == {"a"}


def test_of_too_many_splits_those_are_kept_that_hold_the_source_back(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, table(*(split(name, watermark=at) for at, name in enumerate("abcde"))))
    assert set(history.read("run-1")["splits"]) == {"a", "b", "c"}


def test_a_split_that_becomes_one_of_the_worst_takes_the_place_of_the_best(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, table(*(split(name, watermark=at) for at, name in enumerate("abcd"))))
    record(history, clock, table(*(split(name, watermark=at) for at, name in enumerate("dabc"))))
    splits = history.read("run-1")["splits"]
    assert set(splits) == {"d", "a", "b"}
    assert splits["d"]["status"] == "-a"
    assert splits["a"]["status"] == "aa"


def test_beyond_the_worst_ones_a_split_that_has_a_series_keeps_it(clock):
    history = History(clock=clock, limits=HistoryLimits(samples=4, splits=25))
    record(history, clock, table(*(split(f"s{at}", watermark=at) for at in range(30))))
    kept = set(history.read("run-1")["splits"])
    # s24 falls behind s25 to s29, which had no series: it is not among the 20 worst, and stays.
    record(history, clock, table(*(split(f"s{at}", watermark=at if at != 24 else 100) for at in range(30))))
    assert set(history.read("run-1")["splits"]) == kept


def test_a_split_that_went_away_makes_room_for_one_that_is_there(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, table(*(split(name, watermark=1) for name in "abc")))
    record(history, clock, table(*(split(name, watermark=1) for name in "bcd")))
    assert set(history.read("run-1")["splits"]) == {"b", "c", "d"}


def test_the_spread_is_that_of_all_splits_that_count(clock):
    history = History(clock=clock, limits=SMALL)
    counted = [split(f"s{at}", watermark=at, status="paused" if at % 2 else "active") for at in range(9)]
    others = [
        split("idle", watermark=-50, status="idle"),
        split("done", watermark=99, status="finished"),
        split("new", watermark=None),
    ]
    record(history, clock, table(*counted, *others))
    found = history.read("run-1")
    assert (found["low"], found["median"], found["high"]) == ([0], [4], [8])


def test_a_status_of_a_later_version_is_kept_as_unknown(clock):
    history = History(clock=clock)
    record(history, clock, table(split("a", status="asleep")))
    assert history.read("run-1")["splits"]["a"]["status"] == "?"


@pytest.mark.parametrize(("value", "kept"), [(10**30, 2**63 - 1), (-(10**30), -(2**63) + 1), (0, 0), (-1, -1)])
def test_a_number_of_any_size_does_not_stop_the_sampler(clock, value, kept):
    history = History(clock=clock)
    record(history, clock, table(split("a", watermark=value, lag=value, watermark_lag=None)))
    series = history.read("run-1")["splits"]["a"]
    assert (series["watermark"], series["lag"]) == ([kept], [kept])


def test_sources_have_equal_parts_of_the_room_for_series(clock):
    history = History(clock=clock, limits=HistoryLimits(samples=4, splits=200, sources=10, series=40))
    sources = [table(*(split(f"s{at}", watermark=at) for at in range(50)), source=f"run-{run}") for run in range(5)]
    record(history, clock, sources[0])
    assert series_count(history) == 40
    record(history, clock, *sources)
    assert series_count(history) == 40
    assert set(history.read("run-4")["splits"]) == {f"s{at}" for at in range(8)}


def test_more_sources_than_are_kept_are_left_out(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, *(table(split("a"), source=name) for name in ("run-3", "run-2", "run-1")))
    assert [history.read(name) is not None for name in ("run-3", "run-2", "run-1")] == [True, True, False]


def test_a_source_that_ended_is_remembered_for_a_minute(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, table(split("a")), seconds=60)
    record(history, clock, seconds=1)
    assert history.read("run-1")["next"] == 1
    record(history, clock)
    assert history.read("run-1") is None


def test_a_source_that_ended_makes_room_for_one_that_runs(clock):
    history = History(clock=clock, limits=SMALL)
    record(history, clock, table(split("a"), source="old"))
    record(history, clock, table(split("a"), source="older"))
    record(history, clock, table(split("a"), source="new"), table(split("a"), source="old"))
    assert [history.read(name) is not None for name in ("new", "old", "older")] == [True, True, False]


def test_of_sources_that_ended_the_one_that_ended_last_stays_longest(clock):
    history = History(clock=clock, limits=HistoryLimits(sources=2))
    for name in ("first", "second", "third"):
        record(history, clock, table(split("a"), source=name))
    assert [history.read(name) is not None for name in ("first", "second", "third")] == [False, True, True]


def test_a_wall_clock_that_is_set_back_does_not_confuse_viewers(clock):
    history = History(clock=clock)
    record(history, clock, table(split("a", watermark=1)))
    clock.set_wall_us((NOW_MS - 3_600_000) * 1_000)
    record(history, clock, table(split("a", watermark=2)))
    assert history.read("run-1", since=1)["times"] == [NOW_MS - 3_600_000]


def test_everything_at_its_limit_fits_into_25_megabytes(clock):
    tables = [table(*(split(f"s{at}") for at in range(200)), source=f"run-{run}") for run in range(120)]
    tracemalloc.start()
    try:
        history = History(clock=clock)
        record(history, clock, *tables)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert series_count(history) == 2_000
    assert used < 25_000_000


STATUSES = st.sampled_from(["active", "paused", "idle", "finished"])
ROWS = st.fixed_dictionaries(
    {"watermark": st.none() | st.integers(-5, 50), "status": STATUSES, "lag": st.integers(0, 9)}
)


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), ROWS, max_size=6), max_size=20), st.integers(0, 25))
def test_it_keeps_what_a_list_of_all_tables_would(rounds, since):
    history, size = History(clock=ManualClock(), limits=HistoryLimits(samples=5)), 5
    for rows in rounds:
        history.record([table(*(split(name, **row) for name, row in rows.items()))])
    found = history.read("run-1", since=since)
    if not rounds:
        assert found is None
        return
    oldest = max(0, len(rounds) - size)
    start = since if oldest <= since <= len(rounds) else oldest
    assert (found["start"], found["next"]) == (start, len(rounds))
    for name in "abcdef":
        expected = [rows.get(name) for rows in rounds[start:]]
        if not any(name in rows for rows in rounds[oldest:]):
            assert name not in found["splits"]
            continue
        series = found["splits"][name]
        assert series["watermark"] == [None if row is None else row["watermark"] for row in expected]
        assert series["lag"] == [None if row is None else row["lag"] for row in expected]
        assert series["status"] == "".join("-" if row is None else row["status"][0] for row in expected)


def test_the_worst_split_is_the_one_that_holds_the_source_back():
    splits = [
        split("done", watermark=1, status="finished"),
        split("idle", watermark=2, status="idle"),
        split("fast", watermark=90, status="paused"),
        split("slow", watermark=10),
        split("slow, with backlog", watermark=10, lag=5),
        split("never read", watermark=None),
    ]
    assert [row["split"] for row in worst_first(splits)] == [
        "never read",
        "slow, with backlog",
        "slow",
        "fast",
        "idle",
        "done",
    ]


def test_statuses_are_counted_in_a_fixed_order():
    splits = [split("a", status="idle"), split("b"), split("c", status="asleep"), split("d", status="idle")]
    assert list(counts_by_status(splits).items()) == [("active", 1), ("idle", 2), ("asleep", 1)]
