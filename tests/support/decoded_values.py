"""Values of decoded columns that are equal only if nothing at all tells them apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["as_numbers", "plain"]


def plain(array: pa.Array) -> list[object]:
    """Values of a column, with times as numbers: Python's cannot hold the years that Spark's can."""
    return [_bits(value) for value in as_numbers(array).to_pylist()]


def as_numbers(array: pa.Array) -> pa.Array:
    """The column with times as numbers, which Python's types are too narrow for."""
    arrow = array.type
    if pa.types.is_timestamp(arrow):
        return array.cast(pa.int64())
    if pa.types.is_date(arrow):
        return array.cast(pa.int32())
    if pa.types.is_struct(arrow):
        fields = [as_numbers(part) for part in array.flatten()]
        names = [f.name for f in arrow]
        return pa.StructArray.from_arrays(fields, names=names, mask=array.is_null()) if names else array
    if pa.types.is_map(arrow) or pa.types.is_list(arrow):
        return pa.array([None if not item.is_valid else as_numbers(item.values).to_pylist() for item in array])
    return array


def _bits(value: object) -> object:
    """The sign of a zero and NaN included."""
    if isinstance(value, float):
        return "nan" if np.isnan(value) else value.hex()
    if isinstance(value, (list, tuple)):
        return [_bits(item) for item in value]
    return {name: _bits(item) for name, item in value.items()} if isinstance(value, dict) else value
