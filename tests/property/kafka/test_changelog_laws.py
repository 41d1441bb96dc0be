"""Records of several rows: however they are fetched and wherever a range stops, each record is read once and whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.errors import RecordError
from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.reader.fetcher import Fetched
from datasources.kafka.reader.record_chunks import ChunkMaker
from datasources.source.api.abilities import NullRowtime
from datasources.source.api.reader import ReadCounts
from datasources.source.api.scan_range import ScanRange
from datasources.source.api.split import SplitId
from datasources.source.reading.split_run import SplitRun
from datasources.source.reading.task import scan_watermark
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from tests.support.kafka.kafka_records import record, source_of
from tests.support.source.memory_source import strategy
from watermark import MIN_WATERMARK

SPLIT = SplitId("orders-3")
SOURCE = source_of(
    {"row_kind": "row_kind", "at": "offset"},
    format="debezium-json",
    schema="rowtime BIGINT, candidate BIGINT",
    format__on_error="skip",
)
MAKER = ChunkMaker(SOURCE.reader_factory().chunk_format(None))

sides = (
    st.none()
    | st.integers(0, 30).map(lambda ms: {"rowtime": ms, "candidate": ms})
    | st.just({"rowtime": None, "candidate": None})
)
values = st.none() | st.just("bad") | st.tuples(st.sampled_from("crud"), sides, sides)


@st.composite
def logs(draw):
    """Records at growing offsets, with gaps."""
    messages, offset = [], draw(st.integers(0, 3))
    for value in draw(st.lists(values, max_size=12)):
        if isinstance(value, tuple):
            op, before, after = value
            messages.append(record(offset, None, {"op": op, "before": before, "after": after}))
        else:
            messages.append(record(offset, None, None if value is None else b"{"))
        offset += draw(st.integers(1, 3))
    return messages


def rows_of(columns) -> list[tuple[int, str]]:
    return list(zip(columns.column("at").to_pylist(), columns.column("row_kind").to_pylist(), strict=True))


def expected(message) -> list[tuple[int, str]]:
    """The rows of a record."""
    if message.value() in (None, b"{"):
        return []
    event = json.loads(message.value())
    before, after = event["before"] is not None, event["after"] is not None
    kinds = {
        "c": ["+I"] if after else [],
        "r": ["+I"] if after else [],
        "u": ["-U", "+U"] if before and after else [],
        "d": ["-D"] if before else [],
    }[event["op"]]
    return [(message.offset(), kind) for kind in kinds]


def largest(message) -> int | None:
    """The candidate of a record in ms: the largest of its rows."""
    if not expected(message):
        return None
    event = json.loads(message.value())
    read = {"c": ["after"], "r": ["after"], "u": ["before", "after"], "d": ["before"]}[event["op"]]
    return max((event[side]["candidate"] for side in read if event[side]["candidate"] is not None), default=None)


def chunks_of(messages, cuts):
    parts = [messages[i:j] for i, j in zip([0, *cuts], [*cuts, len(messages)], strict=True) if i < j]
    return list(MAKER.chunks([Fetched(topic="orders", partition=3, records=MessageRecords(part)) for part in parts]))


class Factory:
    """A reader over a list of records."""

    def __init__(self, messages, cuts=()) -> None:
        self.messages, self.cuts = messages, list(cuts)

    def open(self, *, only=None):
        return self

    def read(self, split, start, end):
        found = [m for m in self.messages if start <= m.offset() < end]
        yield from chunks_of(found, [cut for cut in self.cuts if cut < len(found)])

    def close(self):
        pass


@settings(max_examples=60, deadline=None)
@given(messages=logs(), data=st.data())
def test_chunks_hold_each_record_whole_at_its_position(messages, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(messages)), max_size=3)))
    chunks = chunks_of(messages, cuts)
    assert [row for chunk in chunks for row in rows_of(chunk.columns)] == [r for m in messages for r in expected(m)]
    for chunk in chunks:
        found = rows_of(chunk.columns)
        assert [chunk.position(row) for row in range(len(found))] == [offset for offset, _ in found]
        assert [chunk.record_start(row) for row in range(len(found))] == [
            next(first for first, (other, _) in enumerate(found) if other == offset) for offset, _ in found
        ]
    total = sum((chunk.counts for chunk in chunks), ReadCounts())
    nulls = sum(m.value() is None for m in messages)
    assert (total.null_value, total.bad) == (nulls, sum(not expected(m) for m in messages) - nulls)


@pytest.mark.parametrize("null_rowtime", [NullRowtime.KEEP, NullRowtime.DROP])
@settings(max_examples=60, deadline=None)
@given(messages=logs(), allowed=st.lists(st.integers(0, 31), min_size=1, max_size=4), data=st.data())
def test_a_range_stops_before_a_record_and_never_inside_of_one(null_rowtime, messages, allowed, data):
    how = strategy(null_rowtime=null_rowtime)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(messages)), max_size=2)))
    factory, position, end = Factory(messages, cuts), 0, 100
    seen, counted = [], [0, 0, 0]
    for bound_ms in [*sorted(allowed), 1_000]:
        task = SplitTask(
            split=SPLIT, known_at=position, start=position, end=end, watermark_us=MIN_WATERMARK, others_us=None
        )
        plan = TaskPlan(
            sequence=1, splits=(task,), combined_us=MIN_WATERMARK, ceiling_us=None, allowed_us=bound_ms * 1_000
        )
        run = SplitRun(plan, task, how, MIN_WATERMARK)
        for chunk in factory.read(SPLIT, position, end):
            seen += rows_of(run.take(chunk).columns)
            if run.has_stopped:
                break
        report = run.report()
        counted = [
            n + m for n, m in zip(counted, [report.bad, report.null_value, report.null_rowtime_rows], strict=True)
        ]
        stopped = next((m for m in messages if m.offset() >= position and (largest(m) or 0) > bound_ms), None)
        assert report.position == (end if stopped is None else stopped.offset())
        assert report.next_ms == (None if stopped is None else largest(stopped))
        scanned = scan_watermark(
            factory,
            how,
            ScanRange(
                split=SPLIT,
                start=position,
                end=end,
                watermark_us=MIN_WATERMARK,
                ceiling_us=None,
                allowed_us=bound_ms * 1_000,
            ),
        )
        assert (scanned.position, None if scanned.next_us is None else scanned.next_us // 1_000) == (
            report.position,
            report.next_ms,
        )
        assert (None if scanned.watermark_us == MIN_WATERMARK else scanned.watermark_us // 1_000) == report.watermark_ms
        position = report.position
    assert position == end
    assert seen == [row for m in messages for row in expected(m) if null_rowtime is NullRowtime.KEEP or row in kept(m)]
    nulls = sum(m.value() is None for m in messages)
    null_rows = sum(len(expected(m)) - len(kept(m)) for m in messages)
    assert counted == [sum(not expected(m) for m in messages) - nulls, nulls, null_rows]


def kept(message) -> list[tuple[int, str]]:
    """The rows of a record that have a rowtime."""
    if not expected(message):
        return []
    event = json.loads(message.value())
    read = {"c": ["after"], "r": ["after"], "u": ["before", "after"], "d": ["before"]}[event["op"]]
    return [row for row, side in zip(expected(message), read, strict=True) if event[side]["rowtime"] is not None]


def test_a_failing_event_names_its_offset():
    source = source_of(format="debezium-json", schema="rowtime BIGINT")
    maker = ChunkMaker(source.reader_factory().chunk_format(None))
    part = Fetched(
        topic="orders", partition=3, records=MessageRecords([record(5, None, {"op": "u", "after": {"rowtime": 1}})])
    )
    with pytest.raises(RecordError, match=r"partition 3, offset 5 cannot be decoded: the \"before\" of an update is"):
        list(maker.chunks([part]))
