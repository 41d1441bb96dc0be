"""Exact sums of integers and decimals beyond 64 bits, columns at a time.

A sum has several *limbs*, columns of int64: each but the last is a digit of 32 bits, from the lowest, and the last is
signed. Three limbs have 127 bits, those of a BIGINT times any weight; five have 191 bits, those of a DECIMAL(38).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.changelog.aggregate.groups import Flags
from datasources.spark.operators.changelog.changes import Ints
from datasources.spark.operators.changelog.row_groups import code_sums

Limbs = tuple[Ints, ...]
_DIGIT: Final = 0xFFFFFFFF
_BITS: Final = 32
_WORD_BITS: Final = 64
_WORD: Final = 1 << _WORD_BITS
_MAX_LONG: Final = 1 << 63
MAX_WEIGHT: Final = 1 << 30
"""Sums of digits stay below 63 bits while the sum of absolute weights is below this."""
_LONG_DIGITS: Final = 18
_LONG_LIMBS: Final = 3
_DECIMAL_LIMBS: Final = 5


def limb_count(kind: pa.DataType) -> int:
    """Return the number of limbs of sums of a type."""
    return _DECIMAL_LIMBS if pa.types.is_decimal(kind) and kind.precision > _LONG_DIGITS else _LONG_LIMBS


def total_weight(weights: Ints) -> float:
    """Return the sum of the absolute weights."""
    return float(np.abs(weights.astype(np.float64)).sum())


def limb_sums(groups: Ints, values: Any, weights: Ints, count: int) -> Limbs:
    """Return the sum of value times weight per group, of an integer or decimal array; NULLs have the weight 0.

    Decimals are summed as the integers of their digits.
    """
    limbs, weight = limb_count(values.type), total_weight(weights)
    if limbs == _LONG_LIMBS:
        numbers = _longs(values)
        largest = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
        if largest * weight < _MAX_LONG // 2:
            return of_longs(code_sums(groups, numbers * weights, count))
        digits = [numbers & _DIGIT, numbers >> _BITS]
    else:
        digits = _digits(values)
    if weight < MAX_WEIGHT:
        sums = [code_sums(groups, digit * weights, count) for digit in digits]
        return normalized([*sums, *[np.zeros(count, dtype=np.int64)] * (limbs - len(sums))])
    whole = sum(digit.astype(object) << (_BITS * n) for n, digit in enumerate(digits))
    return from_python(code_sums(groups, whole * weights.astype(object), count), limbs)


def of_longs(numbers: Ints) -> Limbs:
    """Return the limbs of integers of 64 bits."""
    return numbers & _DIGIT, (numbers >> _BITS) & _DIGIT, numbers >> (_WORD_BITS - 1)


def normalized(limbs: list[Ints]) -> Limbs:
    """Return the limbs with what exceeds a digit carried to the next."""
    for n in range(len(limbs) - 1):
        limbs[n + 1] = limbs[n + 1] + (limbs[n] >> _BITS)
        limbs[n] = limbs[n] & _DIGIT
    return tuple(limbs)


def plus(one: Limbs, other: Limbs) -> Limbs:
    """Return the sums of two sums."""
    return normalized([a + b for a, b in zip(one, other, strict=True)])


def from_python(numbers: Iterable[int], limbs: int) -> Limbs:
    """Return the limbs of integers."""
    digits = [[(n >> (_BITS * at)) & _DIGIT for at in range(limbs - 1)] + [n >> (_BITS * (limbs - 1))] for n in numbers]
    return tuple(np.array(digits, dtype=np.int64).reshape(-1, limbs).T.copy())


def to_python(limbs: Limbs) -> list[int]:
    """Return the integers of limbs."""
    return [
        sum(digit << (_BITS * n) for n, digit in enumerate(each))
        for each in zip(*(limb.tolist() for limb in limbs), strict=True)
    ]


def to_long(limbs: Limbs) -> tuple[Ints, Flags]:
    """Return the low 64 bits, signed, and whether they are the whole number."""
    low, high, fits = _words(limbs)
    return low, fits & (high == low >> (_WORD_BITS - 1))


def _words(limbs: Limbs) -> tuple[Ints, Ints, Flags]:
    """Return the lower and the upper 64 bits of the low 128 bits, and whether they are the whole number."""
    low = limbs[0] | (limbs[1] << _BITS)
    if len(limbs) == _LONG_LIMBS:
        return low, limbs[2], np.ones(len(low), dtype=np.bool_)
    high = limbs[2] | (limbs[3] << _BITS)
    return low, high, limbs[4] == high >> (_WORD_BITS - 1)


def to_decimals(limbs: Limbs, shown: Flags, kind: pa.DataType) -> tuple[Any, Flags]:
    """Return the decimals with these digits, NULL where not shown or too large, and which are too large."""
    low, high, fits = _words(limbs)
    fits &= _is_within(low, high, 10**kind.precision - 1)
    return decimals_of(low, high, shown & fits, kind), shown & ~fits


def decimals_of(low: Ints, high: Ints, shown: Flags, kind: pa.DataType) -> Any:
    """Return decimals with these 128 bits of digits; NULL where not shown."""
    words = np.stack((low, high), axis=1).tobytes()
    found = pa.Array.from_buffers(pa.decimal128(38, kind.scale), len(low), [None, pa.py_buffer(words)])
    return pc.if_else(pa.array(shown), found, pa.scalar(None, found.type)).cast(kind)


def decimals_of_python(numbers: list[int], shown: Flags, kind: pa.DataType) -> tuple[Any, Flags]:
    """Return the decimals with these digits, NULL where not shown or too large, and which are too large."""
    bound = 10**kind.precision
    fits = np.array([-bound < n < bound for n in numbers], dtype=np.bool_)
    low = np.array([n % _WORD if fit else 0 for n, fit in zip(numbers, fits, strict=True)], dtype=np.uint64)
    high = np.array([n >> 64 if fit else 0 for n, fit in zip(numbers, fits, strict=True)], dtype=np.int64)
    return decimals_of(low.view(np.int64), high, shown & fits, kind), shown & ~fits


def _is_within(low: Ints, high: Ints, bound: int) -> Flags:
    """Whether -bound <= value <= bound."""
    unsigned: NDArray[np.uint64] = low.view(np.uint64)

    def is_below(limit: int) -> Flags:
        limit_low, limit_high = np.uint64(limit % _WORD), limit >> 64
        return np.asarray((high < limit_high) | ((high == limit_high) & (unsigned <= limit_low)))

    return is_below(bound) & ~is_below(-bound - 1)


def _longs(values: Any) -> Ints:
    if pa.types.is_decimal(values.type):
        digits = _digits(values)
        return digits[0] | (digits[1] << _BITS)
    return np.asarray(values.cast(pa.int64()).fill_null(0).to_numpy(), dtype=np.int64)


def _digits(values: Any) -> list[Ints]:
    """Return the limbs of the digits of a decimal array; 0 for NULL."""
    words = np.frombuffer(values.buffers()[1] or b"", dtype=np.int32)
    words = words[: len(words) // 4 * 4].reshape(-1, 4)[values.offset : values.offset + len(values)].astype(np.int64)
    if values.null_count:
        words[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return [words[:, 0] & _DIGIT, words[:, 1] & _DIGIT, words[:, 2] & _DIGIT, words[:, 3].copy()]
