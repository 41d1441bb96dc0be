"""A changelog's images before an update that say nothing, left out where they still stand beside the image after.

An update comes as two rows, -U with the row as it was and +U with the row as it is. If the key is the same, the +U says
everything; the -U would only be in the way, since it may carry the time of the *old* version, if the time attribute is
a column of the row. If the key has changed, the -U says that the old key is gone. Which of the two holds can be seen
where rows stand as they were read, above the scan; later, rows of two keys are in different buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.temporal.versions.version_changes import KIND_COLUMN, UPDATE_AFTER, UPDATE_BEFORE
from datasources.spark.operators.temporal.versions.versions import HASH_COLUMN, key_names, rows_equal

__all__ = ["drop_replaced_images"]

_COMPARED: Final = (KIND_COLUMN, HASH_COLUMN)


def drop_replaced_images(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows without each -U that is directly followed by a +U of the same key; a function for mapInArrow."""
    held: pa.RecordBatch | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        whole = [batch] if held is None else [held, batch]
        table = pa.Table.from_batches(whole).combine_chunks()
        kept = table.slice(0, table.num_rows - 1).filter(pa.array(~_is_replaced(table)[:-1]))
        yield from kept.to_batches()
        held = batch.slice(batch.num_rows - 1)
    if held is not None:
        yield held


def _is_replaced(rows: pa.Table) -> NDArray[np.bool_]:
    """Return which rows the next one replaces."""
    kind, hashed = (rows.column(name).to_numpy() for name in _COMPARED)
    is_replaced = np.zeros(rows.num_rows, dtype=np.bool_)
    pairs = np.flatnonzero((kind[:-1] == UPDATE_BEFORE) & (kind[1:] == UPDATE_AFTER) & (hashed[:-1] == hashed[1:]))
    if len(pairs):
        keys = rows.select(key_names(rows.column_names))
        same = rows_equal(keys.take(pa.array(pairs)), keys.take(pa.array(pairs + 1)))
        is_replaced[pairs[same]] = True
    return is_replaced
