"""OVER without Spark: rows a second that one core takes through one of 16 buckets of 100,000 keys.

    python -m benchmarks.operators.over_engine     prints one line of JSON

Rows of CPU time, so that what else the machine does counts less: eight batches of 62,500 rows of 6,250 keys, one second
of event time each, SUM and COUNT; `late` has 2 % of its rows up to five seconds behind the watermark. The state goes
through Arrow IPC as it does in Spark.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverFrame, OverRule
from datasources.spark.operators.over.over_bucket import advance_over
from datasources.spark.operators.over.over_state import OverStateHeader

BATCHES: Final = 8
ROWS: Final = 62_500
KEYS: Final = 6_250
FRAMES: Final = {
    "range_1s": OverFrame.range(1_000),
    "range_5s": OverFrame.range(5_000),
    "rows_2": OverFrame.rows(2),
    "unbounded": OverFrame.range(),
}
_SECOND_US: Final = 1_000_000
_BEGIN_US: Final = 1_700_000_000 * _SECOND_US


class _Blobs:
    """A bucket's state as bytes."""

    def __init__(self) -> None:
        self._header = OverStateHeader().to_json()
        self._lists: dict[str, list[bytes]] = {"keys": [], "retained": []}
        self._waiting: dict[int, bytes] = {}

    def header(self) -> OverStateHeader:
        return OverStateHeader.from_json(self._header)

    def put_header(self, header: OverStateHeader) -> None:
        self._header = header.to_json()

    def read(self, what: str) -> list[pa.Table]:
        return [from_blob(segment) for segment in self._lists[what]]

    def append(self, what: str, segment: pa.Table) -> None:
        self._lists[what].append(to_blob(segment))

    def replace(self, what: str, segments: Sequence[pa.Table]) -> None:
        self._lists[what] = [to_blob(segment) for segment in segments]

    def waiting(self, number: int) -> pa.Table:
        return from_blob(self._waiting[number])

    def put_waiting(self, number: int, segment: pa.Table) -> None:
        self._waiting[number] = to_blob(segment)

    def remove_waiting(self, number: int) -> None:
        del self._waiting[number]


def batch(drawn: np.random.Generator, number: int, late: float) -> RowBatch:
    """Return the rows of a second of event time, as one task sends them."""
    begin = _BEGIN_US + number * _SECOND_US
    time_us = np.sort(drawn.integers(begin, begin + _SECOND_US, ROWS))
    is_late = drawn.random(ROWS) < late
    time_us = np.where(is_late, time_us - drawn.integers(0, 6 * _SECOND_US, ROWS), time_us)
    after = np.maximum.accumulate(time_us) - _SECOND_US
    rows = pa.table(
        {
            "id": np.arange(ROWS),
            "k": drawn.integers(0, KEYS, ROWS),
            "v": drawn.integers(0, 100, ROWS),
            ROWTIME_COLUMN: time_us,
            ROW_WATERMARK_COLUMN: np.concatenate([after[:1], after[:-1]]),
        }
    )
    return RowBatch(task=0, number=0, watermark_us=int(after[-1]), null_rowtimes=0, rows=rows)


def rows_per_s(frame: OverFrame, late: float = 0.0) -> int:
    """Return the rows that a core takes in a second."""
    aggregates = [
        OverAggregate(function=function, argument="v", name=function, argument_type=pa.int64(), result_type=pa.int64())
        for function in ("SUM", "COUNT")
    ]
    rule, store = OverRule(keys=("k",), frame=frame, aggregates=tuple(aggregates)), _Blobs()
    drawn, spent = np.random.default_rng(5), []
    for number in range(BATCHES):
        row_batch = batch(drawn, number, late)
        begin = time.process_time()
        advance_over(rule, store, [row_batch])
        spent.append(time.process_time() - begin)
    return round(ROWS / float(np.median(spent[2:])))


def main() -> None:
    """Measure and print."""
    figures = {name: rows_per_s(frame) for name, frame in FRAMES.items()}
    figures |= {f"{name}_late": rows_per_s(frame, 0.02) for name, frame in FRAMES.items()}
    print(json.dumps({"rows_per_cpu_s": figures}))


if __name__ == "__main__":
    main()
