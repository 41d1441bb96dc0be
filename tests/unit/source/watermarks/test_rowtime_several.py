"""Several time attributes: the watermark is the minimum over the running watermarks of all of them."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from datasources.errors import CoordinatorError, OffsetError, OptionError, RecordError
from datasources.scripted.source import ScriptedSource
from datasources.source.api.abilities import AdditionalAttribute, LateRows, NullRowtime
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.reports import SplitReport
from datasources.source.reading.split_run import SplitRun
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.spark.scan.scan import build_scan
from tests.support.source.memory_source import MemoryLog, MillisColumn, Query, strategy
from watermark import MIN_WATERMARK

TWO = {
    "watermark.for": "ts",
    "watermark.as": "ts - INTERVAL '5' SECOND",
    "watermark.1.for": "d",
    "watermark.1.rowtime": "timestamp_millis(id)",
    "watermark.1.as": "id - 1000",
}


def two(**more):
    """The columns `rowtime` and `candidate` as two attributes without delay."""
    second = AdditionalAttribute(name="b", rowtime=MillisColumn("candidate"), watermark=MillisColumn("candidate"))
    return replace(strategy(**more), watermark=MillisColumn("rowtime"), additional=(second,))


def expected_row_watermarks(pairs):
    """The watermark before each row, ms, None for none."""
    a, b, row_watermarks = [], [], []
    for first, second in pairs:
        row_watermarks.append(min(max(a), max(b)) if a and b else None)
        a += [] if first is None else [first]
        b += [] if second is None else [second]
    return row_watermarks


def log_of(pairs):
    log = MemoryLog()
    log.splits["a-0"] = list(pairs)
    return log


@pytest.mark.parametrize("rows", [1, 2, 7, None])
@pytest.mark.parametrize("fault", ["none", "reports are lost", "processes end"])
def test_row_watermarks_do_not_depend_on_batches_nor_on_lost_reports(rows, fault):
    numbers = random.Random(f"{rows} {fault}")
    pairs = [
        tuple(None if numbers.random() < 0.2 else numbers.randrange(1, 10 * (n + 1)) for _ in range(2))
        for n in range(60)
    ]
    query = Query(log_of(pairs), two())
    row_watermarks = {}
    for _ in range(500):
        query.report_store.losing = fault == "reports are lost" and numbers.random() < 0.5
        found = query.batch(rows)
        if found is None:
            break
        row_watermarks |= {row.id: row.row_watermark for row in found if row.id is not None}
        if fault == "processes end" and numbers.random() < 0.5:
            query.start_process()
    assert [row_watermarks[f"a-0:{n}"] for n in range(60)] == expected_row_watermarks(pairs)


def test_an_attribute_that_never_had_a_value_holds_the_watermark():
    query = Query(log_of([(10, None), (20, None), (30, 5), (40, None)]), two())
    assert [(row.id, row.row_watermark) for row in query.drain() if row.id] == [
        ("a-0:0", None),
        ("a-0:1", None),
        ("a-0:2", None),
        ("a-0:3", 5),
    ]


def run_of(how):
    task = SplitTask(split=SplitId("a-0"), known_at=0, start=0, end=9, watermark_us=MIN_WATERMARK, others_us=None)
    plan = TaskPlan(sequence=1, splits=(task,), combined_us=MIN_WATERMARK, ceiling_us=None)
    return SplitRun(plan, task, how, MIN_WATERMARK)


def read(pairs, how):
    run = run_of(how)
    chunks = log_of(pairs).read("a-0", 0, len(pairs))
    rows = [name for chunk in chunks for name in run.take(chunk).columns.column("id").to_pylist()]
    return [int(name.split(":")[1]) for name in rows], run.report()


def test_a_row_is_late_if_one_attribute_is_at_or_before_its_row_watermark():
    pairs = [(10, 20), (30, 10), (30, 21), (None, 20), (None, 21), (None, None)]
    rows, report = read(pairs, two(late_rows=LateRows.DROP))
    assert rows == [0, 2, 5]  # the second row's 10 is at the row watermark 10; after the third row the stamp is 21
    assert (report.late_rows, report.max_lateness_ms, report.rows) == (3, 1, 6)


def test_a_row_without_one_of_the_attributes_is_one_without_a_rowtime():
    pairs = [(10, 20), (None, 30), (40, None), (50, 60)]
    rows, report = read(pairs, two(null_rowtime=NullRowtime.DROP))
    assert (rows, report.null_rowtime_rows) == ([0, 3], 2)
    assert read(pairs, two())[1].null_rowtime_rows == 2
    with pytest.raises(RecordError, match="the time attribute 'b' is null"):
        read([(1, 1), (2, None)], two(null_rowtime=NullRowtime.FAIL))
    with pytest.raises(RecordError, match="the time attribute 'rowtime' is null"):
        read([(1, 1), (None, None)], two(null_rowtime=NullRowtime.FAIL))


def test_the_report_holds_the_watermark_of_each_attribute_and_their_minimum():
    _, report = read([(10, 20), (30, 15)], two())
    assert (report.watermark_ms, report.attribute_watermarks_ms) == (20, (30, 20))
    assert SplitReport.from_json(report.to_json()) == report
    _, alone = read([(10, 20)], strategy())
    assert alone.attribute_watermarks_ms == ()
    assert SplitReport.from_json(alone.to_json()) == alone


@pytest.mark.parametrize("parts", [None, 7, "12", [1, "2"], [True], [1.5]])
def test_a_report_with_other_parts_is_malformed(parts):
    _, report = read([(10, 20)], two())
    with pytest.raises(CoordinatorError, match="fields of the wrong type"):
        SplitReport.from_json({**report.to_json(), "parts_ms": parts})


def progress(name, watermark_ms, *parts):
    return SplitProgress(
        split=SplitId(name), start=3, end=5, known_at=3, watermark_ms=watermark_ms, attribute_watermarks_ms=parts
    )


# As it stands in a checkpoint: this text must load for ever.
GOLDEN = (
    '{"allowed": null, "ceiling": null, "combined": null, "from": [3, 0, 0], "lag": null, "limit": null, "moved": [0, 0, '
    '0], "parts": [[10, 0, null], [7, 23, 0]], "processing": false, "rows": [2, 0, 0], "run": 1, "schema": "", "seq": 1, '
    '"splits": [["a", [[0, 1]]]], "stamped": null, "status": {}, "strategy": "", "subscription": "", "turn": null, "v": '
    '2, "wm": [10, 0, null]}'
)


def test_the_offset_keeps_the_watermark_of_each_attribute():
    splits = (progress("a-0", 10, 10, 30), progress("a-1", None, None, 7))
    offset = Offset(sequence=1, run=1, splits=splits, identity=Identity())
    assert json.dumps(offset.to_json()) == GOLDEN
    assert Offset.from_json(json.loads(GOLDEN)) == offset


@pytest.mark.parametrize("parts", [7, "ab", [7], [[10, 0]], [[10, 0, 0], [1, "a", 0]]])
def test_damaged_parts_are_an_error(parts):
    with pytest.raises(OffsetError, match="the checkpoint's offset is damaged"):
        Offset.from_json({**json.loads(GOLDEN), "parts": parts})


def test_a_split_that_is_new_has_the_same_watermark_in_all_attributes():
    splits = (progress("a-0", 10, 10, 30), progress("a-1", None))
    found = Offset.from_json(Offset(sequence=1, run=1, splits=splits, identity=Identity()).to_json())
    assert [split.attribute_watermarks_ms for split in found.splits] == [(10, 30), (None, None)]


def test_the_offset_of_one_attribute_has_no_parts():
    offset = Offset(sequence=1, run=1, splits=(progress("a-0", 10),), identity=Identity())
    assert "parts" not in offset.to_json()
    assert Offset.from_json(offset.to_json()) == offset


# -- options --


@pytest.fixture
def scan(tmp_path):
    plain = {
        "path": str(tmp_path),
        "schema": "id BIGINT, ts TIMESTAMP, local TIMESTAMP_NTZ",
        "scan.session.time-zone": "UTC",
        "scan.session.ansi": "true",
    }

    def build(**options):
        return build_scan(ScriptedSource, {**plain, **{k: v for k, v in options.items() if v is not None}}, {})

    return build


def test_numbered_options_are_further_attributes(scan):
    built = scan(**TWO, **{"scan.columns": ""})
    (second,) = built.source.strategy.additional
    assert (second.name, second.rowtime.text, second.watermark.text) == ("d", "timestamp_millis(id)", "id - 1000")
    assert built.source.factory.columns.names == ["id", "ts"]
    assert built.identity.strategy == (
        "ts AS ts - INTERVAL '5' SECOND, on-periodic; d = timestamp_millis(id) AS id - 1000 in UTC, ansi true"
    )


def test_the_delay_is_the_largest_if_all_are_constant(scan):
    assert scan(**TWO).delay_ms is None
    assert scan(**{**TWO, "watermark.1.as": "timestamp_millis(id) - INTERVAL '9' SECOND"}).delay_ms == 9_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"watermark.1.for": None}, "option 'watermark.1.rowtime' needs 'watermark.1.for' beside it."),
        ({"watermark.1.as": None}, "option 'watermark.1.for' needs 'watermark.1.as' beside it."),
        (
            {"watermark.for": None, "watermark.as": None},
            "option 'watermark.1.for' needs the first attribute, 'watermark.for' and 'watermark.as', beside it.",
        ),
        (
            {"scan.watermark.alignment.group": "g", "scan.watermark.alignment.max-drift": "1 s"},
            "option 'watermark.1.for': a source with several time attributes cannot be in an alignment group: leave 'scan.watermark.alignment.group' out.",
        ),
        (
            {"watermark.processing-time": "after-backlog"},
            "option 'watermark.1.for': a source with several time attributes has no processing time: leave 'watermark.processing-time' out.",
        ),
        ({"watermark.1.for": "TS"}, "'TS' is named as a time attribute twice: one watermark is enough for it."),
        (
            {"watermark.1.rowtime": "local", "watermark.1.as": "local"},
            "time attributes of one source are all TIMESTAMP or all TIMESTAMP_NTZ: 'ts' and 'd' are not of one kind.",
        ),
    ],
)
def test_what_does_not_go_with_several_attributes_is_refused(scan, changes, message):
    with pytest.raises(OptionError) as caught:
        scan(**{**TWO, **changes})
    assert caught.value.message == message


def test_a_number_that_is_none_is_an_unknown_option(scan):
    with pytest.raises(OptionError, match="unknown option 'watermark.0.for'"):
        scan(**TWO, **{"watermark.0.for": "ts"})
