"""Why windows with an offset are not compared with Flink's answers: it loses rows there, and how is known exactly."""

from __future__ import annotations

import pytest

from tests.support.oracles.flink_buffers import TwoPhases
from tests.support.oracles.oracle import CASES, load_case
from tests.support.oracles.oracle_windows import OFFSET_MS, SIZE_MS, candidate_of, rows_of_offset_windows, shown


@pytest.mark.parametrize("name", CASES)
def test_flinks_answer_is_what_its_buffers_without_the_offset_let_through(name):
    case = load_case(name)
    counts = TwoPhases(SIZE_MS, OFFSET_MS).run((row.ts, candidate_of(case, row)) for row in case.rows)
    assert shown(counts) == case.answers["tumble_offset"].inserted


@pytest.mark.parametrize("name", CASES)
def test_what_it_loses_is_not_late(name):
    case = load_case(name)
    found = {row[:2]: row[2] for row in rows_of_offset_windows(case)}
    for *window, count in case.answers["tumble_offset"].inserted:
        assert count <= found[tuple(window)]
    lost = sum(found.values()) - sum(row[2] for row in case.answers["tumble_offset"].inserted)
    assert lost > 0


def test_a_stream_in_perfect_order_loses_whole_windows_too():
    in_order = [(second * 1_000, second * 1_000) for second in range(60)]
    counts = TwoPhases(SIZE_MS, OFFSET_MS).run(in_order)
    assert sum(counts.values()) < 60
    assert sum(TwoPhases(SIZE_MS, 0).run(in_order).values()) == 60
