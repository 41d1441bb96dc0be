"""Columns of values while an expression is evaluated: numpy arrays with a null mask and an error mask.

Theory of operation. An evaluation error (overflow, malformed text, ...) is a *value* of a row until the end: a branch
of CASE that is not taken, or the right side of an AND whose left side is false, may hold errors that have no effect,
as in Spark. Only errors of the result are raised. So every node is evaluated for all rows at once, and yet the errors
are those of Spark's row-by-row evaluation.

Layout by type: BOOLEAN bool; integers, DATE (days), timestamps and intervals (µs) int64; FLOAT and DOUBLE
themselves; DECIMAL unscaled Python integers and STRING Python strings in object arrays. The value of a row that is
null or has an error is arbitrary, but of the right type.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from datasources.arrow_types import BOOLEAN, DATE, DOUBLE, FLOAT, STRING

if TYPE_CHECKING:
    from numpy.typing import NDArray

Values: TypeAlias = "NDArray[Any]"
Mask: TypeAlias = "NDArray[np.bool_]"
EvalErrors: TypeAlias = "NDArray[np.uint8]"

"""The characters that Spark strips from text before it casts it."""

_FIRST_READER_LIMIT: Final = 100
_FILLERS: Final[dict[pa.DataType, object]] = {BOOLEAN: False, STRING: "", FLOAT: 0.0, DOUBLE: 0.0}
_WIDE: Final = decimal.Context(prec=80)


class EvalError(IntEnum):
    """Why a row has no value. From 100 on: limits of the reader, which never become NULL."""

    NONE = 0
    OVERFLOW = 1
    DIVIDE_BY_ZERO = 2
    CAST_OVERFLOW = 3
    MALFORMED_NUMBER = 4
    MALFORMED_TIMESTAMP = 5
    DECIMAL_OVERFLOW = 6
    TIMESTAMP_OVERFLOW = 7
    SILENT_WRAP = 100
    ZONE_NEEDED = 101
    REGION_IN_TEXT = 102
    CLOCK_IN_TEXT = 103
    JSON_NOT_SCALAR = 104
    JSON_BEYOND_LIMITS = 105
    CASE_MAPPING = 106
    CANDIDATE_RANGE = 107


@dataclass(slots=True, kw_only=True)
class Vector:
    """The values of one (sub)expression for the rows of a batch.

    Attributes:
        values: One element per row, laid out by type (see the module).
        valid: False where the value is NULL; None where no row is NULL.
        errors: `EvalError` codes; None where no row has one.
    """

    values: Values
    valid: Mask | None = None
    errors: EvalErrors | None = None

    def valid_mask(self) -> Mask:
        """Return the mask of rows that are not NULL, as an array."""
        return np.ones(len(self.values), dtype=np.bool_) if self.valid is None else self.valid

    def error_codes(self) -> EvalErrors:
        """Return the error code of each row, as an array."""
        return np.zeros(len(self.values), dtype=np.uint8) if self.errors is None else self.errors


def is_reader_limit(errors: EvalErrors) -> Mask:
    """Return which errors are limits of the reader, not errors that Spark would raise too."""
    return np.asarray(errors >= _FIRST_READER_LIMIT)


def merge_errors(first: EvalErrors | None, second: EvalErrors | None, where: Mask | None = None) -> EvalErrors | None:
    """Return ``first`` with the errors of ``second`` where it has none and ``where`` holds."""
    if second is None or not second.any():
        return first
    seen = second if where is None else np.where(where, second, np.uint8(0))
    if first is None:
        return seen if seen.any() else None
    return np.where(first != 0, first, seen)


def from_arrow(array: pa.Array, data_type: pa.DataType) -> Vector:
    """Return an Arrow array as a vector; integers of 64 bits are not copied."""
    valid = None if array.null_count == 0 else np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(data_type):
        values = _unscaled(array, data_type.scale)
    elif data_type == STRING:
        values = np.asarray(_filled(array).to_numpy(zero_copy_only=False), dtype=object)
    elif data_type in (BOOLEAN, FLOAT, DOUBLE):
        values = _filled(array).to_numpy(zero_copy_only=False)
    else:
        values = _integers(array, data_type)
    return Vector(values=values, valid=valid)


def to_arrow(vector: Vector, data_type: pa.DataType) -> pa.Array:
    """Return a vector without errors as an Arrow array of its type."""
    nulls = None if vector.valid is None else ~vector.valid
    if pa.types.is_decimal(data_type):
        return pa.array(_decimals(vector, data_type.scale), type=data_type)
    if pa.types.is_null(data_type):
        return pa.nulls(len(vector.values))
    if vector.values.dtype != np.int64:
        return pa.array(vector.values, type=data_type, mask=nulls)
    if pa.types.is_timestamp(data_type) or pa.types.is_duration(data_type):
        return pa.array(vector.values, mask=nulls).cast(data_type)
    narrow = vector.values.astype(_integer_dtype(data_type))
    return pa.array(narrow, mask=nulls).cast(data_type)


def _filled(array: pa.Array) -> pa.Array:
    return array if array.null_count == 0 else array.fill_null(_FILLERS.get(array.type, 0))


def _integers(array: pa.Array, data_type: pa.DataType) -> Values:
    width = np.dtype(np.int32) if data_type == DATE else _integer_dtype(data_type)
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array), dtype=np.int64)
    values = np.frombuffer(buffer, dtype=width, count=len(array), offset=array.offset * width.itemsize)
    return values if width == np.int64 else values.astype(np.int64)


def _integer_dtype(data_type: pa.DataType) -> np.dtype[Any]:
    return np.dtype(f"int{data_type.bit_width}")


def _unscaled(array: pa.Array, scale: int) -> Values:
    return objects([0 if value is None else int(value.scaleb(scale, _WIDE)) for value in array.to_pylist()])


def objects(values: list[Any]) -> Values:
    """Return Python objects as an array of one dimension, whatever they are."""
    result: Values = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def _decimals(vector: Vector, scale: int) -> list[decimal.Decimal | None]:
    valid = vector.valid_mask()
    return [
        decimal.Decimal(value).scaleb(-scale, _WIDE) if known else None
        for value, known in zip(vector.values, valid, strict=True)
    ]
