"""The session operator without Spark: the rule, one bucket's state, keys, row batches, settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import EnvironmentProblem, OffsetError, QueryError
from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets import state_settings
from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.partition_keys import equal_codes
from datasources.spark.operators.buckets.row_batches import BUCKET_COLUMN, ROW_WATERMARK_COLUMN, ROWTIME_COLUMN, Pack
from datasources.spark.operators.buckets.state_settings import configure_state
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.sessions.session_bucket import advance_sessions
from datasources.spark.operators.sessions.session_step import SessionRule
from tests.support.oracles.session_model import MemoryStore, Record, run_bucket, with_row_watermarks

GAP = 10
END = 10_000

# rows as (ts, row watermark) of one key -> the windows of the rows that come out, by place
CASES = [
    ("rows exactly one gap apart are in one session", [(100, None), (110, None)], {0: (100, 120), 1: (100, 120)}),
    ("one ms more parts them", [(100, None), (111, None)], {0: (100, 110), 1: (111, 121)}),
    (
        "a row joins two sessions",
        [(100, None), (118, None), (109, None)],
        {0: (100, 128), 1: (100, 128), 2: (100, 128)},
    ),
    ("end - 1 ms at the watermark is late", [(100, 109)], {}),
    ("end - 1 ms above the watermark is not", [(100, 108)], {0: (100, 110)}),
    ("an old row joins a session that is still open", [(100, 60), (91, 101)], {0: (91, 110), 1: (91, 110)}),
    ("but not one that has ended", [(100, 60), (91, 109)], {0: (100, 110)}),
    ("what begins after the end is a new session", [(100, 60), (105, 109)], {0: (100, 110), 1: (105, 115)}),
    ("no watermark makes nothing late", [(100, None), (1, None)], {0: (100, 110), 1: (1, 11)}),
    (
        "of two old rows the second is saved by an open one",
        [(88, 100), (95, 100), (87, 100)],
        {1: (87, 105), 2: (87, 105)},
    ),
    ("a row that was late joins nothing together", [(100, 60), (80, 101), (90, 101)], {0: (90, 110), 2: (90, 110)}),
]


@pytest.mark.parametrize("sizes", [[1], [2], [100]])
@pytest.mark.parametrize(("rows", "windows"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_row_is_in_the_session_of_its_key(rows, windows, sizes):
    records = [
        Record(id=position, key="a", ts=ts, watermark=watermark) for position, (ts, watermark) in enumerate(rows)
    ]
    fired, late = run_bucket(records, sizes, gap=GAP, final=END)
    assert {row[0]: row[2:] for row in fired} == windows
    assert late == len(rows) - len(windows)


def test_a_session_leaves_at_its_end_less_one_ms_and_its_rows_carry_the_watermark_before():
    store, rule = MemoryStore(), SessionRule(keys=("k",), gap_us=10_000, exact=True)
    advance_sessions(rule, store, [row_batch(5_000, rows(("a", 100_000)))])
    early = advance_sessions(rule, store, [row_batch(108_999)])
    due = advance_sessions(rule, store, [row_batch(109_000)])
    assert early.rows is None
    assert due.rows.to_pylist() == [{"k": "a", "window_start": 100_000, "window_end": 110_000, "window_time": 109_000}]
    assert (due.watermark_us, due.clock_us) == (108_999, 109_000)
    assert store.sessions().count == 0
    assert store.segments() == []


def test_a_heartbeat_that_ends_nothing_reads_neither_sessions_nor_rows():
    store, rule = MemoryStore(), SessionRule(keys=("k",), gap_us=10_000, exact=True)
    advance_sessions(rule, store, [row_batch(5_000, rows(("a", 100_000)))])
    read_before = (store.session_reads, store.segment_reads)
    emitted = advance_sessions(rule, store, [row_batch(6_000), row_batch(7_000)])
    assert (store.session_reads, store.segment_reads) == read_before
    assert (emitted.rows, emitted.watermark_us, emitted.clock_us) == (None, 5_000, 7_000)


def test_segments_are_only_appended_while_no_session_ends():
    store, rule = MemoryStore(), SessionRule(keys=("k",), gap_us=10_000, exact=True)
    for step in range(5):
        advance_sessions(rule, store, [row_batch(1_000, rows(("a", 100_000 + step), ("b", 100_000 + step)))])
    assert [segment.num_rows for segment in store.segments()] == [2] * 5
    assert store.header().segments == 5
    assert len(store.sessions().fragment) == 2
    store.segment_reads = 0
    ended = advance_sessions(rule, store, [row_batch(500_000, rows(("b", 600_000)))])
    assert ended.rows.num_rows == 10
    assert store.segment_reads == 1
    assert [segment.num_rows for segment in store.segments()] == [1]


def test_a_clock_never_goes_back_and_counts_add_up():
    store, rule = MemoryStore(), SessionRule(keys=("k",), gap_us=10_000, exact=True)
    advance_sessions(rule, store, [row_batch(50_000, null_rowtimes=2)])
    emitted = advance_sessions(rule, store, [row_batch(20_000, rows(("a", 1_000), watermark=20_000), null_rowtimes=1)])
    assert (emitted.clock_us, emitted.late_rows, emitted.null_rowtime_rows) == (50_000, 1, 1)
    assert (store.header().late_rows, store.header().null_rowtime_rows) == (1, 3)


def test_rows_of_several_tasks_are_processed_by_row_watermark():
    ahead = row_batch(110_000, rows(("a", 130_000), watermark=110_000), task=0)
    behind = row_batch(90_000, rows(("a", 99_000), watermark=90_000), task=1)
    store, rule = MemoryStore(), SessionRule(keys=("k",), gap_us=10_000, exact=True)
    advance_sessions(rule, store, [row_batch(80_000, rows(("a", 95_000), watermark=80_000))])
    emitted = advance_sessions(rule, store, [ahead, behind])
    assert [(row["window_start"], row["window_end"]) for row in emitted.rows.to_pylist()] == [(95_000, 109_000)] * 2
    assert emitted.late_rows == 0


@pytest.mark.parametrize(
    ("columns", "codes"),
    [
        ([["a", "b", "a", None, None]], [0, 1, 0, 2, 2]),
        ([[0.0, -0.0, float("nan"), -float("nan"), None]], [0, 0, 1, 1, 2]),
        ([[1, 1, 2, 2], ["x", "y", "x", "x"]], [0, 1, 2, 2]),
        ([], [0, 0, 0]),
    ],
)
def test_keys_are_equal_where_group_by_calls_them_equal(columns, codes):
    found = equal_codes([pa.chunked_array([column[:2], column[2:]]) for column in columns], len(codes))
    _, normal = np.unique(found, return_inverse=True)
    order = {code: position for position, code in enumerate(dict.fromkeys(normal.tolist()))}
    assert [order[code] for code in normal.tolist()] == codes


def test_many_key_columns_of_many_values_stay_apart():
    count = 3_000
    columns = [pa.chunked_array([np.roll(np.arange(count), shift)]) for shift in range(8)]
    assert len(np.unique(equal_codes(columns, count))) == count


def test_packing_keeps_order_and_sends_the_watermark_to_every_bucket():
    batch = pa.RecordBatch.from_pydict(
        {
            "v": [1, 2, 3, None, 5, None],
            HEARTBEAT_COLUMN: [False, False, False, False, False, True],
            ROWTIME_COLUMN: pa.array([10, 20, 30, None, 50, None], pa.int64()),
            ROW_WATERMARK_COLUMN: [0, 5, 5, 6, 7, 9],
            BUCKET_COLUMN: pa.array([1, 0, 1, 0, 1, None], pa.int32()),
        }
    )
    sent = [row for packed in Pack(buckets=3)(iter([batch])) for row in packed.to_pylist()]
    with_rows = {row["bucket"]: from_blob(row["rows"]).to_pydict() for row in sent if row["rows"] is not None}
    assert with_rows == {
        0: {"v": [2], ROWTIME_COLUMN: [20], ROW_WATERMARK_COLUMN: [5]},
        1: {"v": [1, 3, 5], ROWTIME_COLUMN: [10, 30, 50], ROW_WATERMARK_COLUMN: [0, 5, 7]},
    }
    beats = [row for row in sent if row["rows"] is None]
    assert [(row["bucket"], row["stamp_us"], row["null_rowtimes"]) for row in beats] == [
        (0, 9, 1),
        (1, 9, 0),
        (2, 9, 0),
    ]
    assert list(Pack(buckets=3)(iter([]))) == []


def test_a_slice_is_packed_without_what_lies_around_it():
    table = pa.table({"v": ["x" * 1_000] * 1_000})
    assert len(to_blob(table.slice(10, 1))) < 3_000


def test_other_settings_than_those_of_the_state_are_refused_with_both_values():
    stored = StoredSettings.of({"buckets": 16, "gap (ms)": 7_000})
    stored.require_same(StoredSettings.of({"gap (ms)": 7_000, "buckets": 16}).text)
    with pytest.raises(OffsetError, match=r"buckets was 16 and is 8; gap \(ms\) was 7000 and is 10000\. The layout"):
        StoredSettings.of({"buckets": 8, "gap (ms)": 10_000}).require_same(stored.text)


@dataclass
class Conf:
    values: dict[str, str] = field(default_factory=dict)

    def get(self, key: str, default: Any = None) -> Any:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.values[key] = value


@dataclass
class Session:
    conf: Conf


def test_the_state_store_becomes_rocksdb_unless_the_user_sets_another():
    session: Any = Session(Conf())
    configure_state(session)
    configure_state(session)
    assert session.conf.values[state_settings._PROVIDER] == state_settings._ROCKSDB_CLASS
    session.conf.set(state_settings._PROVIDER, "org.example.HDFSBackedStateStoreProvider")
    with pytest.raises(
        QueryError, match="is 'org.example.HDFSBackedStateStoreProvider', but Spark's transformWithState"
    ):
        configure_state(session)


def test_a_missing_package_is_named_with_how_to_get_it(monkeypatch):
    monkeypatch.setattr(state_settings, "_NEEDED", {"no_such.module_there": "protobuf"})
    session: Any = Session(Conf())
    with pytest.raises(EnvironmentProblem, match="needs the package 'protobuf': pip install 'protobuf'"):
        configure_state(session)


def test_the_reference_model_gives_rows_the_watermark_before_them():
    records, watermark = with_row_watermarks([("a", 100), ("b", 90), ("a", 120)], 5)
    assert [record.watermark for record in records] == [None, 95, 95]
    assert watermark == 115


def rows(*pairs: tuple[str, int], watermark: int = 0) -> pa.Table:
    return pa.table(
        {
            "k": [key for key, _ in pairs],
            ROWTIME_COLUMN: [time for _, time in pairs],
            ROW_WATERMARK_COLUMN: [watermark] * len(pairs),
        }
    )


def row_batch(watermark: int, table: pa.Table | None = None, *, task: int = 0, null_rowtimes: int = 0) -> RowBatch:
    return RowBatch(task=task, number=0, watermark_us=watermark, null_rowtimes=null_rowtimes, rows=table)
