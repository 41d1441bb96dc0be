"""What the operators write into Spark's state store: checkpoints hold these names, so no renaming may change them."""

from __future__ import annotations

import json

import pyarrow as pa

from datasources.spark.operators.buckets.bucket_segments import StateSegment
from datasources.spark.operators.buckets.row_batches import ROW_BATCH_SCHEMA
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.over.frames.aggregates import carried_schema
from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverFrame, OverRule
from datasources.spark.operators.over.key_generations import StoredKeys
from datasources.spark.operators.over.over_processor import OverProcessor
from datasources.spark.operators.over.over_state import OverStateHeader, SegmentTotals, WaitingSegment
from datasources.spark.operators.over.pending_rows import OWN_COLUMNS
from datasources.spark.operators.sessions.session_processor import SessionProcessor
from datasources.spark.operators.sessions.session_state import FRAGMENT_COLUMN, Sessions
from datasources.spark.operators.sessions.session_step import SessionRule
from datasources.spark.operators.temporal.temporal_processor import TemporalJoinProcessor
from datasources.spark.operators.temporal.temporal_state import JoinRule, JoinStateHeader
from datasources.spark.operators.temporal.versions.versions import (
    ARRIVAL_COLUMN,
    DELETED_COLUMN,
    HASH_COLUMN,
    KEY_PREFIX,
    TIME_COLUMN,
    Versions,
)

AVERAGE = OverAggregate(
    function="AVG", argument="v", name="mean", argument_type=pa.int64(), result_type=pa.float64(), ignores_nulls=False
)
SETTINGS = StoredSettings.of({"buckets": 4})


class _Handle:
    """Notes the state variables that a processor opens: their kinds, names and schemas."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, str, tuple[str, ...]]] = []

    def getValueState(self, name, schema):  # noqa: N802 - Spark's name
        self.opened.append(("value", name, tuple(schema.names)))

    def getListState(self, name, schema):  # noqa: N802 - Spark's name
        self.opened.append(("list", name, tuple(schema.names)))

    def getMapState(self, name, key, value):  # noqa: N802 - Spark's name
        self.opened.append(("map", name, (*key.names, *value.names)))


def _opened_by(processor):
    handle = _Handle()
    processor.init(handle)
    return sorted(handle.opened)


def test_state_header_of_over_windows_is_this_text():
    header = OverStateHeader(
        clock_us=1,
        forgotten_us=2,
        next_row=3,
        next_generation=4,
        live_keys=5,
        keys=SegmentTotals(rows=6, segments=7),
        retained=SegmentTotals(rows=8, segments=9),
        waiting=(WaitingSegment(number=10, rows=11, next_due_us=12),),
        late_rows=13,
        null_rowtime_rows=14,
    )
    text = (
        '{"clock_us": 1, "forgotten_us": 2, "keys": {"parts": 7, "rows": 6}, "late_rows": 13, "live_keys": 5, '
        '"next_generation": 4, "next_row": 3, "null_rowtime_rows": 14, "retained": {"parts": 9, "rows": 8}, '
        '"waiting": [{"next_due_us": 12, "number": 10, "rows": 11}]}'
    )
    assert header.to_json() == text
    assert OverStateHeader.from_json(text) == header


def test_state_header_of_temporal_joins_is_this_text():
    header = JoinStateHeader(
        probe_clock_us=1,
        build_clock_us=2,
        versions=(StateSegment(number=3, token="a", first=4, rows=5),),
        pending=(StateSegment(number=6, token="b", first=7, rows=8, low_us=9),),
        next_segment=10,
        next_arrival=11,
        late_probe_rows=12,
        late_build_rows=13,
        null_rowtime_rows=14,
        null_key_build_rows=15,
    )
    text = (
        '{"probe_clock_us":1,"build_clock_us":2,"versions":[{"number":3,"token":"a","first":4,"rows":5,"low_us":0}],'
        '"pending":[{"number":6,"token":"b","first":7,"rows":8,"low_us":9}],"next_part":10,"next_arrival":11,'
        '"late_probe_rows":12,"late_build_rows":13,"null_rowtime_rows":14,"null_key_build_rows":15}'
    )
    assert header.to_json() == text
    assert JoinStateHeader.from_json(text) == header


def test_state_variables_keep_their_names_and_columns():
    rule = OverRule(keys=("k",), frame=OverFrame.rows(1), aggregates=(AVERAGE,))
    assert _opened_by(OverProcessor(rule, SETTINGS)) == [
        ("list", "keys", ("part",)),
        ("list", "retained", ("part",)),
        ("map", "waiting", ("number", "part")),
        ("value", "brief", ("settings", "brief")),
    ]
    assert _opened_by(SessionProcessor(SessionRule(keys=("k",), gap_us=1_000, exact=True), SETTINGS)) == [
        ("list", "rows", ("part",)),
        (
            "value",
            "brief",
            (
                "settings",
                "clock_us",
                "next_over_us",
                "next_fragment",
                "stored_rows",
                "parts",
                "late_rows",
                "null_rowtime_rows",
            ),
        ),
        ("value", "sessions", ("sessions", "fragments")),
    ]
    join = JoinRule(keeps_unmatched=True, values=pa.schema([("v", pa.int64())]))
    assert _opened_by(TemporalJoinProcessor(join, SETTINGS, operator="join")) == [
        ("map", "pending", ("number", "part")),
        ("map", "versions", ("number", "part")),
        ("value", "brief", ("settings", "brief")),
    ]


def test_stored_tables_and_row_batches_keep_their_column_names():
    rule = OverRule(keys=("k",), frame=OverFrame.rows(), aggregates=(AVERAGE,))
    keys = StoredKeys.none(rule, [pa.string()]).table()
    assert keys.column_names == ["key_0", "generation", "last", "newest", "timers", "part_0_0", "part_0_1"]
    assert carried_schema([AVERAGE]).names == ["part_0_0", "part_0_1"]
    assert OWN_COLUMNS == ("__tidemark_generation", "__tidemark_due", "__tidemark_row", "__tidemark_rowtime")
    sessions = Sessions.none([pa.string()])
    assert sessions.table.column_names == ["key_0", "first", "last", "rows"]
    assert sessions.fragments.column_names == ["fragment", "owner"]
    assert FRAGMENT_COLUMN == "__tidemark_fragment"
    names = (KEY_PREFIX + "0", HASH_COLUMN, TIME_COLUMN, ARRIVAL_COLUMN, DELETED_COLUMN)
    assert names == (
        "__tidemark_key_0",
        "__tidemark_hash",
        "__tidemark_rowtime",
        "__tidemark_arrival",
        "__tidemark_deleted",
    )
    version = pa.table({name: pa.array([1], pa.int64()) for name in names[:-1]} | {DELETED_COLUMN: pa.array([False])})
    assert Versions.of(version).table().column_names == list(names)
    assert ROW_BATCH_SCHEMA == "bucket INT, task INT, number INT, stamp_us BIGINT, null_rowtimes BIGINT, rows BINARY"


def test_stored_settings_are_this_text():
    assert json.loads(SETTINGS.text) == {"buckets": 4, "state version": 1}
    assert SETTINGS.text == '{"buckets": 4, "state version": 1}'
