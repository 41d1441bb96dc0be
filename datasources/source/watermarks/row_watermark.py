"""The hidden columns: how a reader's watermark travels through Spark.

`_watermark` is the row watermark (`CURRENT_WATERMARK`), `_heartbeat` marks rows with a watermark and no data. Both are
never null: Spark infers `isnotnull` from the barrier and would drop such rows silently. They are floored at the
epoch, because Spark's watermark is never below 0, and capped at the year 9999, which Python can still represent.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.arrow_types import TIMESTAMP, narrowed

WATERMARK_COLUMN = "_watermark"
HEARTBEAT_COLUMN = "_heartbeat"
LATE_COLUMN = "_late"
HIDDEN_COLUMNS = (WATERMARK_COLUMN, HEARTBEAT_COLUMN)
RESERVED_COLUMNS = (*HIDDEN_COLUMNS, LATE_COLUMN)
MAX_ROW_WATERMARK_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z


def within_spark(row_watermarks_us: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return row watermarks, µs, as they are delivered: 0 for none."""
    return np.clip(row_watermarks_us, 0, MAX_ROW_WATERMARK_MS * 1_000)


class OutputSchema:
    """Builds output batches: the data columns, all nullable in Spark's schema, `_late` if asked for, the hidden ones.

    Data columns are taken from the rows by name: rows may hold more, or hold them in another order, and so may their
    STRUCTs.

    Args:
        output: the exact Arrow schema that Spark expects, hidden columns last if the source has them.
    """

    def __init__(self, output: pa.Schema) -> None:
        self._output = output
        self._marks_late = LATE_COLUMN in output.names
        self._data = [(field.name, field.type) for field in output if field.name not in RESERVED_COLUMNS]
        self._nulls = [pa.nulls(1, type=data_type) for _, data_type in self._data]

    def plain(self, columns: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a source without watermark."""
        return pa.RecordBatch.from_arrays(self._cast(columns), schema=self._output)

    def data(
        self, columns: pa.RecordBatch, row_watermarks_us: NDArray[np.int64], late: NDArray[np.bool_]
    ) -> pa.RecordBatch:
        """Return data rows with their row watermarks (µs, MIN for none), and the late mark if the schema has it."""
        hidden = [pa.array(late)] if self._marks_late else []
        watermarks = pa.array(within_spark(row_watermarks_us)).cast(TIMESTAMP)
        hidden += [watermarks, pa.repeat(pa.scalar(False), columns.num_rows)]
        return pa.RecordBatch.from_arrays([*self._cast(columns), *hidden], schema=self._output)

    def heartbeat(self, row_watermark_us: int) -> pa.RecordBatch:
        """Return one row without data that carries `row_watermark_us`."""
        row_watermark = min(max(row_watermark_us, 0), MAX_ROW_WATERMARK_MS * 1_000)
        hidden = [pa.array([False])] if self._marks_late else []
        hidden += [pa.array([row_watermark], type=TIMESTAMP), pa.array([True])]
        return pa.RecordBatch.from_arrays([*self._nulls, *hidden], schema=self._output)

    def _cast(self, columns: pa.RecordBatch) -> list[pa.Array]:
        arrays = [(narrowed(columns.column(name), wanted), wanted) for name, wanted in self._data]
        return [array if array.type == wanted else array.cast(wanted) for array, wanted in arrays]
