"""Input and output of one bucket in Spark's transformWithState: row batches in, packed results out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasources.source.reading.row_blobs import MAX_BATCH_ROWS, rows_of, to_blob
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.row_batches import ROWTIME_COLUMN


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Rows that one task sent to one bucket.

    Attributes:
        task: partition id of the task.
        number: sequence number among the task's row batches.
        watermark_us: the largest row watermark among the task's rows so far, µs; epoch 0 means none.
        null_rowtimes: rows dropped because they have no rowtime.
        rows: in read order; None for a heartbeat.
    """

    task: int
    number: int
    watermark_us: int
    null_rowtimes: int
    rows: pa.Table | None


def row_batches_of(frames: Iterable[Any]) -> Iterator[RowBatch]:
    """Return the row batches that Spark passes as pandas DataFrames."""
    for frame in frames:
        columns = (frame[name] for name in ("task", "number", "stamp_us", "null_rowtimes", "rows"))
        for task, number, watermark_us, null_rowtimes, blob in zip(*columns, strict=True):
            rows, without = (None, 0) if blob is None else _with_rowtime(rows_of(blob))
            yield RowBatch(
                task=int(task),
                number=int(number),
                watermark_us=int(watermark_us),
                null_rowtimes=int(null_rowtimes) + without,
                rows=rows,
            )


def _with_rowtime(rows: pa.Table) -> tuple[pa.Table | None, int]:
    """Return the rows that have a rowtime, None if there are none, and the number of the others."""
    if ROWTIME_COLUMN not in rows.column_names or not rows.column(ROWTIME_COLUMN).null_count:
        return rows, 0
    timed = rows.filter(rows.column(ROWTIME_COLUMN).is_valid())
    return timed if timed.num_rows else None, rows.num_rows - timed.num_rows


def result_schema(counts: Iterable[str]) -> str:
    """Return the schema of `result_frames` with these counts, the input of `Unpack`."""
    return f"clock_us BIGINT, {', '.join(f'{name} BIGINT' for name in counts)}, rows BINARY"


def result_frames(clock_us: int, counts: Mapping[str, int], rows: pa.Table | None) -> Iterator[Any]:
    """Yield the result of one micro-batch for one bucket, as pandas DataFrames of one row.

    Units: ``clock_us``, the watermark after the batch, in µs. The first DataFrame carries the counts; the last column
    of the rows is the row watermark.
    """
    for number, blob in enumerate(_cells(rows)):
        result = {
            "clock_us": [clock_us],
            **{name: [0 if number else count] for name, count in counts.items()},
            "rows": pa.array([blob], type=pa.binary()),
        }
        yield pa.table(result).to_pandas()


def _cells(rows: pa.Table | None) -> Iterator[bytes | None]:
    """Yield the rows in cells of bounded size, or one empty cell."""
    if rows is None:
        yield None
        return
    marked = rows.append_column(HEARTBEAT_COLUMN, pa.repeat(pa.scalar(False), rows.num_rows))
    for begin in range(0, rows.num_rows, MAX_BATCH_ROWS):
        yield to_blob(marked.slice(begin, MAX_BATCH_ROWS))
