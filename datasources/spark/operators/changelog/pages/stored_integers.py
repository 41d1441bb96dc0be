"""Integers of a state in as few bytes as they need: Spark spends most of the time for a stored page on its bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

_WIDE: Final = (pa.int64(), pa.int32(), pa.int16())
_NARROW: Final = (pa.int8(), pa.int16(), pa.int32())
_OWN_TYPE: Final = b"own type"
"""In the metadata of a field: the type of the column."""


def narrowed(rows: pa.Table) -> pa.Table:
    """Return rows with each column of integers in the smallest type that has its values."""
    return _converted(rows, _narrowed)


def widened(pages: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of pages, each `narrowed` or not, with the columns' own types."""
    if any(not page.schema.equals(pages[0].schema, check_metadata=True) for page in pages):
        return pa.concat_tables([_converted(page, _widened) for page in pages])
    return _converted(pa.concat_tables(pages), _widened)


def _converted(rows: pa.Table, convert: Callable[[pa.Field, Any], tuple[pa.Field, Any]]) -> pa.Table:
    pairs = [convert(*each) for each in zip(rows.schema, rows.columns, strict=True)]
    return pa.Table.from_arrays([column for _, column in pairs], schema=pa.schema([field for field, _ in pairs]))


def _narrowed(field: pa.Field, values: pa.ChunkedArray) -> tuple[pa.Field, pa.ChunkedArray]:
    if field.type in _WIDE:
        numbers = values.fill_null(0).to_numpy()
        low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
        for kind in _NARROW:
            limits = np.iinfo(kind.to_pandas_dtype())
            if kind.bit_width < field.type.bit_width and limits.min <= low and high <= limits.max:
                return pa.field(field.name, kind, metadata={_OWN_TYPE: str(field.type)}), values.cast(kind)
    return field, values


def _widened(field: pa.Field, values: pa.ChunkedArray) -> tuple[pa.Field, pa.ChunkedArray]:
    own_type = (field.metadata or {}).get(_OWN_TYPE)
    if own_type is None:
        return field, values
    kind = pa.type_for_alias(own_type.decode())
    return pa.field(field.name, kind), values.cast(kind)
