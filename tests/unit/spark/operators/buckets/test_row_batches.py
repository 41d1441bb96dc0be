"""Row batches of cells that a reader packed: numbered in their order, rows without rowtime counted where they are unpacked."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from datasources.source.reading.row_blobs import to_blob
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import row_batches_of
from datasources.spark.operators.buckets.bucket_rows import rows_in_order
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN, FromReader

TIMESTAMP = pa.timestamp("us", tz="Europe/Berlin")


def cell(*values: int, times: tuple[int | None, ...] | None = None) -> bytes:
    return to_blob(
        pa.table(
            {
                "v": values,
                ROWTIME_COLUMN: pa.array(times or values, pa.int64()),
                ROW_WATERMARK_COLUMN: pa.array([0] * len(values), pa.int64()),
            }
        )
    )


def batch(*rows: tuple[int | None, bytes | None, int]) -> pa.RecordBatch:
    buckets, blobs, watermarks = zip(*rows, strict=True)
    return pa.RecordBatch.from_pydict(
        {
            "bucket": pa.array(buckets, pa.int32()),
            "input": pa.array([None if blob is None else 0 for blob in blobs], pa.int32()),
            "rows": pa.array(blobs, pa.binary()),
            WATERMARK_COLUMN: pa.array(watermarks, TIMESTAMP),
            HEARTBEAT_COLUMN: [blob is None for blob in blobs],
        }
    )


def sent(*batches: pa.RecordBatch) -> pd.DataFrame:
    return pa.Table.from_batches(list(FromReader(buckets=2)(iter(batches)))).to_pandas()


def test_cells_of_a_bucket_keep_their_order_also_when_spark_puts_several_together():
    frame = sent(batch((1, cell(1, 2), 5), (0, cell(3), 5), (1, cell(4), 7)), batch((1, cell(5), 8), (None, None, 9)))
    shuffled = frame[frame["bucket"] == 1].iloc[::-1]
    found = rows_in_order(list(row_batches_of([shuffled])))
    assert found is not None
    assert found.column("v").to_pylist() == [1, 2, 4, 5]


def test_every_bucket_gets_the_watermark():
    frame = sent(batch((1, cell(1), 5), (None, None, 9)))
    beats = frame[frame["rows"].isna()]
    assert sorted(zip(beats["bucket"], beats["stamp_us"], strict=True)) == [(0, 9), (1, 9)]
    assert list(FromReader(buckets=2)(iter([]))) == []


def test_rows_without_rowtime_are_counted_and_left_out():
    frame = sent(batch((0, cell(1, 2, 3, times=(1, None, None)), 5), (0, cell(4, times=(None,)), 5)))
    found = list(row_batches_of([frame]))
    assert sum(each.null_rowtimes for each in found) == 3
    assert [each.rows.column("v").to_pylist() for each in found if each.rows is not None] == [[1]]
