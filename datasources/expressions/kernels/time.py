"""Time on microseconds since the epoch: shifts, units, truncation, fields, text.

Where local time matters the kernel takes the session zone's fixed offset; zones with transitions never get
here. Division of negative numbers is by floor, so moments before 1970 behave as later ones do.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from datasources.durations import UNITS_US
from datasources.expressions.kernels.arithmetic import errors_where, multiply_exact
from datasources.expressions.kernels.datetime_casts import parse_timestamp
from datasources.expressions.kernels.datetime_columns import parse_columns
from datasources.expressions.vectors.kernel_call import Kernel, KernelCall, KernelResult
from datasources.expressions.vectors.vectors import EvalError, Mask, Values

__all__ = ["KERNELS"]

_DAY_US: Final = UNITS_US["DAY"]
_WEEK: Final = "WEEK"  # it begins on a Monday, the epoch is a Thursday
_THURSDAY_TO_MONDAY: Final = 3
_LARGEST: Final = 2**63 - 1
_SMALLEST: Final = -(2**63)


def shift(values: Values, delta_us: int) -> tuple[Values, Mask]:
    """Add a constant to timestamps; the mask is true where the sum overflows (its value wraps)."""
    low, high = (_SMALLEST - delta_us, _LARGEST) if delta_us < 0 else (_SMALLEST, _LARGEST - delta_us)
    with np.errstate(over="ignore"):
        return values + np.int64(delta_us), np.asarray((values < low) | (values > high))


def _shift(call: KernelCall) -> KernelResult:
    values, outside = shift(call.arguments[0], call.params[0])
    return KernelResult(values, errors_where(outside, EvalError.TIMESTAMP_OVERFLOW))


def _scale_up(call: KernelCall) -> KernelResult:
    factor, saturates = call.params
    values, overflow = multiply_exact(call.arguments[0], np.full(call.rows, factor, dtype=np.int64))
    if saturates:
        limit = np.where(call.arguments[0] < 0, np.int64(_SMALLEST), np.int64(_LARGEST))
        return KernelResult(np.where(overflow, limit, values))
    return KernelResult(values, errors_where(overflow, EvalError.TIMESTAMP_OVERFLOW))


def _scale_down(call: KernelCall) -> KernelResult:
    return KernelResult(call.arguments[0] // np.int64(call.params[0]))


def _seconds_as_double(call: KernelCall) -> KernelResult:
    return KernelResult(call.arguments[0].astype(np.float64) / 1_000_000.0)


def _identity(call: KernelCall) -> KernelResult:
    return KernelResult(call.arguments[0])


def _truncate(call: KernelCall) -> KernelResult:
    unit, offset_us = call.params
    local, outside = shift(call.arguments[0], offset_us)
    local = np.where(outside, 0, local)
    floor = _floor_to(local, unit)
    values, below = shift(floor, -offset_us)
    wrapped = floor > local
    return KernelResult(values, errors_where(outside | below | wrapped, EvalError.TIMESTAMP_OVERFLOW))


def _floor_to(local: Values, unit: str) -> Values:
    if unit in UNITS_US and unit != _WEEK:
        with np.errstate(over="ignore"):
            return np.asarray(local - local % UNITS_US[unit])
    days = local // _DAY_US
    days = days - (days + _THURSDAY_TO_MONDAY) % 7 if unit == _WEEK else _first_day(days, unit)
    with np.errstate(over="ignore"):
        return np.asarray(days * _DAY_US)


def _first_day(days: Values, unit: str) -> Values:
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    span = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]
    first = (months // span * span).astype("datetime64[M]")
    return first.astype("datetime64[D]").astype(np.int64)


def _field(call: KernelCall) -> KernelResult:
    """HOUR, MINUTE or SECOND: the rest within the larger unit, in units."""
    unit_us, modulus, offset_us = call.params
    local, outside = shift(call.arguments[0], offset_us)
    return KernelResult(local // unit_us % modulus, errors_where(outside, EvalError.TIMESTAMP_OVERFLOW))


def _date_to_moment(call: KernelCall) -> KernelResult:
    (offset_us,) = call.params
    midnight, overflow = multiply_exact(call.arguments[0], np.full(call.rows, _DAY_US, dtype=np.int64))
    values, outside = shift(midnight, -offset_us)
    return KernelResult(values, errors_where(overflow | outside, EvalError.TIMESTAMP_OVERFLOW))


def _moment_to_date(call: KernelCall) -> KernelResult:
    local, outside = shift(call.arguments[0], call.params[0])
    return KernelResult(local // _DAY_US, errors_where(outside, EvalError.TIMESTAMP_OVERFLOW))


def _text_to_moment(call: KernelCall) -> KernelResult:
    keeps_wall_clock, offset_us = call.params
    texts = call.arguments[0]
    values, done = parse_columns(texts, keeps_wall_clock=keeps_wall_clock, offset_us=offset_us)
    errors = np.zeros(call.rows, dtype=np.uint8)
    for row in np.flatnonzero(call.known_mask() & ~done):
        moment = parse_timestamp(texts[row], keeps_wall_clock=keeps_wall_clock, offset_us=offset_us)
        if isinstance(moment, EvalError):
            errors[row] = moment
        else:
            values[row] = moment
    return KernelResult(values, errors if errors.any() else None)


KERNELS: Final[dict[str, Kernel]] = {
    "shift": _shift,
    "scale_up": _scale_up,
    "scale_down": _scale_down,
    "seconds_as_double": _seconds_as_double,
    "identity": _identity,
    "truncate": _truncate,
    "field": _field,
    "date_to_moment": _date_to_moment,
    "moment_to_date": _moment_to_date,
    "text_to_moment": _text_to_moment,
}
