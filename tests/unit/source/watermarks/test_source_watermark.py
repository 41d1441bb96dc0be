"""The watermark of a whole source: its splits, the clock, the other sources of its query, processing time."""

from __future__ import annotations

import pytest

from datasources.errors import OffsetError
from datasources.source.api.abilities import ProcessingTime
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.watermarks.processing_time import is_in_processing_time
from datasources.source.watermarks.row_watermark import MAX_ROW_WATERMARK_MS
from datasources.source.watermarks.source_status import Peer, SourceStatus
from datasources.source.watermarks.source_watermark import source_watermark, with_unread
from tests.support.source.memory_source import MemoryLog, Query, strategy
from watermark import ManualClock, SplitStatus

ACTIVE, PAUSED, IDLE, FINISHED = SplitStatus.ACTIVE, SplitStatus.PAUSED, SplitStatus.IDLE, SplitStatus.FINISHED
START_MS = 1_700_000_000_000


def found(*states, peers=(), previous=None, clock=10_000, since=None, processing=False):
    """What a planning finds: (combined, own, is_idle)."""
    splits = [
        SplitProgress(split=SplitId(f"a-{n}"), start=0, end=0, known_at=0, watermark_ms=ms, status=status)
        for n, (ms, status) in enumerate(states)
    ]
    result = source_watermark(
        splits,
        [Peer(source=f"s{n}", status=status, same_query=True) for n, status in enumerate(peers)],
        previous_ms=previous,
        clock_ms=clock,
        idle_since_ms=since,
        is_processing=processing,
    )
    return result.combined_ms, result.own_ms, result.is_idle


def active(watermark_ms):
    return SourceStatus(watermark_ms=watermark_ms)


def idle(watermark_ms):
    return SourceStatus(watermark_ms=watermark_ms, is_idle=True)


# -- 1: the splits --


@pytest.mark.parametrize(
    ("states", "previous", "expected"),
    [
        ([(30, ACTIVE), (10, ACTIVE)], None, (10, 10, False)),
        ([(30, ACTIVE), (10, PAUSED)], None, (10, 10, False)),
        ([(30, ACTIVE), (None, ACTIVE)], None, (None, None, False)),
        ([(30, ACTIVE), (None, ACTIVE)], 7, (7, 7, False)),
        ([(30, ACTIVE), (10, IDLE)], None, (30, 30, False)),
        ([(30, ACTIVE), (10, ACTIVE)], 20, (20, 20, False)),
        ([(30, IDLE), (10, IDLE)], None, (30, 30, True)),
        ([(30, IDLE), (10, IDLE)], 40, (40, 30, True)),
        ([(None, IDLE)], None, (None, None, True)),
        ([], None, (None, None, True)),
        ([], 9, (9, None, True)),
        ([(30, FINISHED), (10, ACTIVE)], None, (10, 10, False)),
        ([(30, FINISHED), (10, IDLE)], None, (10, 10, True)),
        ([(30, FINISHED)], None, (MAX_ROW_WATERMARK_MS, MAX_ROW_WATERMARK_MS, False)),
    ],
)
def test_the_splits_come_first(states, previous, expected):
    assert found(*states, previous=previous) == expected


# -- 2: the clock, while all are idle --


def test_while_all_are_idle_the_maximum_goes_on_at_the_clock_s_pace():
    assert found((30, IDLE), (10, IDLE), clock=5_000, since=5_000) == (30, 30, True)
    assert found((30, IDLE), (10, IDLE), clock=5_700, since=5_000) == (730, 730, True)


def test_it_goes_on_from_where_it_was_and_not_to_the_clock():
    hour = 3_600_000
    assert found((-hour, IDLE), clock=hour + 1_000, since=hour) == (-hour + 1_000, -hour + 1_000, True)


def test_a_clock_that_goes_backwards_takes_nothing_back():
    assert found((30, IDLE), clock=4_000, since=5_000) == (30, 30, True)
    assert found((30, IDLE), clock=5_100, since=5_000, previous=730) == (730, 130, True)


