"""Candidates of records that no batch has read yet."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from datasources.errors import ExpressionError, SourceUnavailable
from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.abilities import NullRowtime
from tests.support.source.memory_source import MemoryLog, MillisColumn, strategy


def look(log, ranges, how=None, ceiling_ms=None):
    found = ReaderLookahead(log, how or strategy()).candidates(ranges, ceiling_ms)
    return {s: list(zip(c.positions.tolist(), c.values_ms.tolist(), strict=True)) for s, c in found.items()}


@pytest.fixture
def log():
    log = MemoryLog()
    log.append("a-0", 10, 30, None, 20, 50, delay=1)
    log.append("a-1", 7, 8)
    return log


def test_the_records_of_a_range_have_their_positions_and_candidates(log):
    assert look(log, {"a-0": (0, 2)}) == {"a-0": [(0, 9), (1, 29)]}
    assert look(log, {"a-0": (1, 5), "a-1": (0, 1)}) == {"a-0": [(1, 29), (3, 19), (4, 49)], "a-1": [(0, 7)]}


@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
def test_the_size_of_chunks_does_not_matter(log, chunk_rows):
    log.chunk_rows = chunk_rows
    assert look(log, {"a-0": (1, 5)}) == {"a-0": [(1, 29), (3, 19), (4, 49)]}


def test_a_split_without_a_candidate_in_its_range_is_left_out(log):
    assert look(log, {"a-0": (2, 3), "a-1": (1, 2)}) == {"a-1": [(1, 8)]}
    assert look(log, {"a-0": (2, 3)}) == {}
    assert look(log, {"a-0": (5, 5)}) == {}


def test_a_candidate_beyond_the_ceiling_is_none(log):
    assert look(log, {"a-0": (0, 5)}, ceiling_ms=29) == {"a-0": [(0, 9), (1, 29), (3, 19)]}


def test_dropped_rows_without_a_rowtime_move_no_position(log):
    found = look(log, {"a-0": (0, 5)}, strategy(null_rowtime=NullRowtime.DROP))
    assert found == {"a-0": [(0, 9), (1, 29), (3, 19), (4, 49)]}


def test_a_row_that_stops_the_query_is_left_to_the_task_that_reads_it(log):
    found = look(log, {"a-0": (0, 5), "a-1": (0, 2)}, strategy(null_rowtime=NullRowtime.FAIL))
    assert found == {"a-0": [(0, 9), (1, 29), (3, 19), (4, 49)], "a-1": [(0, 7), (1, 8)]}


@dataclass(frozen=True)
class Fragile(MillisColumn):
    """An expression that has no value for one row."""

    def event_time_us(self, batch):
        if 30 in batch.column("rowtime").to_pylist():
            raise ExpressionError("no value")
        return super().event_time_us(batch)


def test_a_row_whose_expression_fails_is_left_to_the_task_too(log):
    how = strategy()
    object.__setattr__(how, "watermark", Fragile("candidate"))
    assert look(log, {"a-0": (0, 5), "a-1": (0, 2)}, how) == {
        "a-0": [(0, 9), (3, 19), (4, 49)],
        "a-1": [(0, 7), (1, 8)],
    }


class Watched(MemoryLog):
    """A log that says which columns were wanted and whether its reader was closed."""

    def open(self, *, only=None):
        self.only, self.closed = only, False
        return self

    def close(self):
        self.closed = True


def test_only_the_columns_of_the_expressions_are_decoded_and_the_reader_is_closed(log):
    watched = Watched(log.splits)
    look(watched, {"a-0": (0, 2)})
    assert watched.only == {"rowtime", "candidate"}
    assert watched.closed


def test_the_reader_is_closed_when_the_source_fails():
    class Broken(Watched):
        def read(self, split, start, end):
            raise SourceUnavailable("gone")

    broken = Broken()
    with pytest.raises(SourceUnavailable):
        look(broken, {"a-0": (0, 1)})
    assert broken.closed


def test_a_reader_that_can_peek_is_asked_once_for_all_ranges(log):
    class Peeking(MemoryLog):
        asked = 0

        def open(self, *, only=None):
            raise AssertionError("it can peek")

        def peek(self, ranges, only):
            self.asked += 1
            assert only == {"rowtime", "candidate"}
            for split, (start, end) in ranges.items():
                for chunk in self.read(split, start, end):
                    yield split, chunk

    peeking = Peeking(log.splits)
    assert look(peeking, {"a-0": (0, 2), "a-1": (0, 2)}) == {"a-0": [(0, 9), (1, 29)], "a-1": [(0, 7), (1, 8)]}
    assert peeking.asked == 1
