"""The session operator as Spark calls it, on PySpark's own tester: what is stored, what comes out, what is refused."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.streaming.tws_tester import TwsTester

from datasources.errors import OffsetError
from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.operators.buckets import bucket_batches
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN, Unpack
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.sessions.session_processor import SessionProcessor
from datasources.spark.operators.sessions.session_step import SessionRule

RULE = SessionRule(keys=("k",), gap_us=10_000, exact=True)
SETTINGS = StoredSettings.of({"buckets": 4})


def row_batches(watermark_us: int, *times: int, null_rowtimes: int = 0) -> pd.DataFrame:
    table = pa.table(
        {
            "k": ["a"] * len(times),
            "big": pa.array([None] * len(times), pa.int64()),
            ROWTIME_COLUMN: times,
            ROW_WATERMARK_COLUMN: [1] * len(times),
        }
    )
    blob = to_blob(table) if times else None
    return pd.DataFrame(
        {
            "bucket": [0],
            "task": [0],
            "number": [0],
            "stamp_us": [watermark_us],
            "null_rowtimes": [null_rowtimes],
            "rows": [blob],
        }
    )


def processing(settings: StoredSettings = SETTINGS) -> TwsTester:
    return TwsTester(SessionProcessor(RULE, settings))


def test_rows_wait_in_the_state_and_come_out_with_their_window_and_the_watermark_before():
    run = processing()
    first = run.testInPandas(0, row_batches(5_000, 100_000, 105_000, null_rowtimes=3))
    assert first.to_dict("records") == [{"clock_us": 5_000, "late_rows": 0, "null_rowtime_rows": 3, "rows": None}]
    second = run.testInPandas(0, row_batches(200_000))
    assert (
        from_blob(second["rows"][0]).to_pylist()
        == [
            {
                "k": "a",
                "big": None,
                "window_start": 100_000,
                "window_end": 115_000,
                "window_time": 114_000,
                WATERMARK_COLUMN: 5_000,
                HEARTBEAT_COLUMN: False,
            }
        ]
        * 2
    )
    assert run.peekValueState("brief", 0)[0] == SETTINGS.text
    assert run.peekListState("rows", 0) == []


def test_buckets_know_nothing_of_each_other():
    run = processing()
    run.testInPandas(0, row_batches(5_000, 100_000))
    other = run.testInPandas(1, row_batches(200_000))
    assert other["rows"][0] is None


def test_many_rows_come_out_in_cells_of_bounded_size_and_are_counted_once(monkeypatch):
    monkeypatch.setattr(bucket_batches, "MAX_BATCH_ROWS", 2)
    run = processing()
    out = run.testInPandas(0, row_batches(900_000, 1, 2, 3, 4, 5, null_rowtimes=1))
    assert [from_blob(blob).num_rows for blob in out["rows"]] == [2, 2, 1]
    assert out["null_rowtime_rows"].tolist() == [1, 0, 0]


def test_state_of_other_settings_is_refused():
    run = processing()
    run.testInPandas(0, row_batches(5_000, 100_000))
    stored = run.peekValueState("brief", 0)
    changed = processing(StoredSettings.of({"buckets": 8}))
    changed.updateValueState("brief", 0, stored)
    with pytest.raises(OffsetError, match="buckets was 4 and is 8"):
        changed.testInPandas(0, row_batches(6_000))


def test_unpacking_gives_the_types_of_the_stream_and_a_heartbeat_with_the_clock():
    instant = pa.timestamp("us", tz="UTC")
    schema = pa.schema(
        [("v", pa.int64()), ("window_end", instant), (WATERMARK_COLUMN, instant), (HEARTBEAT_COLUMN, pa.bool_())]
    )
    blob = to_blob(
        pa.table(
            {"v": pa.array([None], pa.int64()), "window_end": [7], WATERMARK_COLUMN: [5], HEARTBEAT_COLUMN: [False]}
        )
    )
    results = pa.RecordBatch.from_pydict({"clock_us": [6, 9], "rows": pa.array([blob, None], pa.binary())})
    rows: list[dict[str, Any]] = []
    for batch in Unpack(schema=schema)(iter([results])):
        assert batch.schema == schema
        plain = pa.table(batch).set_column(2, WATERMARK_COLUMN, batch.column(2).cast(pa.int64()))
        rows += plain.set_column(1, "window_end", batch.column(1).cast(pa.int64())).to_pylist()
    assert rows == [
        {"v": None, "window_end": 7, WATERMARK_COLUMN: 5, HEARTBEAT_COLUMN: False},
        {"v": None, "window_end": None, WATERMARK_COLUMN: 6, HEARTBEAT_COLUMN: True},
        {"v": None, "window_end": None, WATERMARK_COLUMN: 9, HEARTBEAT_COLUMN: True},
    ]
