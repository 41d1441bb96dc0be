"""The OVER operator as Spark calls it, on PySpark's own tester: what is stored, what comes out, what is refused."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.streaming.tws_tester import TwsTester

from datasources.errors import OffsetError
from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.operators.buckets import bucket_batches
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverFrame, OverRule
from datasources.spark.operators.over.over_processor import OverProcessor

COUNT = OverAggregate(function="COUNT", argument=None, name="n", argument_type=pa.null(), result_type=pa.int64())
RULE = OverRule(keys=("k",), frame=OverFrame.rows(1), aggregates=(COUNT,))
SETTINGS = StoredSettings.of({"buckets": 4}, operator="OVER windows")


def row_batches(watermark_us: int, *times: int, null_rowtimes: int = 0) -> pd.DataFrame:
    table = pa.table(
        {
            "k": ["a"] * len(times),
            "big": pa.array([None] * len(times), pa.int64()),
            ROWTIME_COLUMN: times,
            ROW_WATERMARK_COLUMN: [1] * len(times),
        }
    )
    return pd.DataFrame(
        {
            "bucket": [0],
            "task": [0],
            "number": [0],
            "stamp_us": [watermark_us],
            "null_rowtimes": [null_rowtimes],
            "rows": [to_blob(table) if times else None],
        }
    )


def processing(settings: StoredSettings = SETTINGS) -> TwsTester:
    return TwsTester(OverProcessor(RULE, settings))


def test_rows_wait_in_the_state_and_come_out_with_their_aggregates_and_the_watermark_before():
    run = processing()
    first = run.testInPandas(0, row_batches(5_000, 100_000, 105_000, null_rowtimes=3))
    assert first.to_dict("records") == [
        {"clock_us": 5_000, "late_rows": 0, "null_rowtime_rows": 3, "state_keys": 1, "rows": None}
    ]
    second = run.testInPandas(0, row_batches(200_000))
    row = {"k": "a", "big": None, WATERMARK_COLUMN: 5_000, HEARTBEAT_COLUMN: False}
    assert from_blob(second["rows"][0]).to_pylist() == [{**row, "n": 1}, {**row, "n": 2}]
    third = run.testInPandas(0, row_batches(300_000, 250_000))
    assert from_blob(third["rows"][0]).to_pylist() == [{**row, "n": 2, WATERMARK_COLUMN: 200_000}]
    assert run.peekValueState("brief", 0)[0] == SETTINGS.text
    assert run.peekMapState("waiting", 0) == {}
    assert len(run.peekListState("keys", 0)) == 3


def test_buckets_know_nothing_of_each_other():
    run = processing()
    run.testInPandas(0, row_batches(5_000, 100_000))
    assert run.testInPandas(1, row_batches(200_000))["rows"][0] is None


def test_many_rows_come_out_in_cells_of_bounded_size_and_are_counted_once(monkeypatch):
    monkeypatch.setattr(bucket_batches, "MAX_BATCH_ROWS", 2)
    out = processing().testInPandas(0, row_batches(900_000, 1, 2, 3, 4, 5, null_rowtimes=1))
    assert [from_blob(blob).num_rows for blob in out["rows"]] == [2, 2, 1]
    assert out["null_rowtime_rows"].tolist() == [1, 0, 0]
    assert out["state_keys"].tolist() == [1, 0, 0]


def test_state_of_other_settings_is_refused():
    run = processing()
    run.testInPandas(0, row_batches(5_000, 100_000))
    changed = processing(StoredSettings.of({"buckets": 8}, operator="OVER windows"))
    changed.updateValueState("brief", 0, run.peekValueState("brief", 0))
    with pytest.raises(OffsetError, match="checkpoint's OVER windows were made with other settings: buckets was 4 and"):
        changed.testInPandas(0, row_batches(6_000))