def test_an_active_or_finished_split_ends_the_clock_s_pace():
    assert found((30, IDLE), (10, ACTIVE), clock=9_000, since=5_000) == (10, 10, False)
    assert found((30, FINISHED), clock=9_000, since=5_000) == (MAX_ROW_WATERMARK_MS, MAX_ROW_WATERMARK_MS, False)


def test_a_source_that_never_had_a_watermark_has_nothing_to_go_on_from():
    assert found((None, IDLE), clock=9_000, since=5_000) == (None, None, True)


# -- 3: the others of the query --


def test_an_idle_source_follows_the_others_and_reports_its_own():
    assert found((30, IDLE), peers=[active(500), active(70)]) == (70, 30, True)
    assert found((30, IDLE), peers=[active(20)]) == (30, 30, True)
    assert found((None, IDLE), peers=[active(70)]) == (70, None, True)
    assert found((30, IDLE), peers=[active(None)]) == (30, 30, True)


def test_where_all_sources_are_idle_each_reports_the_maximum():
    assert found((30, IDLE), peers=[idle(50), idle(None)]) == (50, 30, True)
    assert found((50, IDLE), peers=[idle(30)]) == (50, 50, True)


def test_an_active_source_listens_to_nobody():
    assert found((30, ACTIVE), peers=[active(500)]) == (30, 30, False)


def test_the_clock_and_the_others_together_give_the_larger_one():
    assert found((30, IDLE), peers=[active(70)], clock=5_100, since=5_000) == (130, 130, True)
    assert found((30, IDLE), peers=[active(700)], clock=5_100, since=5_000) == (700, 130, True)


def test_a_finished_source_is_not_followed_to_the_end_of_time():
    finished = SourceStatus(watermark_ms=MAX_ROW_WATERMARK_MS, is_finished=True)
    assert found((30, IDLE), peers=[finished]) == (30, 30, True)
    assert found((30, IDLE), peers=[finished, active(70)]) == (70, 30, True)


# -- 4: processing time --


def test_in_processing_time_the_source_reports_the_clock():
    assert found((30, ACTIVE), clock=9_000, processing=True) == (9_000, 9_000, False)
    assert found((30, IDLE), clock=9_000, processing=True) == (9_000, 9_000, False)
    assert found(clock=9_000, processing=True) == (9_000, 9_000, False)


def test_in_processing_time_a_source_follows_event_time_sources():
    assert found((30, ACTIVE), peers=[active(70)], clock=9_000, processing=True) == (70, 70, False)
    assert found((30, ACTIVE), peers=[active(None)], clock=9_000, processing=True) == (None, None, False)
    assert found((30, ACTIVE), peers=[idle(70)], clock=9_000, processing=True) == (9_000, 9_000, False)


def test_in_processing_time_it_never_goes_back_either():
    assert found((30, ACTIVE), previous=9_500, clock=9_000, processing=True) == (9_500, 9_500, False)
    assert found((30, ACTIVE), peers=[active(70)], previous=200, clock=9_000, processing=True) == (200, 200, False)


def test_a_finished_source_in_processing_time_has_ended_too():
    assert found((30, FINISHED), clock=9_000, processing=True) == (MAX_ROW_WATERMARK_MS, MAX_ROW_WATERMARK_MS, False)


# -- a paused split that was never read --


def test_a_paused_split_without_a_watermark_counts_with_its_next_record():
    splits = tuple(
        SplitProgress(split=SplitId(f"a-{n}"), start=0, end=0, known_at=0, watermark_ms=ms)
        for n, ms in enumerate([None, 5, None])
    )
    counted = with_unread(splits, {SplitId("a-0"): 900, SplitId("a-1"): 800})
    assert [s.watermark_ms for s in counted] == [899, 5, None]  # the record itself must not be late
    assert with_unread(splits, {}) == splits


# -- through a planner --


def row_watermarks(rows):
    return None if rows is None else [row.row_watermark for row in rows]


