"""Undo for a table without a key: its rows are a multiset.

Without a key an image does not identify its row, but equal rows are interchangeable. So the read's exact position must
be known: rows that were added between the snapshot position and there are dropped from the result of the SELECT, once
each, and rows that were removed are added to it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.errors import DataLossError
from datasources.mysql.binlog.rows.row_batch import RowKind
from datasources.mysql.snapshot.requests import Selection
from datasources.mysql.snapshot.undo.row_codes import RowCodes
from datasources.mysql.types.decoders.cells import Int64s

_COMPACT_ROWS: Final = 200_000


class MultisetUndo:
    """Undoes changes of one table."""

    def __init__(self, selection: Selection) -> None:
        self._rows = selection.arrow.empty_table()
        self._counts: Int64s = np.zeros(0, np.int64)
        self._compact_at = _COMPACT_ROWS
        self._codes: RowCodes | None = None
        self.is_emptied = False

    def note(self, images: pa.RecordBatch, row_kind: npt.NDArray[np.int8]) -> None:
        """Note changes between the snapshot position and the read."""
        is_before = np.isin(row_kind, (RowKind.UPDATE_BEFORE, RowKind.DELETE))
        self._rows = pa.concat_tables([self._rows, pa.Table.from_batches([images])])
        self._counts = np.concatenate([self._counts, np.where(is_before, 1, -1)])
        if len(self._counts) >= self._compact_at:
            self._compact()
            self._compact_at = max(_COMPACT_ROWS, 2 * len(self._counts))

    def empty(self) -> None:
        """Note that the table was emptied or replaced."""
        self.is_emptied = True

    def drop(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows of the SELECT without those that were added after the snapshot position."""
        codes = self._known().find(batch.columns)
        keep = np.ones(batch.num_rows, np.bool_)
        for code in np.unique(codes[codes >= 0]).tolist():
            positions = np.flatnonzero(codes == code)[: max(0, -int(self._counts[code]))]
            keep[positions] = False
            self._counts[code] += len(positions)
        return batch if keep.all() else batch.filter(pa.array(keep))

    def removed(self, where: str) -> list[pa.RecordBatch]:
        """Return rows that were removed after the snapshot position; called after all rows of the SELECT.

        Raises:
            DataLossError: Rows that were added in the binlog were not found.
        """
        self._known()
        missing = -int(self._counts[self._counts < 0].sum())
        if missing:
            raise DataLossError(
                f"{missing} rows that the binlog adds to {where} are not in the table: something changed it without "
                f"writing that to the binlog (sql_log_bin=0, a statement that is not in row format). Start with a new "
                f"snapshot when that has ended."
            )
        batches: list[pa.RecordBatch] = self._rows.take(
            pa.array(np.repeat(np.arange(len(self._counts)), self._counts))
        ).to_batches()
        return batches

    def _known(self) -> RowCodes:
        """Return the numbers of the distinct rows that changed; `_rows` and `_counts` are in their order."""
        if self._codes is None:
            self._compact()
            self._codes = RowCodes([column.combine_chunks() for column in self._rows.columns])
            order = np.argsort(self._codes.codes)
            self._rows, self._counts = self._rows.take(pa.array(order)), self._counts[order]
        return self._codes

    def _compact(self) -> None:
        """Count equal rows once."""
        if not len(self._counts):
            return
        codes = RowCodes([column.combine_chunks() for column in self._rows.columns])
        counts = np.zeros(codes.count, np.int64)
        np.add.at(counts, codes.codes, self._counts)
        _, first = np.unique(codes.codes, return_index=True)
        self._rows, self._counts = self._rows.take(pa.array(first)), counts
