"""The order of values in ORDER BY, as integers that numpy sorts.

It is Spark's: NaN is larger than every other number, -0.0 equals 0.0, texts and binary values are ordered by their
bytes, false comes before true. Where NULLs are sorted is the caller's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.changelog.changes import Ints, stable_order
from datasources.spark.operators.changelog.row_groups import Bools

Part = NDArray[Any]
"""Integers, one per row. A list of them orders rows by the first, then by the second, and so on."""

_MAX_INT64_DIGITS: Final = 18
_MAX_CODES: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class OrderKey:
    """A column of ORDER BY."""

    column: str
    ascending: bool = True
    nulls_first: bool = True


def order_parts(rows: pa.Table, keys: Sequence[OrderKey]) -> list[Part]:
    """Return the parts by which rows are sorted; rows with equal parts are peers."""
    parts: list[Part] = []
    for key in keys:
        column = rows.column(key.column)
        if column.null_count:
            is_null = np.asarray(column.is_null().to_numpy(), dtype=np.bool_)
            parts.append((is_null != key.nulls_first).astype(np.int8))
        parts += [part if key.ascending else ~part for part in _value_parts(column)]
    return parts


def combined_parts(parts: Sequence[Part]) -> list[Part]:
    """Return fewer parts with the same order: neighbours become one as far as their ranges fit an integer."""
    found: list[Part] = []
    widest = _MAX_CODES
    for part in parts:
        lowest, highest = (int(part.min()), int(part.max())) if len(part) else (0, 0)
        width = highest - lowest + 1
        if width >= _MAX_CODES:
            found.append(part)
            widest = _MAX_CODES
            continue
        wide = part if part.dtype == np.uint64 else part.astype(np.int64)
        codes = (wide - wide.dtype.type(lowest)).astype(np.int64)
        if found and widest * width < _MAX_CODES:
            found[-1], widest = found[-1] * width + codes, widest * width
        else:
            found.append(codes)
            widest = width
    return found


def sorted_positions(parts: Sequence[Part], count: int) -> Ints:
    """Return the positions of ``count`` rows in the order of their parts; peers keep their order."""
    if len(parts) == 1 and parts[0].dtype == np.int64:
        return stable_order(parts[0])
    return np.lexsort(parts[::-1]) if parts else np.arange(count, dtype=np.int64)


def peer_starts(parts: Sequence[Part], order: Ints) -> Bools:
    """Return which rows, in sorted order, are no peers of the row before them; the first is none."""
    starts = np.zeros(len(order), dtype=np.bool_)
    starts[:1] = True
    for part in parts:
        in_order = part[order]
        starts[1:] |= in_order[1:] != in_order[:-1]
    return starts


def is_sortable(kind: pa.DataType) -> bool:
    """Whether values of a type can be a key of ORDER BY here: those of all types but nested ones and intervals."""
    return not (pa.types.is_nested(kind) or pa.types.is_interval(kind))


def _value_parts(column: pa.ChunkedArray) -> list[Part]:
    """Return the ascending order of a column's values; that of NULLs is equal among them."""
    array: Any = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    if pa.types.is_decimal(column.type):
        return _decimal_parts(array)
    for has_type, part in _PARTS:
        if has_type(column.type):
            return [part(array)]
    return [_text_part(array)]


def _is_bytes(kind: pa.DataType) -> bool:
    return kind in {pa.string(), pa.large_string(), pa.binary(), pa.large_binary()}


def _null_part(array: pa.Array) -> Part:
    return np.zeros(len(array), dtype=np.int8)


def _boolean_part(array: pa.Array) -> Part:
    return _integer_part(array.cast(pa.int8()))


def _bytes_part(array: pa.Array) -> Part:
    ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(), dtype=np.int64)


def _temporal_part(array: pa.Array) -> Part:
    return _integer_part(array.view(pa.int32() if array.type.bit_width == 32 else pa.int64()))  # noqa: PLR2004 - bits


def _integer_part(array: pa.Array) -> Part:
    return np.asarray(array.fill_null(0).to_numpy(zero_copy_only=False))


def _float_part(array: pa.Array) -> Part:
    """Return integers in the order of the floats: the bits, with those of negative numbers inverted below the sign."""
    values = np.asarray(array.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)) + 0.0
    values[np.isnan(values)] = np.nan
    bits = values.view(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def _decimal_parts(array: pa.Array) -> list[Part]:
    array = array.cast(pa.decimal128(array.type.precision, array.type.scale)).fill_null(0)
    words = np.frombuffer(array.buffers()[1] or b"", dtype=np.int64)
    words = words[2 * array.offset : 2 * (array.offset + len(array))]
    if array.type.precision <= _MAX_INT64_DIGITS:
        return [words[::2]]
    return [words[1::2], words[::2].view(np.uint64)]


def _text_part(array: pa.Array) -> Part:
    """Return a deterministic order of values that have none: that of their text."""
    texts = [repr(value) for value in array.to_pylist()]
    _, codes = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return np.asarray(codes, dtype=np.int64)


_PARTS: Final[tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], Part]], ...]] = (
    (pa.types.is_null, _null_part),
    (pa.types.is_interval, _text_part),
    (pa.types.is_boolean, _boolean_part),
    (pa.types.is_integer, _integer_part),
    (pa.types.is_floating, _float_part),
    (pa.types.is_temporal, _temporal_part),
    (_is_bytes, _bytes_part),
)
"""How values of each type become integers; the first that fits counts."""
