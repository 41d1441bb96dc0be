"""A pushed-down condition: which rows of a chunk are delivered.

It is applied last, after the watermark, the count of late rows and the row watermarks, so that event time does not
depend on the filter. Heartbeats, positions and reports ignore it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.errors import ExpressionError, RecordError
from datasources.source.api.abilities import RowCondition
from datasources.source.api.reader import Chunk
from datasources.source.reading.split_run import WatermarkedRows


class RowFilter:
    """Evaluates one condition, chunk by chunk.

    A row is delivered where the condition is true; false and null are the same.
    """

    def __init__(self, condition: RowCondition) -> None:
        self._evaluator = condition.evaluator()

    def watermarked(self, rows: WatermarkedRows, chunk: Chunk) -> WatermarkedRows:
        """Return the rows to deliver of those that `chunk` became.

        Raises:
            RecordError: the condition has no value for a row; the row's position is named.
        """
        kept = self._kept(rows.columns, lambda row: chunk.describe_row(rows.chunk_row(row)))
        return rows if kept.all() else rows.where(kept)

    def plain(self, chunk: Chunk) -> NDArray[np.bool_]:
        """Return which rows of a source without watermark are delivered.

        Raises:
            RecordError: as `watermarked`.
        """
        return self._kept(chunk.columns, chunk.describe_row)

    def _kept(self, columns: pa.RecordBatch, describe_row: Callable[[int], str]) -> NDArray[np.bool_]:
        try:
            values = self._evaluator.evaluate(columns)
        except ExpressionError as error:
            if error.row_index < 0:
                raise
            raise RecordError(f"{describe_row(error.row_index)}: {error.message}") from error
        return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)
