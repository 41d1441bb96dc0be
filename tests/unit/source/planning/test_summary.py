"""The table of a source, as people read it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from datasources.source.api.abilities import Alignment
from datasources.source.api.split import ENDLESS, SplitId, SplitProgress, Unanswered
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.planning.summary import SourceInfo, Totals, summarise
from tests.support.source.memory_source import MemoryLog, Query, strategy
from watermark import SplitStatus

INFO = SourceInfo(
    time_ms=10_000,
    is_idle=False,
    max_allowed_ms=None,
    group_minimum_ms=None,
    ends={},
    idle_since_ms={},
    paused_since_ms={},
)


def split(name, end=5, **parts):
    return SplitProgress(split=SplitId(name), start=0, end=end, known_at=0, **parts)


def offset(*splits, **parts):
    return Offset(sequence=17, run=1, splits=splits, identity=Identity(), **parts)


def table(given, info=INFO, totals=None, max_splits=100):
    found = summarise(given, totals or Totals(), info, max_splits=max_splits)
    assert json.loads(json.dumps(found)) == found
    return found


def test_the_table_of_a_source():
    totals = Totals(late_rows=3, max_lateness_ms=900, by_split={SplitId("a-0"): (3, 900)})
    info = replace(
        INFO,
        max_allowed_ms=9_500,
        group_minimum_ms=9_000,
        ends={SplitId("a-0"): 25, SplitId("a-1"): 5},
        idle_since_ms={SplitId("a-1"): 4_000},
        paused_since_ms={SplitId("a-0"): 8_000},
        unanswered={SplitId("a-0"): Unanswered(7_000, "timed out")},
    )
    given = offset(
        split("a-0", watermark_ms=9_400, status=SplitStatus.PAUSED),
        split("a-1", watermark_ms=100, status=SplitStatus.IDLE),
        combined_ms=9_000,
    )
    assert table(given, info, totals) == {
        "late_rows": 3,
        "max_lateness_ms": 900,
        "null_rowtime_rows": 0,
        "ahead_rows": 0,
        "bad_records": 0,
        "dead_letters": 0,
        "null_values": 0,
        "lost_positions": 0,
        "time": 10_000,
        "batch": 17,
        "watermark": 9_000,
        "status": "active",
        "max_allowed": 9_500,
        "split_count": 2,
        "unanswered_splits": 1,
        "minOffsetsBehindLatest": 0,
        "maxOffsetsBehindLatest": 20,
        "avgOffsetsBehindLatest": 10.0,
        "splits": [
            {
                "split": "a-0",
                "position": 5,
                "lag": 20,
                "watermark": 9_400,
                "watermark_lag": 600,
                "status": "paused",
                "idle_since": None,
                "paused_since": 8_000,
                "unanswered_since": 7_000,
                "unanswered_reason": "timed out",
                "drift": 400,
                "late_rows": 3,
                "max_lateness_ms": 900,
                "dead_letters": 0,
            },
            {
                "split": "a-1",
                "position": 5,
                "lag": 0,
                "watermark": 100,
                "watermark_lag": 9_900,
                "status": "idle",
                "idle_since": 4_000,
                "paused_since": None,
                "unanswered_since": None,
                "unanswered_reason": None,
                "drift": -8_900,
                "late_rows": 0,
                "max_lateness_ms": 0,
                "dead_letters": 0,
            },
        ],
    }


def test_how_far_behind_the_latest_counts_every_split_and_not_only_those_shown():
    info = replace(INFO, ends={SplitId(f"a-{n}"): 5 + n for n in range(4)})
    given = offset(*(split(f"a-{n}") for n in range(4)))
    for max_splits in (1, 4):
        found = table(given, info, max_splits=max_splits)
        assert [found[f"{which}OffsetsBehindLatest"] for which in ("min", "max", "avg")] == [0, 3, 1.5]


def test_splits_without_an_answer_are_counted_also_where_they_are_not_shown():
    info = replace(INFO, unanswered=dict.fromkeys(map(SplitId, ("a-1", "a-2", "other-0")), Unanswered(1, "no")))
    given = offset(*(split(f"a-{n}", watermark_ms=n) for n in range(4)))
    for max_splits in (1, 4):
        assert table(given, info, max_splits=max_splits)["unanswered_splits"] == 2


@pytest.mark.parametrize("splits", [(), (split("a-0"),)], ids=["no split", "no known end"])
def test_where_no_end_is_known_nobody_knows_how_far_behind_it_is(splits):
    found = table(offset(*splits), replace(INFO, ends={SplitId("a-0"): ENDLESS}))
    assert [found[f"{which}OffsetsBehindLatest"] for which in ("min", "max", "avg")] == [None, None, None]


def test_what_is_not_known_is_none():
    (row,) = table(offset(split("a-0")))["splits"]
    assert (row["watermark"], row["watermark_lag"], row["drift"], row["lag"]) == (None, None, None, 0)
    (row,) = table(offset(split("a-0", watermark_ms=7)))["splits"]
    assert (row["drift"], row["watermark_lag"]) == (None, 9_993)


@pytest.mark.parametrize(
    ("given", "info", "expected"),
    [
        (offset(split("a-0")), INFO, "active"),
        (offset(split("a-0", status=SplitStatus.IDLE)), replace(INFO, is_idle=True), "idle"),
        (offset(), replace(INFO, is_idle=True), "idle"),
        (offset(split("a-0"), is_processing=True), INFO, "processing-time"),
        (offset(split("a-0", status=SplitStatus.FINISHED)), INFO, "finished"),
        (offset(split("a-0", status=SplitStatus.FINISHED), is_processing=True), INFO, "finished"),
        (offset(split("a-0", status=SplitStatus.FINISHED), split("a-1")), INFO, "active"),
    ],
)
def test_the_status_of_a_source(given, info, expected):
    assert table(given, info)["status"] == expected


def test_of_many_splits_those_that_hold_the_watermark_are_shown_in_their_order():
    given = offset(
        split("a-0", watermark_ms=900),
        split("a-1", watermark_ms=100),
        split("a-2"),
        split("a-3", watermark_ms=50, status=SplitStatus.FINISHED),
        split("a-4", watermark_ms=500),
    )
    found = table(given, max_splits=3)
    assert [row["split"] for row in found["splits"]] == ["a-1", "a-2", "a-4"]
    assert found["split_count"] == 5
    assert len(table(given, max_splits=5)["splits"]) == 5


def test_a_split_before_1970_holds_more_than_one_after_it():
    given = offset(split("a-0", watermark_ms=5), split("a-1", watermark_ms=-5), split("a-2", watermark_ms=9))
    assert [row["split"] for row in table(given, max_splits=1)["splits"]] == ["a-1"]


def test_a_split_without_a_watermark_holds_more_than_any_with_one():
    given = offset(split("a-0", watermark_ms=-5), split("a-1"))
    assert [row["split"] for row in table(given, max_splits=1)["splits"]] == ["a-1"]


def test_a_planner_shows_lag_pauses_and_what_is_allowed():
    log = MemoryLog()
    log.append("a-0", 0, 10)
    log.append("a-1", 5_000, 5_001, 5_002)
    query = Query(log, strategy(alignment=Alignment(group="g", max_drift_ms=100)))
    query.drain()
    waited_from_ms = query.clock.now_us() // 1_000
    query.clock.advance_us(2_000_000)
    assert query.batch() is None
    found = query.planner.table(query.offset, max_splits=10)
    rows = {row["split"]: row for row in found["splits"]}
    assert (found["max_allowed"], found["status"], found["watermark"]) == (110, "active", 10)
    assert (rows["a-0"]["status"], rows["a-0"]["lag"], rows["a-0"]["drift"]) == ("active", 0, 0)
    assert (rows["a-1"]["status"], rows["a-1"]["lag"]) == ("paused", 3)
    assert rows["a-1"]["paused_since"] == waited_from_ms
