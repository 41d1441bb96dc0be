"""Which records of a range are dead letters, and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from datasources.source.api.abilities import LateRows, NullRowtime
from datasources.source.api.dead_letters import DeadLetterKind
from datasources.source.reading.split_dead_letters import SplitDeadLetters
from tests.support.source.memory_source import MemoryLog, Query, strategy
from tests.unit.source.reading.test_split_run import chunk_of, run_of, seen
from watermark import EmitStrategy

DEAD = {"late_rows": LateRows.DEAD_LETTER}


@dataclass
class Records:
    """Records of some rows each; position = number of the record times ten, plus `first`."""

    rows: list[int]
    bad: dict[int, str] = field(default_factory=dict)

    def record_of(self, row: int) -> int:
        return self.rows[row]

    def position(self, record: int) -> int:
        return record * 10


class Writer:
    def __init__(self) -> None:
        self.letters: list = []
        self.finished = 0

    def add(self, records, letters) -> None:
        self.letters += [(letter.record, letter.kind.value, letter.reason) for letter in letters]

    def finish(self) -> None:
        self.finished += 1


@pytest.fixture
def writer():
    return Writer()


@pytest.fixture
def letters(writer):
    return SplitDeadLetters(writer, "ts")


def chunk_with(*rowtimes, records: Records | None = None):
    records = records or Records(list(range(len(rowtimes))))
    return replace(chunk_of(*rowtimes), records=records, position=lambda row: records.position(records.record_of(row)))


def test_late_rows_are_left_out_and_become_letters(writer, letters):
    run = run_of(how=strategy(**DEAD))
    assert [row[0] for row in seen(run.take(chunk_with(100, 40, 101, 7), letters))] == ["0", "2"]
    assert writer.letters == [
        (
            1,
            "late",
            "the rowtime ts = 1970-01-01T00:00:00.040000 is at or before the row watermark 1970-01-01T00:00:00.100000",
        ),
        (
            3,
            "late",
            "the rowtime ts = 1970-01-01T00:00:00.007000 is at or before the row watermark 1970-01-01T00:00:00.101000",
        ),
    ]
    assert letters.count == 2
    assert run.report(dead_letters=letters.count).dead_letters == 2
    assert run.report().late_rows == 2


@pytest.mark.parametrize("late_rows", [LateRows.DROP, LateRows.KEEP, LateRows.MARK])
def test_late_rows_of_another_policy_are_no_letters(writer, letters, late_rows):
    run = run_of(how=strategy(late_rows=late_rows))
    run.take(chunk_with(100, 40, records=Records([0, 2], bad={1: "why"})), letters)
    assert writer.letters == [(1, "bad", "why")]


def test_a_record_of_several_late_rows_is_one_letter(writer, letters):
    run_of(how=strategy(**DEAD)).take(chunk_with(100, 40, 50, 200, 60, records=Records([0, 1, 1, 2, 2])), letters)
    assert [(record, reason.endswith("(the first of its 2 late rows)")) for record, _, reason in writer.letters] == [
        (1, True),
        (2, False),
    ]


def test_letters_are_in_the_order_of_the_split(writer, letters):
    records = Records([0, 2, 4], bad={1: "one", 3: "three"})
    run_of(how=strategy(**DEAD)).take(chunk_with(100, 40, 50, records=records), letters)
    assert [(record, kind) for record, kind, _ in writer.letters] == [(1, "bad"), (2, "late"), (3, "bad"), (4, "late")]


def test_rows_without_rowtime_that_are_dropped_do_not_shift_the_records(writer, letters):
    how = strategy(null_rowtime=NullRowtime.DROP, **DEAD)
    run_of(how=how).take(chunk_with(100, (None, None), 40), letters)
    assert [record for record, _, _ in writer.letters] == [2]


def test_what_is_behind_a_stop_is_not_read(writer, letters):
    records = Records([0, 1, 3], bad={2: "before", 4: "behind"})
    run = run_of(how=strategy(**DEAD), allowed_us=150_000)
    run.take(chunk_with(100, 40, 200, records=records), letters)
    assert run.has_stopped
    assert [(record, kind) for record, kind, _ in writer.letters] == [(1, "late"), (2, "bad")]
    assert letters.count == 2


def test_in_processing_time_no_row_is_late(writer, letters):
    run_of(how=strategy(**DEAD), is_processing=True, planned_minimum_ms=1_000).take(chunk_with(100, 40), letters)
    assert (writer.letters, letters.count) == ([], 0)


def test_a_range_ends_with_its_letters(writer, letters):
    letters.take(chunk_with(100, records=Records([1], bad={0: "why"})))
    letters.finish()
    assert (writer.letters, writer.finished) == ([(0, DeadLetterKind.BAD.value, "why")], 1)


# -- the id in the offset --


def test_a_source_with_dead_letters_has_an_id_as_long_as_its_checkpoint():
    log = MemoryLog()
    log.append("a-0", 10, 30)
    query = Query(log, writes_dead_letters=True)
    first = query.offset.dead_letters
    assert first
    query.drain()
    query.start_process()
    log.append("a-0", 50)
    query.drain()
    assert query.offset.dead_letters == first
    assert Query(log, writes_dead_letters=True).offset.dead_letters != first


def test_a_checkpoint_without_an_id_gets_one_and_keeps_it_when_the_option_goes():
    log = MemoryLog()
    log.append("a-0", 10)
    query = Query(log)
    query.drain()
    assert query.offset.dead_letters is None
    assert "dead_letters" not in query.offset.to_json()
    log.append("a-0", 20)
    later = Query(log, offset=query.offset, writes_dead_letters=True)
    later.drain()
    found = later.offset.dead_letters
    assert found
    log.append("a-0", 30)
    last = Query(log, offset=later.offset)
    last.drain()
    assert last.offset.dead_letters == found


def test_equal_rows_with_and_without_dead_letters():
    log = MemoryLog()
    log.append("a-0", 10, 30, 5, 40, 12)
    kinds = (LateRows.DROP, LateRows.DEAD_LETTER)
    dropped, written = (Query(log, strategy(EmitStrategy.ON_EVENT, late_rows=kind)).drain() for kind in kinds)
    assert dropped == written
