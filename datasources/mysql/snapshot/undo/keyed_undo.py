"""Undo for a range of a table with a key: the first change of a key after the snapshot position decides.

Its before-image is the row at the snapshot position (update, delete), or there was none (insert). Keys without a change
are unchanged. Which changes the SELECT saw does not matter. Keys are equal if their values are: two keys that are equal
only under a collation never exist at the same time, so they can be decided separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.mysql.binlog.rows.row_batch import RowKind
from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.snapshot.undo.row_codes import RowCodes
from datasources.mysql.tables.key_ranges import KeyRange

_COMPACT_ROWS: Final = 200_000
_BEFORE: Final = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


class KeyedUndo:
    """Undoes the changes of one range."""

    def __init__(self, keys: ImageKeys, wanted: KeyRange) -> None:
        self._keys, self._wanted = keys, wanted
        self._images: list[pa.RecordBatch] = []
        self._is_before: list[npt.NDArray[np.bool_]] = []
        self._rows, self._compact_at = 0, _COMPACT_ROWS
        self.is_emptied = False

    def note(self, images: pa.RecordBatch, row_kind: npt.NDArray[np.int8]) -> None:
        """Note changes after the snapshot position, in commit order."""
        inside = self._keys.within(images, self._wanted)
        if not inside.any() or self.is_emptied:
            return
        self._add(images.filter(pa.array(inside)), np.isin(row_kind[inside], _BEFORE))

    def empty(self) -> None:
        """Note that the table was emptied or replaced: its earlier rows are not known any more."""
        self.is_emptied = True
        self._images, self._is_before, self._rows = [], [], 0

    def apply(self, batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the range's rows as of the snapshot position."""
        if self.is_emptied:
            return
        if not self._images:
            yield from batches
            return
        images, is_before = self._first()
        codes = RowCodes(self._keys.columns(images))
        for batch in batches:
            is_changed = codes.find(self._keys.columns(batch)) >= 0
            yield batch.filter(pa.array(~is_changed)) if is_changed.any() else batch
        yield images.filter(pa.array(is_before))

    def _add(self, images: pa.RecordBatch, is_before: npt.NDArray[np.bool_]) -> None:
        self._images.append(images)
        self._is_before.append(is_before)
        self._rows += len(is_before)
        if self._rows >= self._compact_at:
            first, before = self._first()
            self._images, self._is_before, self._rows = [first], [before], len(before)
            self._compact_at = max(_COMPACT_ROWS, 2 * len(before))

    def _first(self) -> tuple[pa.RecordBatch, npt.NDArray[np.bool_]]:
        """Return the first image of each key, and which of them are before-images."""
        images = _joined(self._images)
        first = RowCodes(self._keys.columns(images)).first()
        return images.take(pa.array(first)), np.concatenate(self._is_before)[first]


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
