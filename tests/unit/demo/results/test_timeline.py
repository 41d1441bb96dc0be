"""Reading a query's progress."""

from __future__ import annotations

import json

import pytest

from datasources.demo.results.timeline import Moment, QueryTimeline, epoch_ms
from tests.support.demo_outcome import progress_text

SPLITS = {
    "splits": [
        {"split": "or-ders-0", "position": 5, "watermark": 1_000, "status": "active"},
        {"split": "or-ders-10", "position": 7, "watermark": None, "status": "idle"},
    ]
}


def test_times_of_spark_are_milliseconds_since_the_epoch():
    assert epoch_ms("2026-11-21T04:36:48.123Z") == 1_795_235_808_123
    assert epoch_ms(None) is None


@pytest.mark.parametrize("latest", [SPLITS, json.dumps(SPLITS)], ids=["object", "text"])
def test_the_state_of_a_source_is_read_by_partition(latest):
    moment = Moment.from_progress(progress_text(batch=3, at_ms=9_000, latest=latest, dropped=4, state=6))
    assert moment.read_rows == 12
    assert {n: (s.position, s.watermark_ms, s.status) for n, s in moment.splits.items()} == {
        0: (5, 1_000, "active"),
        10: (7, None, "idle"),
    }
    assert (moment.batch, moment.at_ms, moment.dropped_rows, moment.state_rows) == (3, 9_000, 4, 6)


def test_offsets_of_sparks_own_kafka_source_count_as_rows_read():
    end = {"orders": {"0": 5, "1": 2}}
    moment = Moment.from_progress(progress_text(batch=0, at_ms=0, latest=end, end=json.dumps(end)))
    assert (moment.read_rows, dict(moment.splits)) == (7, {})


@pytest.mark.parametrize("watermark_ms", [None, 0])
def test_the_epoch_is_no_watermark(watermark_ms):
    assert Moment.from_progress(progress_text(batch=0, at_ms=0, watermark_ms=watermark_ms)).watermark_ms is None


def test_a_batch_that_is_reported_twice_counts_once_and_batches_are_in_order():
    texts = [
        progress_text(batch=1, at_ms=20, dropped=5, state=2),
        progress_text(batch=0, at_ms=10, dropped=1, state=9),
        progress_text(batch=1, at_ms=20, dropped=7, state=3),
    ]
    timeline = QueryTimeline.from_progress(texts)
    assert [moment.batch for moment in timeline.moments] == [0, 1]
    assert (timeline.dropped_rows, timeline.peak_state_rows) == (8, 9)


def test_a_query_without_a_batch_has_an_empty_timeline():
    timeline = QueryTimeline.from_progress([])
    assert (timeline.dropped_rows, timeline.peak_state_rows, dict(timeline.last_splits)) == (0, 0, {})


def test_the_status_of_a_partition_is_that_of_the_last_batch_that_read_rows():
    def text(batch: int, position: int, first: str, second: str) -> str:
        splits = [
            {"split": "or-ders-0", "position": position, "watermark": 1_000 * batch, "status": first},
            {"split": "or-ders-1", "position": 3, "watermark": 10, "status": second},
        ]
        return progress_text(batch=batch, at_ms=batch, latest={"splits": splits})

    texts = [text(1, 5, "active", "active"), text(2, 9, "active", "idle"), text(3, 9, "idle", "idle")]
    splits = QueryTimeline.from_progress(texts).last_splits
    assert {n: (s.position, s.watermark_ms, s.status) for n, s in splits.items()} == {
        0: (9, 3_000, "active"),
        1: (3, 10, "idle"),
    }