def test_the_clock_s_pace_begins_when_the_last_split_falls_idle():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log, strategy(idle_timeout_ms=5_000, advances_when_idle=True))
    assert query.drain()[-1].row_watermark == 100
    query.clock.advance_us(5_000_000)
    assert query.batch() is None  # it falls idle now: nothing has gone on yet
    query.clock.advance_us(2_500_000)
    assert row_watermarks(query.batch()) == [2_600]
    query.clock.set_wall_us(query.clock.now_us() - 3_600_000_000)
    query.clock.advance_us(1_000_000)
    assert query.batch() is None  # the wall clock was set back an hour: it stays
    log.append("a-0", 150)
    assert row_watermarks(query.batch()) == [2_600, 2_600]


def test_available_now_stands_at_one_moment():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log, strategy(idle_timeout_ms=5_000, advances_when_idle=True))
    query.drain()
    query.clock.advance_us(7_000_000)
    query.start_process()
    query.planner.limit_to_available_now()
    assert query.drain()[-1].row_watermark == 2_100
    query.clock.advance_us(60_000_000)
    assert query.drain() == []  # the clock went on, the run's does not: it ends
    query.start_process()
    query.planner.limit_to_available_now()
    assert query.drain()[-1].row_watermark == 62_100


def test_in_processing_time_row_watermarks_are_the_clock_and_none_late():
    log = MemoryLog()
    log.append("a-0", 100, 200, 300)
    query = Query(log, strategy(processing_time=ProcessingTime.AFTER_BACKLOG))
    assert row_watermarks(query.batch(2)) == [None, 100, 200]
    assert query.offset.is_processing is False
    assert row_watermarks(query.batch()) == [200, 300]  # what was there at the start is read in event time
    assert query.offset.is_processing is False
    log.append("a-0", 5)
    query.clock.advance_us(1_000_000)
    assert row_watermarks(query.batch()) == [START_MS + 1_000] * 2
    assert query.offset.is_processing
    assert query.report_store.reports[query.offset.sequence]["a-0"].late_rows == 0


def test_the_turn_waits_for_every_split():
    log = MemoryLog()
    log.append("a-0", *range(100, 110))
    log.append("a-1", 100)
    query = Query(log, strategy(processing_time=ProcessingTime.AFTER_BACKLOG))
    query.batch(4)
    log.append("a-1", 101)
    query.batch(4)
    assert query.offset.is_processing is False
    query.drain()
    log.append("a-1", 102)
    query.batch()
    assert query.offset.is_processing


@pytest.mark.parametrize(
    ("mode", "was", "splits", "expected"),
    [
        pytest.param(ProcessingTime.NEVER, False, [(9, None, None)], False, id="never"),
        pytest.param(ProcessingTime.AFTER_BACKLOG, False, [(4, 5, None)], False, id="backlog is unread"),
        pytest.param(ProcessingTime.AFTER_BACKLOG, False, [(5, 5, None)], True, id="backlog is read"),
        pytest.param(ProcessingTime.AFTER_BACKLOG, False, [(5, 5, None), (1, 2, None)], False, id="of one split only"),
        pytest.param(ProcessingTime.AFTER_BACKLOG, False, [(3, 5, 3)], True, id="a finished split has no backlog"),
        pytest.param(ProcessingTime.AFTER_BACKLOG, True, [(0, 5, None)], True, id="there is no way back"),
        pytest.param(ProcessingTime.AFTER_BACKLOG, False, [], True, id="there is no split"),
    ],
)
def test_when_a_source_is_in_processing_time(mode, was, splits, expected):
    start = Offset(sequence=4, run=1, splits=(), identity=Identity(), is_processing=was)
    reconciled = [
        SplitProgress(split=SplitId(f"a-{n}"), start=end, end=end, known_at=end, processing_start=begin, limit=limit)
        for n, (end, begin, limit) in enumerate(splits)
    ]
    assert is_in_processing_time(mode, start, reconciled) is expected


def test_a_source_that_was_empty_at_the_start_is_in_processing_time_at_once():
    log = MemoryLog()
    log.splits["a-0"] = []
    query = Query(log, strategy(processing_time=ProcessingTime.AFTER_BACKLOG))
    assert row_watermarks(query.batch()) == [START_MS]
    log.append("a-0", 7)
    assert row_watermarks(query.batch()) == [START_MS, START_MS]


