"""Laws of sessions that keep groups: their results are those of the rows, at any point at which groups begin to be kept."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.source.api.aggregation import PartialFunction
from datasources.source.api.connector import SessionInfo
from datasources.spark.operators.sessions.session_bucket import advance_sessions
from datasources.spark.operators.sessions.session_groups import SessionGroups
from datasources.spark.operators.sessions.session_step import SessionRule
from datasources.spark.options.packing_options import PackedColumnOption, PackedInputOption, PackingOption
from datasources.spark.scan.packing import packing_of
from tests.support.oracles.session_model import MS, MemoryStore, cuts_of, row_batches, run_bucket, with_row_watermarks

KEYS = st.sampled_from(["a", "b", None])
START = 1_000_000
GAP = 10
COLUMNS = {
    "odd": ("BOOLEAN", "id > 20"),
    "n": ("BIGINT", "1L"),
    "total": ("BIGINT", "id"),
    "last": ("BIGINT", "CASE WHEN k = 'a' THEN id END"),
}
CONDITION = "id <> 3"
CALLS = {"n": PartialFunction.COUNT, "total": PartialFunction.SUM, "last": PartialFunction.MAX}


def groups() -> SessionGroups:
    columns = tuple(PackedColumnOption(name=name, type=kind, value=text) for name, (kind, text) in COLUMNS.items())
    option = PackingOption(buckets=1, inputs=(PackedInputOption(number=0, columns=columns, condition=CONDITION),))
    schema = pa.schema([("id", pa.int64()), ("k", pa.string())])
    (of_rows,) = packing_of(option, schema, SessionInfo(time_zone="UTC", ansi=True), {}).inputs
    return SessionGroups(keys=("odd",), calls=CALLS, counted="counted", of_rows=of_rows)


def with_columns(batch):
    if batch.rows is None:
        return batch
    rows = batch.rows
    (plain,) = rows.combine_chunks().to_batches()
    for each in groups().of_rows.columns:
        rows = rows.append_column(each.name, each.value.evaluator().evaluate(plain))
    counted = pa.array([number != 3 for number in rows.column("id").to_pylist()])
    return type(batch)(
        task=batch.task,
        number=batch.number,
        watermark_us=batch.watermark_us,
        null_rowtimes=0,
        rows=rows.append_column("counted", counted),
    )


def grouped(records, sizes, *, final, switch):
    """Run one bucket, at first with rows; return the results by window and group, and the store."""
    store, found, late = MemoryStore(), defaultdict(list), 0
    for number, batch in enumerate(cuts_of(records, sizes)):
        after = records[batch[-1].id + 1].watermark if batch[-1].id + 1 < len(records) else final
        keeps_groups = number >= switch
        if number == switch:
            store.replace_segments(list(map(groups().of_stored_rows, store.segments())))
        rule = SessionRule(keys=("k",), gap_us=GAP * MS, exact=True, groups=groups() if keeps_groups else None)
        sent = row_batches(batch, after)
        emitted = advance_sessions(rule, store, list(map(with_columns, sent)) if keeps_groups else sent)
        late += emitted.late_rows
        rows = [] if emitted.rows is None else emitted.rows.to_pylist()
        for row in rows:
            found[row["window_start"] // MS, row["window_end"] // MS].append(row if keeps_groups else one(row))
    return added_up(found), late, store


def one(row):
    return {
        "odd": row["id"] > 20,
        "n": int(row["id"] != 3),
        "total": row["id"],
        "last": row["id"] if row["k"] == "a" else None,
    }


def added_up(found):
    """Return count, sum and maximum by window and group; groups without rows are none."""
    results = {}
    for window, rows in found.items():
        for row in rows:
            if row["n"]:
                n, total, last = results.get((window, row["odd"]), (0, 0, None))
                largest = max((each for each in (last, row["last"]) if each is not None), default=None)
                results[window, row["odd"]] = (n + row["n"], total + row["total"], largest)
    return results


@settings(deadline=None, max_examples=150)
@given(
    rows=st.lists(st.tuples(KEYS, st.integers(START, START + 120)), max_size=60),
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    delay=st.integers(0, 25),
    switch=st.integers(0, 12),
)
def test_groups_give_what_rows_give(rows, sizes, delay, switch):
    records, watermark = with_row_watermarks(rows, delay)
    fired, late = run_bucket(records, sizes, gap=GAP, final=watermark)
    expected = defaultdict(list)
    for number, key, start, end in fired:
        expected[start, end].append(one({"id": number, "k": key}))
    found, found_late, _ = grouped(records, sizes, final=watermark, switch=switch)
    assert found == added_up(expected)
    assert found_late == late


def test_a_session_of_many_batches_keeps_few_rows():
    records, watermark = with_row_watermarks([("a", START + number) for number in range(1_000)], 5)
    _, _, store = grouped(records, [2], final=watermark, switch=0)
    header = store.header()
    assert header.stored_rows == sum(segment.num_rows for segment in store.segments())
    assert header.stored_rows <= 2 * 33
    assert header.segments <= 33
