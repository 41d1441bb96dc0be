"""Drops before-images of updates (-U) that the following after-image (+U) replaces.

An update is two rows: -U with the old row and +U with the new one. If the key is the same, the +U is enough, and the -U
would be wrong where the time attribute is a column of the row: it carries the time of the *old* version. If the key has
changed, the -U is the deletion of the old key. The two cases can be distinguished only above the shuffle, in read
order; below it, rows of two keys are in different buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.temporal.versions.version_changes import KIND_COLUMN, UPDATE_AFTER, UPDATE_BEFORE
from datasources.spark.operators.temporal.versions.versions import HASH_COLUMN, key_names, rows_equal

_COMPARED: Final = (KIND_COLUMN, HASH_COLUMN)


def drop_replaced_images(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows without each -U that is directly followed by a +U of the same key; a function for mapInArrow."""
    pending_row: pa.RecordBatch | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        whole = [batch] if pending_row is None else [pending_row, batch]
        table = pa.Table.from_batches(whole).combine_chunks()
        kept = table.slice(0, table.num_rows - 1).filter(pa.array(~_is_replaced(table)[:-1]))
        yield from kept.to_batches()
        pending_row = batch.slice(batch.num_rows - 1)
    if pending_row is not None:
        yield pending_row


def _is_replaced(rows: pa.Table) -> NDArray[np.bool_]:
    """Return which rows are replaced by the next one."""
    kind, hashed = (rows.column(name).to_numpy() for name in _COMPARED)
    is_replaced = np.zeros(rows.num_rows, dtype=np.bool_)
    pairs = np.flatnonzero((kind[:-1] == UPDATE_BEFORE) & (kind[1:] == UPDATE_AFTER) & (hashed[:-1] == hashed[1:]))
    if len(pairs):
        keys = rows.select(key_names(rows.column_names))
        same = rows_equal(keys.take(pa.array(pairs)), keys.take(pa.array(pairs + 1)))
        is_replaced[pairs[same]] = True
    return is_replaced
