"""What a task delivers of a scan that a planner pushed columns, a filter, metadata or a computed rowtime into."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from datasources.errors import RecordError
from datasources.scripted.source import ScriptedSource
from datasources.source.api.scan_range import ScanRange
from datasources.source.api.split import SplitId
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.spark.scan.scan import build_scan
from datasources.spark.scan.schema import arrow_output_schema, spark_schema
from watermark import MIN_WATERMARK

ON_EVENT = {
    "watermark.for": "ts",
    "watermark.as": "ts - INTERVAL '1' SECOND",
    "scan.watermark.emit.strategy": "on-event",
}
SECOND = 1_000_000


@dataclass
class Read:
    """What came out of one task."""

    batches: list[pa.RecordBatch]
    reports: list = field(default_factory=list)

    @property
    def rows(self):
        """Delivered rows without heartbeats; row watermarks in seconds, 0 for none."""
        table = pa.Table.from_batches(self.batches)
        rows = table.to_pylist()
        data = [row for row in rows if not row.get("_heartbeat")]
        for row in data:
            row.pop("_heartbeat", None)
            if "_watermark" in row:
                row["_watermark"] = int(row["_watermark"].timestamp())
        return [tuple(row.values()) for row in data]

    @property
    def heartbeats(self):
        table = pa.Table.from_batches(self.batches)
        return [int(row["_watermark"].timestamp()) for row in table.to_pylist() if row["_heartbeat"]]


@pytest.fixture
def read(tmp_path):
    """Read one script of (second, k, n) or texts with these options."""

    def run(rows, *, schema="ts TIMESTAMP, k STRING, n INT", is_processing=False, floor=MIN_WATERMARK, **options):
        lines = [row if isinstance(row, str) else json.dumps(_record(*row)) for row in rows]
        (tmp_path / "s.jsonl").write_text("".join(line + "\n" for line in lines))
        plain = {"path": str(tmp_path), "schema": schema, "scan.session.time-zone": "UTC", "scan.session.ansi": "true"}
        scan = build_scan(ScriptedSource, {**plain, **options}, {})
        task = SplitTask(
            split=SplitId("s"), known_at=0, start=0, end=len(lines), watermark_us=MIN_WATERMARK, others_us=None
        )
        plan = TaskPlan(sequence=1, splits=(task,), combined_us=floor, ceiling_us=None, is_processing=is_processing)
        reader = TaskReader(
            factory=scan.source.reader_factory(),
            strategy=scan.source.strategy,
            output=OutputSchema(arrow_output_schema(spark_schema(scan))),
            condition=scan.condition,
        )
        reports = []
        return Read(list(reader.run(plan, reports.extend)), reports)

    return run


def _record(second, k, n=0):
    return {"ts": None if second is None else f"1970-01-01T00:00:{second:02d}Z", "k": k, "n": n}


def test_the_watermark_sees_the_rows_that_the_filter_leaves_out(read):
    found = read(
        [(1, "a"), (10, "b"), (5, "a"), (20, "a")], **ON_EVENT, **{"scan.filter": "k = 'a'", "scan.columns": "n,k"}
    )
    assert found.rows == [("a", 0, 0), ("a", 0, 9), ("a", 0, 9)]
    assert found.heartbeats == [19]


def test_positions_and_counts_do_not_know_of_the_filter(read):
    rows = [(1, "a"), (10, "b"), (5, "b"), (20, "a")]
    with_filter = read(rows, **ON_EVENT, **{"scan.filter": "k = 'c'"})
    assert with_filter.rows == []
    assert with_filter.heartbeats == [19]
    assert with_filter.reports == read(rows, **ON_EVENT).reports
    assert (with_filter.reports[0].rows, with_filter.reports[0].late_rows) == (4, 1)


def test_a_row_is_delivered_only_where_the_condition_is_true(read):
    rows = [(1, "a", 1), (2, "a", None), (3, "a", 3)]
    assert read(rows, **ON_EVENT, **{"scan.filter": "n > 1", "scan.columns": "n"}).rows == [(3, 1)]
    assert read(rows, **{"scan.filter": "n > 1", "scan.columns": "n"}).rows == [(3,)]
    assert read(rows, **{"scan.filter": "n > 1 OR k = 'a'", "scan.columns": "n"}).rows == [(1,), (None,), (3,)]


def test_of_a_struct_only_the_named_fields_are_delivered(read):
    lines = ['{"s":{"x":1,"k":"a","at":1000}}', '{"s":null}', "{}", '{"s":{"x":3,"k":"b"}}', '{"s":{"x":"bad"}}']
    options = {"schema": "n INT, s STRUCT<x: INT, k: STRING, at: BIGINT>", "format.on-error": "skip"}
    found = read(lines, **options, **{"scan.columns": "s.k, n"})
    assert found.rows == [(None, {"k": "a"}), (None, None), (None, None), (None, {"k": "b"})]
    found = read(lines, **options, **{"scan.columns": "s.k", "scan.filter": "s.x > 1"})
    assert found.rows == [({"k": "b"},)]


def test_a_filter_may_read_columns_that_are_not_delivered(read):
    rows = [(1, "a", 1), (2, "b", 2)]
    assert read(rows, **{"scan.filter": "k = 'b'", "scan.columns": "n"}).rows == [(2,)]


@pytest.mark.parametrize("strategy", [ON_EVENT, {}])
def test_a_row_that_the_filter_has_no_value_for_is_named_with_its_place(read, strategy):
    with pytest.raises(RecordError) as caught:
        read([(1, "a", 1), (2, "b", 0)], **strategy, **{"scan.filter": "10 / n > 1"})
    assert caught.value.message.startswith("script 's', line 2: scan.filter: `10 / n > 1` has no value for row 1")
    assert "division by zero" in caught.value.message


def test_the_place_is_right_where_rows_were_left_out_before_the_filter(read):
    rows = [(None, "a", 1), (10, "b", 1), (3, "late", 1), (12, "c", 0)]
    drops = {"watermark.null-rowtime": "drop", "watermark.late-rows": "drop"}
    with pytest.raises(RecordError) as caught:
        read(rows, **ON_EVENT, **drops, **{"scan.filter": "10 / n > 1"})
    assert caught.value.message.startswith("script 's', line 4: ")


def test_late_rows_that_are_dropped_are_not_asked(read):
    rows = [(10, "b", 1), (3, "late", 0)]
    found = read(rows, **ON_EVENT, **{"watermark.late-rows": "drop", "scan.filter": "10 / n > 1", "scan.columns": "k"})
    assert found.rows == [("b", 0)]


def test_what_is_not_delivered_is_decoded_for_the_watermark_only(read):
    found = read([(1, "a"), (10, "b")], **ON_EVENT, **{"scan.columns": "k"})
    assert found.rows == [("a", 0), ("b", 0)]
    assert found.heartbeats == [9]
    assert found.batches[0].schema.names == ["k", "_watermark", "_heartbeat"]


def test_without_any_delivered_column_rows_are_still_rows(read):
    found = read([(1, "a"), (10, "b")], **ON_EVENT, **{"scan.columns": ""})
    assert found.rows == [(0,), (0,)]
    filtered = read([(1, "a"), (10, "b")], **ON_EVENT, **{"scan.columns": "", "scan.filter": "k = 'b'"})
    assert len(filtered.rows) == 1


def test_metadata_columns_give_positions_beside_records_that_are_skipped(read):
    rows = [(1, "a"), "no json", (3, "b"), "[]", (5, "c")]
    options = {"scan.metadata": "at FROM position, split", "scan.columns": "at, k, split", "format.on-error": "skip"}
    assert read(rows, **options).rows == [("a", 0, "s"), ("b", 2, "s"), ("c", 4, "s")]
    assert read(rows, **options, **{"scan.filter": "at > 0 AND split = 's'"}).rows == [("b", 2, "s"), ("c", 4, "s")]


def test_event_time_may_come_from_metadata(read):
    options = {
        **ON_EVENT,
        "scan.metadata": "at FROM position",
        "watermark.for": "d",
        "watermark.rowtime": "timestamp_seconds(at)",
        "watermark.as": "at * 1000",
        "scan.columns": "k",
    }
    found = read([(1, "a"), (1, "b"), (1, "c")], **options)
    assert found.rows == [("a", 0), ("b", 0), ("c", 1)]
    assert found.heartbeats == [2]


def test_a_computed_rowtime_decides_which_rows_are_late(read):
    computed = {**ON_EVENT, "watermark.for": "d", "watermark.rowtime": "ts + INTERVAL '3' SECOND"}
    rows = [(10, "first"), (6, "late"), (7, "in time"), (20, "last")]
    found = read(rows, **computed, **{"watermark.late-rows": "drop", "scan.columns": "k"})
    assert [k for k, _ in found.rows] == ["first", "in time", "last"]
    plain = read(rows, **ON_EVENT, **{"watermark.late-rows": "drop", "scan.columns": "k"})
    assert [k for k, _ in plain.rows] == ["first", "last"]


def test_the_option_decides_on_a_null_computed_rowtime(read):
    computed = {**ON_EVENT, "watermark.for": "d", "watermark.rowtime": "CASE WHEN n = 0 THEN ts END"}
    rows = [(1, "a", 0), (2, "b", 1)]
    assert len(read(rows, **computed).rows) == 2
    assert read(rows, **computed).reports[0].null_rowtime_rows == 1
    assert len(read(rows, **computed, **{"watermark.null-rowtime": "drop"}).rows) == 1
    with pytest.raises(RecordError, match="script 's', line 2: the time attribute 'd' is null"):
        read(rows, **computed, **{"watermark.null-rowtime": "fail"})


def test_with_the_clock_alone_every_row_carries_the_floor(read):
    clock = {"watermark.for": "pt", "watermark.processing-time": "always", "scan.columns": "k"}
    found = read([(1, "a"), (None, "b")], is_processing=True, floor=77 * SECOND, **clock)
    assert found.rows == [("a", 77), ("b", 77)]
    assert found.heartbeats == [77]
    assert (found.reports[0].null_rowtime_rows, found.reports[0].late_rows, found.reports[0].watermark_ms) == (
        0,
        0,
        None,
    )


def test_a_lost_report_is_made_up_for_with_what_the_watermark_needs_only(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"ts": "1970-01-01T00:00:09Z", "k": "a"}\n')
    options = {"path": str(tmp_path), "schema": "ts TIMESTAMP, k STRING", **ON_EVENT, "scan.columns": "k"}
    source = build_scan(ScriptedSource, options, {}).source
    wanted = ScanRange(split=SplitId("s"), start=0, end=1, watermark_us=MIN_WATERMARK, ceiling_us=None)
    assert scan_watermark(source.reader_factory(), source.strategy, wanted).watermark_us == 8 * SECOND
