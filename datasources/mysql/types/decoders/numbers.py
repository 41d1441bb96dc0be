"""Numbers of row events as Arrow arrays."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.arrow_types import MAX_DECIMAL_DIGITS
from datasources.mysql.types.column import ColumnType, decimal_type, integer_type
from datasources.mysql.types.decoders.cells import Cells, Int64s, from_numpy, read_big, read_little

_GROUP_DIGITS: Final = 9
GROUP_BYTES: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes of a group of 0 to 9 digits."""
_LIMBS: Final = 4
_LIMB_MASK: Final = np.uint64(0xFFFFFFFF)
_WORD_DIGITS: Final = 18


def decode_integer(cells: Cells, column: ColumnType) -> pa.Array:
    """Return integers; BIGINT UNSIGNED as DECIMAL(20, 0)."""
    raw = read_little(cells.data, cells.at, column.width)
    arrow = integer_type(column)
    if pa.types.is_decimal128(arrow):
        return from_numpy(np.stack([raw, np.zeros_like(raw)], axis=1), arrow, cells.is_null)
    signed = raw.view(np.int64)
    if not column.is_unsigned:
        unused = 64 - 8 * column.width
        signed = (signed << unused) >> unused
    return from_numpy(signed.astype(arrow.to_pandas_dtype()), arrow, cells.is_null)


def decode_float(cells: Cells, _column: ColumnType) -> pa.Array:
    """Return FLOAT values, bit by bit."""
    raw = read_little(cells.data, cells.at, 4).astype(np.uint32)
    return from_numpy(raw, pa.float32(), cells.is_null)


def decode_double(cells: Cells, _column: ColumnType) -> pa.Array:
    """Return DOUBLE values, bit by bit."""
    return from_numpy(read_little(cells.data, cells.at, 8), pa.float64(), cells.is_null)


def decode_year(cells: Cells, _column: ColumnType) -> pa.Array:
    """Return years, 1901 to 2155 and 0."""
    raw = read_little(cells.data, cells.at, 1).astype(np.int32)
    return from_numpy(np.where(raw == 0, raw, raw + 1900).astype(np.int32), pa.int32(), cells.is_null)


def decode_bit(cells: Cells, column: ColumnType) -> pa.Array:
    """Return BIT(1) as booleans, wider ones as big-endian bytes."""
    size = (column.width + 7) // 8
    if column.width == 1:
        is_set = read_little(cells.data, cells.at, 1) != 0
        return pa.array(is_set, pa.bool_(), mask=cells.is_null)
    matrix = cells.data[cells.at[:, None] + np.arange(size)]
    fixed = from_numpy(matrix, pa.binary(size), cells.is_null)
    return fixed.cast(pa.binary())


def decimal_width(precision: int, scale: int) -> int:
    """Return the bytes that a DECIMAL takes in a row."""
    return sum(GROUP_BYTES[digits] for digits in digit_groups(precision, scale))


def decode_decimal(cells: Cells, column: ColumnType) -> pa.Array:
    """Return DECIMAL values; beyond 38 digits as the server prints them.

    A value is stored as groups of nine digits, four bytes each, big-endian, shorter groups at both ends; the first bit
    is set unless it is negative, and negative ones have all bits inverted.
    """
    is_negative = cells.data[cells.at] < 0x80  # noqa: PLR2004
    groups = _digit_groups(cells, column, is_negative)
    if column.precision > MAX_DECIMAL_DIGITS:
        return _as_text(groups, is_negative, column, cells)
    if column.precision <= _WORD_DIGITS:
        return _from_words(groups, is_negative, column, cells)
    return _from_limbs(groups, is_negative, column, cells)


def digit_groups(precision: int, scale: int) -> list[int]:
    """Return the digits of each group of a DECIMAL, most significant first; no group spans the point."""
    whole = precision - scale
    before = [whole % _GROUP_DIGITS] * (whole % _GROUP_DIGITS > 0) + [_GROUP_DIGITS] * (whole // _GROUP_DIGITS)
    after = [_GROUP_DIGITS] * (scale // _GROUP_DIGITS) + [scale % _GROUP_DIGITS] * (scale % _GROUP_DIGITS > 0)
    return before + after


def _digit_groups(
    cells: Cells, column: ColumnType, is_negative: npt.NDArray[np.bool_]
) -> list[tuple[int, npt.NDArray[np.uint64]]]:
    groups = []
    at, is_first = cells.at, True
    for digits in digit_groups(column.precision, column.scale):
        width = GROUP_BYTES[digits]
        value = read_big(cells.data, at, width)
        value ^= np.where(is_negative, np.uint64((1 << (8 * width)) - 1), np.uint64(0))
        if is_first:
            value ^= np.uint64(1 << (8 * width - 1))
        groups.append((digits, value))
        at, is_first = at + width, False
    return groups


def _from_words(
    groups: list[tuple[int, npt.NDArray[np.uint64]]],
    is_negative: npt.NDArray[np.bool_],
    column: ColumnType,
    cells: Cells,
) -> pa.Array:
    total: Int64s = np.zeros(len(cells), np.int64)
    for digits, value in groups:
        total = total * 10**digits + value.view(np.int64)
    total = np.where(is_negative, -total, total)
    both = np.stack([total, total >> 63], axis=1)
    return from_numpy(both, decimal_type(column), cells.is_null)


def _from_limbs(
    groups: list[tuple[int, npt.NDArray[np.uint64]]],
    is_negative: npt.NDArray[np.bool_],
    column: ColumnType,
    cells: Cells,
) -> pa.Array:
    """128 bits as four limbs of 32 bits, least significant first, so that no product overflows a word."""
    limbs = [np.zeros(len(cells), np.uint64) for _ in range(_LIMBS)]
    for digits, value in groups:
        carry = value
        for index, limb in enumerate(limbs):
            product = limb * np.uint64(10**digits) + carry
            limbs[index] = product & _LIMB_MASK
            carry = product >> np.uint64(32)
    low, high = limbs[0] | limbs[1] << np.uint64(32), limbs[2] | limbs[3] << np.uint64(32)
    # Two's complement: invert and add one; the carry reaches the high word only where the low one is zero.
    low_negated = ~low + np.uint64(1)
    high_negated = ~high + (low_negated == 0)
    both = np.stack([np.where(is_negative, low_negated, low), np.where(is_negative, high_negated, high)], axis=1)
    return from_numpy(both, decimal_type(column), cells.is_null)


def _as_text(
    groups: list[tuple[int, npt.NDArray[np.uint64]]],
    is_negative: npt.NDArray[np.bool_],
    column: ColumnType,
    cells: Cells,
) -> pa.Array:
    columns = [[f"{number:0{digits}d}" for number in value.tolist()] for digits, value in groups]
    texts = []
    for sign, *groups_of_digits in zip(is_negative.tolist(), *columns, strict=True):
        digits = "".join(groups_of_digits)
        whole = digits[: len(digits) - column.scale].lstrip("0") or "0"
        point = f".{digits[len(digits) - column.scale :]}" if column.scale else ""
        texts.append(f"{'-' if sign else ''}{whole}{point}")
    return pa.array(texts, pa.string(), mask=cells.is_null)