def test_always_is_processing_time_from_the_first_record_on():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log, strategy(processing_time=ProcessingTime.ALWAYS))
    assert row_watermarks(query.batch()) == [START_MS, START_MS]


def test_a_processing_time_batch_is_replayed_with_equal_row_watermarks():
    log = MemoryLog()
    log.append("a-0", 100, 50)
    query = Query(log, strategy(processing_time=ProcessingTime.ALWAYS))
    end = query.plan()
    rows = query.read(end)
    query.clock.advance_us(9_000_000)
    query.start_process()
    assert query.read(end) == rows


def test_processing_time_survives_a_restart_and_has_no_way_back():
    log = MemoryLog()
    log.append("a-0", 100)
    first = Query(log, strategy(processing_time=ProcessingTime.AFTER_BACKLOG))
    first.batch()
    log.append("a-0", 101)
    first.batch()
    assert first.offset.is_processing
    again = Query(log, strategy(processing_time=ProcessingTime.AFTER_BACKLOG), offset=first.offset)
    again.clock.advance_us(60_000_000)
    assert row_watermarks(again.batch()) == [START_MS + 60_000]
    with pytest.raises(OffsetError, match=r"there is no way back to event time: set watermark\.processing-time"):
        Query(log, strategy(), offset=first.offset).batch()


def test_a_split_that_appears_after_the_turn_does_not_bring_event_time_back():
    log = MemoryLog()
    log.append("a-0", 100)
    query = Query(log, strategy(processing_time=ProcessingTime.ALWAYS))
    query.batch()
    log.append("a-1", 5)
    query.clock.advance_us(1_000_000)
    assert row_watermarks(query.batch()) == [START_MS + 1_000] * 2
    assert query.offset.is_processing


def test_an_idle_source_whose_query_nobody_knows_yet_sends_a_heartbeat_per_interval_until_it_is_known():
    clock = ManualClock(START_MS * 1_000)
    registry = SourceRegistry(clock)

    class Line:
        def ask(self, message):
            return registry.answer(message)

    log = MemoryLog()
    log.splits["a-0"] = []
    query = Query(log, strategy(idle_timeout_ms=1_000), clock=clock, peers=CoordinatorLink(Line(), "a", clock))
    query.batch()

    def heartbeats():
        found = []
        for _ in range(10):
            clock.advance_us(500_000)
            found += query.batch() or []
        return len(found)

    assert 4 <= heartbeats() <= 5
    registry.answer({"ask": "report", "source": "a", "query": "q", "run": "r", "batch": 0, "reports": []})
    query.batch()
    assert heartbeats() == 0
    query.start_process()
    query.peers._source = "b"  # a new process has a new name that no task has told yet
    query.planner.limit_to_available_now()
    assert len(query.drain()) == 1  # a run that is to end does not wait for peers


def test_an_idle_source_does_not_hold_its_query_and_follows_nobody_who_has_ended():
    clock = ManualClock(START_MS * 1_000)
    registry = SourceRegistry(clock)

    class Line:
        def ask(self, message):
            return registry.answer(message)

    def source(name, log, how):
        registry.answer({"ask": "report", "source": name, "query": "q", "run": "r", "batch": 0, "reports": []})
        return Query(log, how, clock=clock, peers=CoordinatorLink(Line(), name, clock))

    silent, busy, ending = MemoryLog(), MemoryLog(), MemoryLog(limited=True)
    silent.append("a-0", 100)
    busy.append("b-0", 50)
    ending.append("c-0", 70)
    sources = [
        source("a", silent, strategy(idle_timeout_ms=1_000)),
        source("b", busy, strategy()),
        source("c", ending, strategy()),
    ]
    latest = [0, 0, 0]
    for n in range(12):
        busy.append("b-0", 60 + n * 100)
        for index, query in enumerate(sources):
            for row in query.batch() or []:
                latest[index] = max(latest[index], row.row_watermark or 0)
        clock.advance_us(500_000)
    assert latest[2] == MAX_ROW_WATERMARK_MS
    assert latest[1] == 60 + 11 * 100
    assert 60 + 6 * 100 <= latest[0] <= latest[1]  # it follows the busy one, a heartbeat or two behind
