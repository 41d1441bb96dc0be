"""Exact sums of doubles: integers in units of 2^-1152, a superaccumulator.

Every finite double is a multiple of the unit, so a sum has no rounding error, does not depend on order, and returns to
what it was when a row is removed. NaN and the infinities are counted by the caller.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.changelog.aggregate.wide_sums import MAX_WEIGHT, total_weight
from datasources.spark.operators.changelog.changes import Ints
from datasources.spark.operators.changelog.row_groups import code_sums

Objects = NDArray[np.object_]
_UNIT_BITS: Final = 1152
_MANTISSA: Final = 53
_BITS: Final = 32
_DIGIT: Final = 0xFFFFFFFF


def double_sums(groups: Ints, values: NDArray[np.float64], weights: Ints, count: int) -> Objects:
    """Return the sum of value times weight per group, as integers in units; the values are finite."""
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA).astype(np.int64)
    shifts = exponents.astype(np.int64) + (_UNIT_BITS - _MANTISSA)
    if total_weight(weights) >= MAX_WEIGHT // 2:
        whole = (mantissas.astype(object) << shifts.astype(object)) * weights.astype(object)
        return np.array(code_sums(groups, whole, count), dtype=object)
    return _limb_totals(groups, mantissas, shifts, weights, count)


def _limb_totals(groups: Ints, mantissas: Ints, shifts: Ints, weights: Ints, count: int) -> Objects:
    """Sum the mantissas as three digits each at their place among limbs of 32 bits."""
    first, within = shifts // _BITS, shifts % _BITS
    lowest = int(first.min(initial=_UNIT_BITS))
    limbs = np.zeros((count, max(int(first.max(initial=0)) - lowest, 0) + 3), dtype=np.int64)
    signs, sizes = np.sign(mantissas) * weights, np.abs(mantissas)
    low, high = (sizes & _DIGIT) << within, (sizes >> _BITS) << within  # below 2^63
    cells = limbs.reshape(-1)
    at = groups * limbs.shape[1] + (first - lowest)
    np.add.at(cells, at, (low & _DIGIT) * signs)
    np.add.at(cells, at + 1, ((low >> _BITS) + (high & _DIGIT)) * signs)
    np.add.at(cells, at + 2, (high >> _BITS) * signs)
    return _joined(limbs, lowest)


def _joined(limbs: Ints, lowest: int) -> Objects:
    """Return the integers of rows of limbs."""
    for n in range(limbs.shape[1] - 1):
        limbs[:, n + 1] += limbs[:, n] >> _BITS
        limbs[:, n] &= _DIGIT
    digits = np.ascontiguousarray(limbs[:, :-1].astype(np.uint32)).tobytes()
    size, shift = (limbs.shape[1] - 1) * 4, lowest * _BITS
    found = np.empty(len(limbs), dtype=object)
    for n, top in enumerate(limbs[:, -1].tolist()):
        number = int.from_bytes(digits[n * size : n * size + size], "little") + (top << (size * 8))
        found[n] = number << shift
    return found


def rounded_ratio(units: int, divisor: int = 1) -> float:
    """Return the sum, divided by a positive integer, as the nearest double; beyond the largest, an infinity."""
    try:
        return units / (divisor << _UNIT_BITS)
    except OverflowError:
        return math.inf if units > 0 else -math.inf


def to_bytes(units: int) -> bytes:
    """Return a sum as bytes: how many zero bytes are left out at the low end (2 bytes), then the others."""
    if not units:
        return b""
    zeros = ((units & -units).bit_length() - 1) // 8
    rest = units >> (8 * zeros)
    return zeros.to_bytes(2, "little") + rest.to_bytes(rest.bit_length() // 8 + 1, "little", signed=True)


def of_bytes(stored: Any) -> int:
    """Return the sum that `to_bytes` wrote."""
    return int.from_bytes(stored[2:], "little", signed=True) << (8 * int.from_bytes(stored[:2], "little"))
