"""Spark's order of values: NaN equals itself and is the largest number, -0.0 equals 0.0, text is by code point."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from datasources.expressions.vectors.vectors import Mask, Values

_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(symbol: str, left: Values, right: Values) -> Mask:
    """Compare two arrays of one type row by row.

    ``symbol`` is one of =, <, <=, >, >=; both sides are of one type.
    """
    result = np.asarray(_OPERATORS[symbol](left, right), dtype=np.bool_)
    if left.dtype.kind != "f":
        return result
    left_nan, right_nan = np.isnan(left), np.isnan(right)
    both, either = left_nan & right_nan, left_nan | right_nan
    if not either.any():
        return result
    ordered = {"=": both, "<": right_nan & ~left_nan, "<=": right_nan, ">": left_nan & ~right_nan, ">=": left_nan}
    return np.where(either, ordered[symbol], result)
