"""What a bucket takes and gives, as Spark's transformWithState hands it over: packets in, packed results out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.row_batches import ROWS_OF_A_PACKET, from_blob, to_blob

__all__ = ["Packet", "packets_of", "result_frames", "result_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """What a task sent to a bucket.

    Attributes:
        task: which task.
        number: its place among the task's packets.
        stamp_us: the largest stamp among the task's rows so far, µs; epoch 0 stands for none.
        null_rowtimes: rows that were left out because they have no rowtime.
        rows: in the order of reading; None for a heartbeat.
    """

    task: int
    number: int
    stamp_us: int
    null_rowtimes: int
    rows: pa.Table | None


def packets_of(frames: Iterable[Any]) -> Iterator[Packet]:
    """Return the packets that Spark hands over as pandas DataFrames."""
    for frame in frames:
        columns = (frame[name] for name in ("task", "number", "stamp_us", "null_rowtimes", "rows"))
        for task, number, stamp_us, null_rowtimes, blob in zip(*columns, strict=True):
            yield Packet(
                task=int(task),
                number=int(number),
                stamp_us=int(stamp_us),
                null_rowtimes=int(null_rowtimes),
                rows=None if blob is None else from_blob(blob),
            )


def result_schema(counts: Iterable[str]) -> str:
    """Return the schema of results with these counts, which `result_frames` gives and `Unpack` takes."""
    return f"clock_us BIGINT, {', '.join(f'{name} BIGINT' for name in counts)}, rows BINARY"


def result_frames(clock_us: int, counts: Mapping[str, int], rows: pa.Table | None) -> Iterator[Any]:
    """Yield the result of one batch for one bucket, as pandas DataFrames of one row.

    Args:
        clock_us: the watermark after the batch, µs.
        counts: what is counted of the batch; it stands in the first of the DataFrames.
        rows: the rows that leave, the stamp of each last; None for none.
    """
    for number, blob in enumerate(_cells(rows)):
        result = {
            "clock_us": [clock_us],
            **{name: [0 if number else count] for name, count in counts.items()},
            "rows": pa.array([blob], type=pa.binary()),
        }
        yield pa.table(result).to_pandas()


def _cells(rows: pa.Table | None) -> Iterator[bytes | None]:
    """Yield the rows in cells of bounded size; one empty cell if there are none."""
    if rows is None:
        yield None
        return
    marked = rows.append_column(HEARTBEAT_COLUMN, pa.repeat(pa.scalar(False), rows.num_rows))
    for begin in range(0, rows.num_rows, ROWS_OF_A_PACKET):
        yield to_blob(marked.slice(begin, ROWS_OF_A_PACKET))
