"""A range that tasks share gives the rows, row watermarks and reports of the undivided one, in any history."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.source.api.abilities import DivisionSettings
from datasources.source.reading.divided_ranges import merged_reports
from tests.support.source.memory_source import MemoryLog, Query, strategy
from watermark import EmitStrategy

TIMES = st.lists(st.one_of(st.none(), st.integers(1, 500)), max_size=12)
DIVISIONS = st.builds(
    DivisionSettings,
    min_tasks=st.one_of(st.none(), st.integers(1, 9)),
    max_rows=st.one_of(st.none(), st.integers(1, 5)),
)
BATCH = st.tuples(st.tuples(TIMES, TIMES), st.one_of(st.none(), st.integers(1, 9)), st.booleans())


def data_of(rows):
    """The data rows of each split in the order of its tasks; heartbeats are as many as there are tasks."""
    splits: dict[str, list] = {}
    for row in rows:
        if row.id is not None:
            splits.setdefault(row.id.split(":")[0], []).append(row)
    return splits


def highest(rows):
    return max((row.row_watermark for row in rows if row.row_watermark is not None), default=None)


@settings(deadline=None, max_examples=150)
@given(st.lists(BATCH, min_size=1, max_size=5), DIVISIONS)
def test_divided_and_undivided_batches_are_equal(batches, division):
    log = MemoryLog(splits={"a-0": [], "a-1": []})
    query = Query(log, strategy(EmitStrategy.ON_PERIODIC))
    for times, budget, is_lost in batches:
        for split, rowtimes in zip(log.splits, times, strict=True):
            log.append(split, *rowtimes, delay=5)
        end = query.plan(budget)
        if end is None:
            continue
        store = query.report_store
        before = copy.deepcopy(store.reports)
        whole = query.read(end)
        reports, store.reports = store.reports, before
        pieces = query.read(end, division=division)
        assert data_of(pieces) == data_of(whole)
        assert highest(pieces) == highest(whole)
        assert merged_reports(store.take(end.sequence)) == reports.get(end.sequence, {})
        assert query.read(end, division=division) == pieces  # a retry reports the same
        if is_lost and (found := store.take(end.sequence)):
            del found[min(found)]  # one piece's report: that of the split is missing
        query.offset = end
