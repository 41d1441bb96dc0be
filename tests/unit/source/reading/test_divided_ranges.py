"""Ranges that several tasks share: where they are divided, and that their reports merge into that of one task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.source.api.abilities import DivisionSettings
from datasources.source.api.split import LogIdentity
from datasources.source.coordination.reports import SplitReport
from datasources.source.reading.divided_ranges import divided, merged_reports, piece_counts
from datasources.source.reading.task_plan import SplitTask

LOG = LogIdentity("id", 7, 5)
TASK = SplitTask(split="a-0", known_at=3, start=5, end=15, watermark_us=1, others_us=None, log=LOG)


@pytest.mark.parametrize(
    ("sizes", "settings", "counts"),
    [
        ([10, 10], {}, [1, 1]),
        ([10, 10], {"max_rows": 10}, [1, 1]),
        ([11, 10], {"max_rows": 10}, [2, 1]),
        ([0, 3], {"max_rows": 1}, [1, 3]),
        # By the formula of Spark's KafkaOffsetRangeCalculator.
        ([1], {"min_tasks": 3}, [3]),
        ([1, 1, 1], {"min_tasks": 3}, [1, 1, 1]),
        ([100, 10], {"min_tasks": 3}, [2, 1]),
        ([1_000, 1, 1], {"min_tasks": 3}, [1, 1, 1]),
        ([5, 10, 20], {"min_tasks": 4}, [1, 1, 2]),
        ([1, 1, 100], {"min_tasks": 5}, [1, 1, 3]),
        ([0, 0], {"min_tasks": 4}, [1, 1]),
        ([100, 1], {"min_tasks": 4, "max_rows": 20}, [5, 1]),
        ([100, 1], {"min_tasks": 8, "max_rows": 50}, [8, 1]),
    ],
)
def test_how_many_pieces(sizes, settings, counts):
    assert piece_counts(sizes, DivisionSettings(**settings)) == counts


def test_pieces_cover_the_range_in_order_and_the_first_one_reads_what_is_unknown():
    pieces = divided([TASK], DivisionSettings(max_rows=4))
    assert [(p.known_at, p.start, p.end, p.piece) for p in pieces] == [
        (3, 5, 8, (0, 3)),
        (8, 8, 11, (1, 3)),
        (11, 11, 15, (2, 3)),
    ]
    assert [p.report_name for p in pieces] == ["a-0 [1/3]", "a-0 [2/3]", "a-0 [3/3]"]
    assert TASK.report_name == "a-0"


def test_a_position_inside_of_a_range_is_at_most_of_the_epoch_of_its_end():
    assert [p.log for p in divided([TASK], DivisionSettings(max_rows=5))] == [LOG, LogIdentity("id", 7, 7)]
    unknown = replace(TASK, log=None)
    assert [p.log for p in divided([unknown], DivisionSettings(max_rows=5))] == [None, None]


def report(name, position, watermark_ms=None, **more):
    return SplitReport(
        sequence=4, split=name, position=position, watermark_ms=watermark_ms, last_row_watermark_ms=None, **more
    )


def test_a_missing_piece_is_a_missing_report():
    parts = {f"a-0 [{n}/3]": report(f"a-0 [{n}/3]", 10 * n) for n in (1, 3)}
    whole = {"b": report("b", 9)}
    assert merged_reports({**parts, **whole}) == whole
    parts["a-0 [2/3]"] = report("a-0 [2/3]", 20)
    assert merged_reports({**parts, **whole}) == {**whole, "a-0": report("a-0", 30)}


def test_counts_are_added_and_watermarks_are_the_largest():
    first = report("s [1/2]", 5, 70, rows=5, bad=1, late_rows=2, max_lateness_ms=9, attribute_watermarks_ms=(70, None))
    second = report("s [2/2]", 9, 60, rows=4, lost=3, max_lateness_ms=8, attribute_watermarks_ms=(60, 65))
    merged = merged_reports({each.split: each for each in (second, first)})["s"]
    expected = report(
        "s", 9, 70, rows=9, bad=1, lost=3, late_rows=2, max_lateness_ms=9, attribute_watermarks_ms=(70, 65)
    )
    assert merged == expected
