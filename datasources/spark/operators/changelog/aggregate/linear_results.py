"""The results of COUNT, SUM, AVG, BOOL_AND and BOOL_OR from their partials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.aggregate import wide_sums
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.double_sums import rounded_ratio
from datasources.spark.operators.changelog.aggregate.groups import Flags
from datasources.spark.operators.changelog.aggregate.partials import Arrays
from datasources.spark.operators.changelog.changes import Ints

OverflowReport = Callable[[Flags], None]
"""Raises a QueryError if one of the groups is True."""
_EXACT_DOUBLE: Final = 1 << 53
_MAX_SCALED: Final = 1 << 62


def linear_result(
    call: AggregateCall, argument: Any, states: list[Arrays], shown: Flags, overflow: OverflowReport
) -> Any:
    """Return the result per group.

    Args:
        call: the aggregate.
        argument: the Arrow type of its argument; None for COUNT(*).
        states: its partials: the count of values, then for other functions than COUNT their sum or number of true ones.
        shown: which groups have a result; others are arbitrary.
        overflow: called with the groups where the result does not fit, if that is an error.
    """
    counts = states[0][0]
    if call.function == "count":
        return pa.array(counts).cast(call.type)
    shown = shown & (counts > 0)
    if call.function in {"bool_and", "bool_or"}:
        trues = states[1][0]
        return pa.array(trues == counts if call.function == "bool_and" else trues > 0, mask=~shown)
    divisors = counts if call.function == "avg" else np.ones_like(counts)
    if pa.types.is_floating(argument):
        return _double_result(states[1], divisors, shown).cast(call.type)
    if pa.types.is_decimal(argument):
        result, too_large = _decimal_result(call, argument.scale, states[1], divisors, shown)
    elif call.function == "avg":
        return _mean_of_longs(states[1], counts, shown).cast(call.type)
    else:
        result, too_large = _long_sum(call, states[1], shown)
    if call.overflow == "error":
        overflow(too_large)
    return result


def _long_sum(call: AggregateCall, limbs: wide_sums.Limbs, shown: Flags) -> tuple[Any, Flags]:
    values, fits = wide_sums.to_long(limbs)
    is_null = ~shown if call.overflow == "wrap" else ~shown | ~fits
    return pa.array(values, mask=is_null).cast(call.type), shown & ~fits


def _mean_of_longs(limbs: wide_sums.Limbs, counts: Ints, shown: Flags) -> Any:
    """Return the means, each the double nearest to the exact one."""
    sums, fits = wide_sums.to_long(limbs)
    divisors = np.where(shown, counts, 1)
    means = sums.astype(np.float64) / divisors
    inexact = np.flatnonzero(shown & ~(fits & (np.abs(sums) <= _EXACT_DOUBLE) & (divisors <= _EXACT_DOUBLE)))
    if len(inexact):
        exact = wide_sums.to_python(tuple(limb[inexact] for limb in limbs))
        means[inexact] = [total / divisor for total, divisor in zip(exact, counts[inexact].tolist(), strict=True)]
    return pa.array(means, mask=~shown)


def _decimal_result(
    call: AggregateCall, scale: int, limbs: wide_sums.Limbs, divisors: Ints, shown: Flags
) -> tuple[Any, Flags]:
    """Return the sums divided by integers, rounded half up to the result's scale, and which are too large."""
    added = call.type.scale - scale
    if call.function == "sum" and added == 0:
        return wide_sums.to_decimals(limbs, shown, call.type)
    sums, fits = wide_sums.to_long(limbs)
    factor, divisors = 10 ** max(added, 0), np.where(shown, divisors, 1)
    if added >= 0 and factor < _MAX_SCALED and _is_small(sums, fits | ~shown, factor, divisors):
        rounded = (2 * np.abs(sums) * factor + divisors) // (2 * divisors) * np.sign(sums)
        return wide_sums.to_decimals(wide_sums.of_longs(rounded), shown, call.type)
    cut = 10 ** max(-added, 0)
    pairs = zip(wide_sums.to_python(limbs), divisors.tolist(), strict=True)
    numbers = [_half_up(total * factor, divisor * cut) for total, divisor in pairs]
    return wide_sums.decimals_of_python(numbers, shown, call.type)


def _is_small(sums: Ints, fits: Flags, factor: int, divisors: Ints) -> bool:
    """Whether rounding needs no more than 63 bits."""
    largest = max(int(sums.max(initial=0)), -int(sums.min(initial=0)))
    return bool(fits.all()) and 2 * largest * factor + int(divisors.max(initial=0)) < _MAX_SCALED


def _half_up(total: int, divisor: int) -> int:
    size = (2 * abs(total) + divisor) // (2 * divisor)
    return size if total >= 0 else -size


def _double_result(state: Arrays, divisors: Ints, shown: Flags) -> Any:
    units, nans, highs, lows = state
    results = np.zeros(len(shown), dtype=np.float64)
    for n in np.flatnonzero(shown):
        results[n] = rounded_ratio(units[n], int(divisors[n]))
    results[highs > 0] = math.inf
    results[lows > 0] = -math.inf
    results[(nans > 0) | ((highs > 0) & (lows > 0))] = math.nan
    return pa.array(results, mask=~shown)
