"""Laws of the session operator: it equals Flink's rule record by record, and the cuts between batches do not matter."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.oracles.session_model import MS, MemoryStore, emitted_by, model, run_bucket, with_row_watermarks

no_deadline = settings(deadline=None)  # the first example pays for imports
KEYS = st.sampled_from(["a", "b", None])
START = 1_000_000
rows = st.lists(st.tuples(KEYS, st.integers(START, START + 120)), max_size=60)
sizes = st.lists(st.integers(1, 20), min_size=1, max_size=4)
gaps = st.integers(1, 15)
delays = st.integers(0, 25)


@no_deadline
@given(rows=rows, sizes=sizes, gap=gaps, delay=delays)
@example(rows=[("a", START + 95), ("b", START + 101), ("a", START + 88), ("a", START + 95)], sizes=[1], gap=10, delay=1)
def test_any_cut_into_batches_gives_what_flinks_rule_gives(rows, sizes, gap, delay):
    records, watermark = with_row_watermarks(rows, delay)
    wanted, late = model(records, gap, watermark)
    assert run_bucket(records, sizes, gap=gap, final=watermark) == (wanted, len(late))


@no_deadline
@given(rows=rows, sizes=sizes, gap=gaps, delay=delays)
def test_the_end_of_a_bounded_stream_gives_every_row_that_was_not_late(rows, sizes, gap, delay):
    records, _ = with_row_watermarks(rows, delay)
    end = START * 10
    wanted, late = model(records, gap, end)
    assert run_bucket(records, sizes, gap=gap, final=end) == (wanted, len(late))
    assert len(wanted) + len(late) == len(records)


@no_deadline
@given(rows=rows, sizes=sizes, gap=gaps, delay=delays)
def test_filtering_a_batch_keeps_every_row_that_filtering_rows_keeps(rows, sizes, gap, delay):
    records, _ = with_row_watermarks(rows, delay)
    end = START * 10
    exact, _ = run_bucket(records, sizes, gap=gap, final=end)
    together, late = run_bucket(records, sizes, gap=gap, final=end, exact=False)
    assert {row[0] for row in exact} <= {row[0] for row in together}
    assert len(together) + late == len(records)


@no_deadline
@given(rows=rows, gap=gaps, delay=delays)
def test_one_row_a_batch_is_exact_either_way(rows, gap, delay):
    records, watermark = with_row_watermarks(rows, delay)
    assert run_bucket(records, [1], gap=gap, final=watermark, exact=False) == run_bucket(
        records, [1], gap=gap, final=watermark
    )


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(KEYS, st.integers(START, START + 300)), max_size=80), sizes=sizes, gap=gaps)
def test_segments_hold_at_most_twice_the_rows_of_open_sessions(rows, sizes, gap):
    records, watermark = with_row_watermarks(rows, 5)
    store = MemoryStore()
    run_bucket(records, sizes, gap=gap, final=watermark, store=store)
    sessions, header = store.sessions(), store.header()
    assert header.stored_rows == sum(segment.num_rows for segment in store.segments())
    assert header.segments == len(store.segments())
    assert header.stored_rows <= 2 * (0 if sessions is None else int(sessions.rows.sum()))


@no_deadline
@given(rows=rows, sizes=sizes, gap=gaps, delay=delays)
def test_a_row_leaves_with_a_watermark_at_which_its_session_was_open_and_a_heartbeat_at_which_it_is_over(
    rows, sizes, gap, delay
):
    records, watermark = with_row_watermarks(rows, delay)
    clock_us = 0
    for emitted in emitted_by(records, sizes, gap=gap, final=watermark):
        assert emitted.watermark_us == clock_us
        clock_us = emitted.clock_us
        times = [] if emitted.rows is None else emitted.rows.column("window_time").to_pylist()
        assert all(emitted.watermark_us < time <= emitted.clock_us for time in times)
    assert clock_us == (watermark or 0) * MS
