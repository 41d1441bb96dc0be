"""Laws of the OVER operator: it equals Flink's rules record by record, and the cuts between batches do not matter."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverFrame, OverRule, Unit
from tests.support.oracles.over_model import MS, OverRecord, over_model
from tests.support.spark.over_bucket_run import OverMemoryStore, rows_of, run_over

no_deadline = settings(deadline=None)
START = 1_000_000
TYPES = {"v": pa.int32(), "d": pa.decimal128(10, 2), "s": pa.string()}


def aggregate(function, argument=None, *, ignores_nulls=False):
    kind = TYPES.get(argument, pa.null())
    result = {
        "SUM": pa.decimal128(20, 2) if argument == "d" else pa.int64(),
        "AVG": pa.decimal128(14, 6) if argument == "d" else pa.float64(),
        "COUNT": pa.int64(),
        "ROW_NUMBER": pa.int32(),
    }.get(function, kind)
    name = f"{function}_{argument}_{ignores_nulls}".lower()
    return OverAggregate(
        function=function,
        argument=argument,
        name=name,
        argument_type=kind,
        result_type=result,
        ignores_nulls=ignores_nulls,
    )


AGGREGATES = (
    aggregate("SUM", "v"),
    aggregate("SUM", "d"),
    aggregate("COUNT"),
    aggregate("COUNT", "s"),
    aggregate("AVG", "v"),
    aggregate("AVG", "d"),
    aggregate("MIN", "d"),
    aggregate("MAX", "s"),
    aggregate("FIRST_VALUE", "s"),
    aggregate("LAST_VALUE", "v"),
    aggregate("FIRST_VALUE", "v", ignores_nulls=True),
    aggregate("LAST_VALUE", "s", ignores_nulls=True),
)

keys = st.sampled_from(["a", "b", None])
values = st.fixed_dictionaries(
    {
        "v": st.none() | st.integers(-5, 5),
        "d": st.none() | st.integers(-500, 500).map(lambda cents: Decimal(cents).scaleb(-2)),
        "s": st.none() | st.sampled_from(["", "x", "yy"]),
    }
)
rows = st.lists(st.tuples(keys, st.integers(START, START + 90), values), max_size=40)
sizes = st.lists(st.integers(1, 15), min_size=1, max_size=4)
delays = st.integers(0, 25)
bounded_frames = st.builds(OverFrame, unit=st.just(Unit.ROWS), preceding=st.integers(0, 3)) | st.builds(
    OverFrame, unit=st.just(Unit.RANGE), preceding=st.integers(0, 30).map(lambda ms: ms * MS)
)
frames = bounded_frames | st.builds(OverFrame, unit=st.sampled_from(Unit))
chosen_aggregates = st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=4, unique=True).map(tuple)


@st.composite
def rules(draw, frame=frames):
    chosen = draw(frame)
    may_forget = chosen.unit is Unit.ROWS or not chosen.is_bounded
    ttl = draw(st.none() | st.integers(1, 40)) if may_forget else None
    return OverRule(
        keys=("k",),
        frame=chosen,
        aggregates=draw(chosen_aggregates),
        ttl_us=None if ttl is None else ttl * MS,
    )


def with_row_watermarks(drawn, delay):
    records, watermark = [], None
    for number, (key, ts, found) in enumerate(drawn):
        records.append(OverRecord(id=number, key=key, ts=ts, watermark=watermark, values=found))
        watermark = ts - delay if watermark is None else max(watermark, ts - delay)
    return records, watermark


def in_order(found):
    return sorted(found, key=repr)


@no_deadline
@given(rule=rules(), rows=rows, sizes=sizes, delay=delays)
def test_any_cut_into_batches_gives_what_flinks_rules_give(rule, rows, sizes, delay):
    records, watermark = with_row_watermarks(rows, delay)
    wanted = over_model(rule, records, watermark)
    results = run_over(rule, records, sizes, final=watermark, types=TYPES)
    assert in_order(rows_of(rule, results)) == in_order(wanted.rows)
    assert sum(result.late_rows for result in results) == len(wanted.late)


@no_deadline
@given(rule=rules(), rows=rows, sizes=sizes, delay=delays)
def test_at_the_end_every_row_has_left_once_or_was_late(rule, rows, sizes, delay):
    records, _ = with_row_watermarks(rows, delay)
    results = run_over(rule, records, sizes, final=START * 10, types=TYPES)
    left = [row[0] for row in rows_of(rule, results)]
    assert len(set(left)) == len(left)
    assert len(left) + sum(result.late_rows for result in results) == len(records)
    assert in_order(rows_of(rule, results)) == in_order(over_model(rule, records, START * 10).rows)


@no_deadline
@given(rule=rules(), rows=rows, sizes=sizes)
def test_a_processing_time_takes_rows_as_they_come(rule, rows, sizes):
    by_time = sorted(rows, key=lambda row: row[1])
    if rule.frame.unit is Unit.RANGE:  # rows of a batch have one time, so peers are never parted
        by_time = [(key, START + 10 * position, found) for position, (key, _, found) in enumerate(by_time)]
    records, _ = with_row_watermarks(by_time, 0)
    timeless = OverRule(
        keys=rule.keys, frame=rule.frame, aggregates=rule.aggregates, ttl_us=rule.ttl_us, is_processing_time=True
    )
    results = run_over(timeless, records, sizes, final=None, types=TYPES)
    wanted = over_model(timeless, records, None)
    assert in_order(rows_of(timeless, results)) == in_order(wanted.rows)
    assert sum(result.late_rows for result in results) == 0


@no_deadline
@given(rule=rules(), rows=rows, sizes=sizes, delay=delays)
def test_rows_are_emitted_by_time_with_a_watermark_below_their_time(rule, rows, sizes, delay):
    records, watermark = with_row_watermarks(rows, delay)
    clock_us = 0
    for result in run_over(rule, records, sizes, final=watermark, types=TYPES):
        left = [] if result.rows is None else result.rows.to_pylist()
        times = [records[row["id"]].ts for row in left]
        assert times == sorted(times)
        for row in left:
            record = records[row["id"]]
            own_us = 0 if record.watermark is None else record.watermark * MS
            assert row[WATERMARK_COLUMN] == max(own_us, clock_us)
            assert record.ts * MS > row[WATERMARK_COLUMN] or row[WATERMARK_COLUMN] == own_us
        assert result.clock_us >= clock_us
        clock_us = result.clock_us


@settings(deadline=None, max_examples=50)
@given(rule=rules(bounded_frames.filter(lambda frame: frame.unit is Unit.RANGE)), rows=rows, sizes=sizes, delay=delays)
@example(  # the watermark that forgets the last key comes with a row that is late
    rule=OverRule(keys=("k",), frame=OverFrame(unit=Unit.RANGE, preceding=MS), aggregates=AGGREGATES[:1]),
    rows=[("a", START, {"v": 1, "d": None, "s": None})] * 2,
    sizes=[1],
    delay=0,
)
def test_the_state_of_a_bounded_range_is_empty_once_the_watermark_is_far_ahead(rule, rows, sizes, delay):
    records, _ = with_row_watermarks(rows, delay)
    store = OverMemoryStore()
    run_over(rule, records, sizes, final=START * 10, types=TYPES, store=store)
    assert store.state_bytes == 0
