"""The temporal joins as Spark calls them, on PySpark's own tester: what is stored, what comes out, what is refused."""

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
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.temporal import temporal_processor
from datasources.spark.operators.temporal.temporal_processor import BUILD, PROBE, TemporalJoinProcessor
from datasources.spark.operators.temporal.temporal_state import JoinRule
from datasources.spark.operators.temporal.versions.version_cache import VersionCache
from datasources.spark.operators.temporal.versions.version_changes import DELETE, INSERT, KIND_COLUMN
from datasources.spark.operators.temporal.versions.versions import HASH_COLUMN, KEY_PREFIX, TIME_COLUMN
from datasources.spark.plans.plan_walk import SIDE_COLUMN

VALUES = pa.schema([("rate", pa.decimal128(10, 2))])
SETTINGS = StoredSettings.of({"buckets": 4}, operator="temporal joins")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch):
    monkeypatch.setattr(temporal_processor, "_cache", VersionCache())


def row_batch(side: int, watermark_us: int, table: pa.Table | None, null_rowtimes: int = 0) -> dict[str, Any]:
    blob = None if table is None else to_blob(table)
    return {
        "bucket": 0,
        SIDE_COLUMN: side,
        "task": 0,
        "number": 0,
        "stamp_us": watermark_us,
        "null_rowtimes": null_rowtimes,
        "rows": blob,
    }


def common(keys: list[str | None], times: list[int], watermark_us: int) -> dict[str, Any]:
    return {
        f"{KEY_PREFIX}0": pa.array(keys, pa.string()),
        HASH_COLUMN: [7] * len(keys),
        TIME_COLUMN: times,
        ROW_WATERMARK_COLUMN: [watermark_us] * len(keys),
    }


def probes(watermark_us: int, *rows: tuple[str | None, int], before_us: int = 0) -> dict[str, Any]:
    keys, times = [key for key, _ in rows], [time for _, time in rows]
    table = pa.table({"big": pa.array([None] * len(rows), pa.int64()), "at": times, **common(keys, times, before_us)})
    return row_batch(PROBE, watermark_us, table if rows else None)


def changes(watermark_us: int, *rows: tuple[int, str | None, int, str], null_rowtimes: int = 0) -> dict[str, Any]:
    from decimal import Decimal

    kinds, keys, times, rates = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    table = pa.table(
        {
            "rate": pa.array([Decimal(rate) for rate in rates], VALUES.field(0).type),
            KIND_COLUMN: pa.array(kinds, pa.int8()),
            **common(keys, times, 0),
        }
    )
    return row_batch(BUILD, watermark_us, table if rows else None, null_rowtimes)


def processing(settings: StoredSettings = SETTINGS, **rule: Any) -> TwsTester:
    join = JoinRule(**{"keeps_unmatched": True, "values": VALUES, **rule})
    return TwsTester(TemporalJoinProcessor(join, settings, operator="join"))


def run(
    tester: TwsTester, *row_batches: dict[str, Any], bucket: int = 0
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows that came out and the first result's counts."""
    out = tester.testInPandas(bucket, pd.DataFrame(list(row_batches)))
    rows = [row for blob in out["rows"] if blob is not None for row in from_blob(blob).to_pylist()]
    return rows, {name: int(out[name][0]) for name in out.columns if name != "rows"}


def test_rows_wait_for_both_watermarks_and_leave_with_the_one_before():
    tester = processing()
    rows, counts = run(
        tester,
        changes(50, (INSERT, "a", 100, "1.50"), (INSERT, None, 100, "9"), null_rowtimes=2),
        probes(300, ("a", 99), ("a", 150), (None, 160)),
    )
    assert rows == []
    assert counts == {
        "clock_us": 50,
        "late_probe_rows": 0,
        "late_build_rows": 0,
        "null_rowtime_rows": 2,
        "null_key_build_rows": 1,
    }
    rows, counts = run(tester, changes(160), probes(310, ("a", 200), ("a", 250), before_us=200))
    assert [(row["at"], row["rate"] and str(row["rate"])) for row in rows] == [(99, None), (150, "1.50"), (160, None)]
    assert rows[0] == {"big": None, "at": 99, "rate": None, WATERMARK_COLUMN: 50, HEARTBEAT_COLUMN: False}
    assert (counts["clock_us"], counts["late_probe_rows"]) == (160, 1)
    assert tester.peekValueState("brief", 0)[0] == SETTINGS.text


def test_what_was_stored_is_enough_for_a_process_that_knows_nothing(monkeypatch):
    tester = processing()
    run(tester, changes(50, (INSERT, "a", 100, "1.50")), probes(300, ("a", 99), ("a", 150)))
    monkeypatch.setattr(temporal_processor, "_cache", VersionCache())
    rows, _ = run(tester, changes(160), probes(310))
    assert [(row["at"], row["rate"] and str(row["rate"])) for row in rows] == [(99, None), (150, "1.50")]


def test_in_processing_time_changes_come_first_and_rows_keep_watermarks():
    tester = processing(processing_time=True)
    rows, counts = run(tester, probes(70, ("a", 0), before_us=60), changes(0, (INSERT, "a", 0, "1.50")))
    assert [(str(row["rate"]), row[WATERMARK_COLUMN]) for row in rows] == [("1.50", 60)]
    assert counts["clock_us"] == 70
    rows, _ = run(tester, probes(80, ("a", 0), before_us=70), changes(0, (DELETE, "a", 0, "1.50")))
    assert [row["rate"] for row in rows] == [None]


def test_buckets_know_nothing_of_each_other():
    tester = processing(processing_time=True, keeps_unmatched=False)
    run(tester, changes(0, (INSERT, "a", 0, "1.50")))
    assert run(tester, probes(0, ("a", 0)), bucket=1)[0] == []


def test_many_rows_come_out_in_cells_of_bounded_size_and_are_counted_once(monkeypatch):
    monkeypatch.setattr(bucket_batches, "MAX_BATCH_ROWS", 2)
    tester = processing()
    frame = pd.DataFrame([changes(900, null_rowtimes=1), probes(900, *(("a", time) for time in range(1, 6)))])
    out = tester.testInPandas(0, frame)
    assert [from_blob(blob).num_rows for blob in out["rows"]] == [2, 2, 1]
    assert out["null_rowtime_rows"].tolist() == [1, 0, 0]


def test_state_of_other_settings_is_refused():
    tester = processing()
    run(tester, changes(50, (INSERT, "a", 100, "1.50")))
    other = processing(StoredSettings.of({"buckets": 8}, operator="temporal joins"))
    other.updateValueState("brief", 0, tester.peekValueState("brief", 0))
    with pytest.raises(OffsetError, match="temporal joins were made with other settings: buckets was 4 and is 8"):
        run(other, changes(60))
