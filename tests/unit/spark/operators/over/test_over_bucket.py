"""The OVER operator without Spark: late rows, peers, null keys, sums that do not fit, what the state holds and reads."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverFrame, OverRule
from datasources.spark.operators.over.over_bucket import OverEmitted, advance_over
from tests.support.spark.over_bucket_run import OverMemoryStore

MS = 1_000
COUNT = OverAggregate(function="COUNT", argument=None, name="n", argument_type=pa.null(), result_type=pa.int64())
EVERY_FRAME = [OverFrame.rows(1), OverFrame.rows(), OverFrame.range(10), OverFrame.range()]


def aggregate(function: str, kind: pa.DataType, result: pa.DataType) -> OverAggregate:
    return OverAggregate(function=function, argument="v", name="n", argument_type=kind, result_type=result)


def rule(frame: OverFrame, *aggregates: OverAggregate, **changes: Any) -> OverRule:
    return OverRule(keys=("k",), frame=frame, aggregates=aggregates or (COUNT,), **changes)


def sent(
    watermark_ms: int, *rows: tuple[Any, ...], row_watermark_ms: int = 0, kind: pa.DataType | None = None
) -> RowBatch:
    """A row batch of rows (key, time[, value]), all with one row watermark, and the watermark after them."""
    table = None
    if rows:
        table = pa.table(
            {
                "k": pa.array([row[0] for row in rows], pa.string()),
                "v": pa.array([row[2] if len(row) > 2 else 1 for row in rows], kind or pa.int64()),
                ROWTIME_COLUMN: pa.array([row[1] * MS for row in rows], pa.int64()),
                ROW_WATERMARK_COLUMN: pa.array([row_watermark_ms * MS] * len(rows), pa.int64()),
            }
        )
    return RowBatch(task=0, number=0, watermark_us=watermark_ms * MS, null_rowtimes=0, rows=table)


def left(emitted: OverEmitted) -> list[tuple[Any, ...]]:
    rows = [] if emitted.rows is None else emitted.rows.to_pylist()
    return [(row["k"], row["n"]) for row in rows]


def run(window: OverRule, *row_batches: RowBatch) -> list[list[tuple[Any, ...]]]:
    store = OverMemoryStore()
    return [left(advance_over(window, store, [row_batch])) for row_batch in row_batches]


@pytest.mark.parametrize("frame", EVERY_FRAME)
def test_a_row_leaves_when_the_watermark_reaches_its_time_and_not_before(frame):
    assert run(rule(frame), sent(50, ("a", 100)), sent(99), sent(100), sent(101)) == [[], [], [("a", 1)], []]


def test_rows_of_one_time_are_peers_in_range_and_follow_each_other_in_rows():
    row_batches = (sent(50, ("a", 100), ("a", 100)), sent(100))
    assert run(rule(OverFrame.range(10)), *row_batches)[1] == [("a", 2), ("a", 2)]
    assert run(rule(OverFrame.range()), *row_batches)[1] == [("a", 2), ("a", 2)]
    assert run(rule(OverFrame.rows()), *row_batches)[1] == [("a", 1), ("a", 2)]


@pytest.mark.parametrize("frame", EVERY_FRAME)
def test_a_null_is_a_key_of_its_own(frame):
    assert run(rule(frame), sent(50, (None, 100), ("a", 100), (None, 101)), sent(200))[1] == [
        (None, 1),
        ("a", 1),
        (None, 2),
    ]


def test_a_row_behind_the_watermark_is_late_where_its_key_fired_after_it_or_nothing_bounds_the_frame():
    row_batches = (sent(100, ("a", 100)), sent(100, ("a", 95), ("b", 95), row_watermark_ms=100), sent(101))
    assert run(rule(OverFrame.rows(1)), *row_batches) == [[("a", 1)], [], [("b", 1)]]
    assert run(rule(OverFrame.range(10)), *row_batches) == [[("a", 1)], [], [("b", 1)]]
    assert run(rule(OverFrame.range()), *row_batches) == [[("a", 1)], [], []]


def test_a_timer_that_only_cleans_up_makes_older_rows_late_and_a_forgotten_key_takes_them():
    window, store = rule(OverFrame.range(10)), OverMemoryStore()
    # Timers at 116 (by the row of 100) and 122 (by the row of 106).
    advance_over(window, store, [sent(99, ("a", 100), ("a", 106))])
    advance_over(window, store, [sent(116)])
    late = advance_over(window, store, [sent(117, ("a", 115), row_watermark_ms=116)])
    assert late.late_rows == 1
    advance_over(window, store, [sent(122)])
    accepted = advance_over(window, store, [sent(123, ("a", 103), row_watermark_ms=122)])
    assert (accepted.late_rows, left(accepted)) == (0, [("a", 1)])


def test_no_watermark_makes_nothing_late_not_even_at_the_epoch():
    first = sent(0, ("a", 0), ("a", -5))
    assert run(rule(OverFrame.rows(1)), first, sent(1)) == [[], [("a", 1), ("a", 2)]]
    assert run(rule(OverFrame.range()), first, sent(1)) == [[], [("a", 1), ("a", 2)]]


def test_without_exactness_rows_are_compared_with_the_last_batch():
    first, second = sent(50, ("a", 100)), sent(300, ("a", 150), ("a", 120), row_watermark_ms=140)
    assert run(rule(OverFrame.range(), exact=False), first, second)[1] == [("a", 1), ("a", 2), ("a", 3)]
    assert run(rule(OverFrame.range()), first, second)[1] == [("a", 1), ("a", 2)]


def test_a_processing_time_waits_for_nothing_and_its_clock_may_go_back():
    window = rule(OverFrame.rows(1), is_processing_time=True)
    assert run(window, sent(0, ("a", 100)), sent(0, ("a", 90)), sent(0, ("a", 95))) == [
        [("a", 1)],
        [("a", 2)],
        [("a", 2)],
    ]


def test_a_key_begins_anew_and_is_forgotten_after_its_time_to_live():
    window, store = rule(OverFrame.rows(), ttl_us=50 * MS), OverMemoryStore()
    counts = [
        left(advance_over(window, store, [row_batch]))
        for row_batch in (sent(100, ("a", 100)), sent(150, ("a", 150), row_watermark_ms=100), sent(201, ("a", 201)))
    ]
    assert counts == [[("a", 1)], [("a", 2)], [("a", 1)]]
    assert advance_over(window, store, [sent(202, ("b", 202))]).state_keys == 2
    assert advance_over(window, store, [sent(300)]).state_keys == 0
    assert store.state_bytes == 0


def test_without_a_time_to_live_keys_of_rows_stay_and_are_counted():
    window, store = rule(OverFrame.rows(1)), OverMemoryStore()
    for step in range(40):
        advance_over(window, store, [sent(100 + step, *((f"k{n}", 100 + step) for n in range(3)))])
    assert advance_over(window, store, [sent(10_000)]).state_keys == 3
    assert sum(segment.num_rows for segment in store.read("retained")) <= 256


def test_a_heartbeat_without_firing_rows_reads_only_the_state_header():
    window, store = rule(OverFrame.range(10)), OverMemoryStore()
    advance_over(window, store, [sent(50, ("a", 100))])
    store.reads.clear()
    emitted = advance_over(window, store, [sent(60)])
    assert store.reads == []
    assert (emitted.rows, emitted.clock_us, emitted.state_keys) == (None, 60 * MS, 1)


def test_only_segments_with_a_firing_row_are_read_and_many_are_merged():
    window, store = rule(OverFrame.range(10)), OverMemoryStore()
    for step in range(200):
        advance_over(window, store, [sent(50, ("a", 1_000 + step))])
    assert len(store.header().waiting) <= 65
    store.reads.clear()
    assert left(advance_over(window, store, [sent(1_000)])) == [("a", 1)]
    assert store.reads.count("waiting") == 1


def test_results_carry_the_watermark_before_the_advance_that_made_them():
    window, store = rule(OverFrame.range(10)), OverMemoryStore()
    advance_over(window, store, [sent(50, ("a", 100))])
    advance_over(window, store, [sent(60)])
    emitted = advance_over(window, store, [sent(200, ("b", 150), row_watermark_ms=120)])
    assert emitted.rows.select(["k", WATERMARK_COLUMN]).to_pylist() == [
        {"k": "a", WATERMARK_COLUMN: 60 * MS},
        {"k": "b", WATERMARK_COLUMN: 120 * MS},
    ]
    assert emitted.clock_us == 200 * MS


@pytest.mark.parametrize("frame", EVERY_FRAME)
def test_a_sum_that_does_not_fit_is_an_error_that_names_it(frame):
    highest = np.iinfo(np.int64).max
    window = rule(frame, aggregate("SUM", pa.int64(), pa.int64()))
    with pytest.raises(QueryError, match=r"a sum over the window does not fit its type \(n\)"):
        run(window, sent(50, ("a", 100, highest), ("a", 101, 1)), sent(200))


@pytest.mark.parametrize("frame", EVERY_FRAME)
def test_decimals_are_exact_and_averages_round_half_up(frame):
    kind = pa.decimal128(38, 1)
    row_batches = (
        sent(50, ("a", 100, Decimal("0.1")), ("a", 101, Decimal("-0.4")), kind=kind),
        sent(200),
    )
    mean = rule(frame, aggregate("AVG", kind, pa.decimal128(38, 5)))
    assert [value for _, value in run(mean, *row_batches)[1]] == [Decimal("0.10000"), Decimal("-0.15000")]
    narrow = rule(frame, aggregate("SUM", kind, pa.decimal128(1, 1)))
    assert [value for _, value in run(narrow, *row_batches)[1]] == [Decimal("0.1"), Decimal("-0.3")]
    with pytest.raises(QueryError, match="the SUM 'n' over the window does not fit decimal128"):
        run(narrow, sent(50, ("a", 100, Decimal("9.5")), kind=kind), sent(200))


@pytest.mark.parametrize("frame", EVERY_FRAME)
def test_floating_point_of_one_key_does_not_touch_another(frame):
    window = rule(frame, aggregate("SUM", pa.float64(), pa.float64()))
    row_batches = (
        sent(50, ("a", 100, float("nan")), ("b", 100, 0.5), ("c", 100, float("inf")), kind=pa.float64()),
        sent(200),
    )
    found = dict(run(window, *row_batches)[1])
    assert np.isnan(found["a"])
    assert (found["b"], found["c"]) == (0.5, float("inf"))


def test_without_keys_all_rows_are_of_one_partition():
    window = OverRule(keys=(), frame=OverFrame.range(), aggregates=(COUNT,))
    assert run(window, sent(50, ("a", 100), ("b", 101)), sent(101)) == [[], [("a", 1), ("b", 2)]]


def test_pairs_keep_their_order_for_a_wide_range_of_times():
    group = np.array([0, 0, 1, 1, 2], dtype=np.int64)
    times = np.array([5, 1 << 61, -(1 << 61), 7, 7], dtype=np.int64)
    for at in (times, times // (1 << 50)):
        pairs, shifted = pairs_as_integers(group, at, at + 1)
        wanted = sorted(
            [(g, t, 0) for g, t in zip(group, at, strict=True)]
            + [(g, t + 1, 1) for g, t in zip(group, at, strict=True)]
        )
        found = sorted([(p, 0) for p in pairs] + [(p, 1) for p in shifted])
        assert [kind for _, _, kind in wanted] == [kind for _, kind in found]
