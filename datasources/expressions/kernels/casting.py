"""Conversions between numbers, text and booleans as Spark's CAST makes them."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.expressions.kernels.arithmetic import errors_where, in_range
from datasources.expressions.vectors.kernel_call import Kernel, KernelCall, KernelResult
from datasources.expressions.vectors.vectors import EvalError, Mask, objects
from datasources.grammar.timestamp_text import SPARK_BLANKS

_MORE_THAN_LONG: Final = 20
_DAY_US: Final = 86_400_000_000
_YEAR_0_US: Final = -719_528 * _DAY_US
_YEAR_10000_US: Final = 2_932_897 * _DAY_US
_LAST_PLAIN_YEAR: Final = 9999
"""Later years have a sign in texts."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_WITH_FRACTION: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]*)")


def _int_to_int(call: KernelCall) -> KernelResult:
    bits, error = call.params
    values = call.arguments[0]
    return KernelResult(values, errors_where(~in_range(values, bits), error))


def _int_to_float(call: KernelCall) -> KernelResult:
    return KernelResult(call.arguments[0].astype(np.float32))


def _to_double(call: KernelCall) -> KernelResult:
    return KernelResult(call.arguments[0].astype(np.float64))


def _float_to_int(call: KernelCall) -> KernelResult:
    """Truncate; a number counts as too large only if its floor exceeds the type's maximum as a double."""
    bits, error = call.params
    values = call.arguments[0].astype(np.float64)
    limit = 1 << (bits - 1)
    low, high = float(-limit), float(limit - 1)
    with np.errstate(invalid="ignore"):
        fits = (np.floor(values) <= high) & (np.ceil(values) >= low)
    whole = np.trunc(np.where(fits, values, 0.0))
    saturated = whole >= float(2**63)
    numbers = np.where(saturated, 0.0, whole).astype(np.int64)
    numbers = np.where(saturated, np.int64(2**63 - 1), numbers)
    return KernelResult(numbers, errors_where(~fits, error))


def _int_to_decimal(call: KernelCall) -> KernelResult:
    precision, scale = call.params
    limit, factor = 10**precision, 10**scale
    return _checked_objects([int(value) * factor for value in call.arguments[0]], limit)


def _decimal_to_decimal(call: KernelCall) -> KernelResult:
    from_scale, precision, scale = call.params
    limit = 10**precision
    if scale >= from_scale:
        factor = 10 ** (scale - from_scale)
        return _checked_objects([value * factor for value in call.arguments[0]], limit)
    divisor = 10 ** (from_scale - scale)
    return _checked_objects([_half_up(value, divisor) for value in call.arguments[0]], limit)


def _half_up(value: int, divisor: int) -> int:
    magnitude = (2 * abs(value) + divisor) // (2 * divisor)
    return magnitude if value >= 0 else -magnitude


def _checked_objects(values: list[int], limit: int) -> KernelResult:
    over = np.fromiter((abs(value) >= limit for value in values), dtype=np.bool_, count=len(values))
    return KernelResult(objects(values), errors_where(over, EvalError.DECIMAL_OVERFLOW))


def _decimal_to_double(call: KernelCall) -> KernelResult:
    divisor = 10 ** call.params[0]
    values = [int(value) / divisor for value in call.arguments[0]]
    return KernelResult(np.array(values, dtype=np.float64))


def _decimal_to_int(call: KernelCall) -> KernelResult:
    scale, bits, error = call.params
    divisor, limit = 10**scale, 1 << (bits - 1)
    whole = [abs(value) // divisor * (1 if value >= 0 else -1) for value in call.arguments[0]]
    fits: Mask = np.fromiter((-limit <= value < limit for value in whole), dtype=np.bool_, count=len(whole))
    numbers = [value if fit else 0 for value, fit in zip(whole, fits, strict=True)]
    return KernelResult(np.array(numbers, dtype=np.int64), errors_where(~fits, error))


def _string_to_int(call: KernelCall) -> KernelResult:
    bits, fraction_allowed = call.params
    pattern = _WITH_FRACTION if fraction_allowed else _WHOLE
    limit = 1 << (bits - 1)
    numbers = np.zeros(call.rows, dtype=np.int64)
    malformed = np.zeros(call.rows, dtype=np.bool_)
    for row, text in enumerate(call.arguments[0]):
        stripped = text.strip(SPARK_BLANKS)
        number = _integer(stripped) if pattern.fullmatch(stripped) else None
        if number is None or not -limit <= number < limit:
            malformed[row] = True
        else:
            numbers[row] = number
    return KernelResult(numbers, errors_where(malformed, EvalError.MALFORMED_NUMBER))


def _integer(text: str) -> int | None:
    digits = text.partition(".")[0]
    unsigned = digits.lstrip("+-").lstrip("0")
    if len(unsigned) > _MORE_THAN_LONG:
        return None
    return -int(unsigned or "0") if digits.startswith("-") else int(unsigned or "0")


def _int_to_string(call: KernelCall) -> KernelResult:
    return KernelResult(objects([str(value) for value in call.arguments[0].tolist()]))


def _boolean_to_string(call: KernelCall) -> KernelResult:
    names: list[Any] = ["true" if value else "false" for value in call.arguments[0]]
    return KernelResult(objects(names))


def _wall_clock_to_string(call: KernelCall) -> KernelResult:
    """Return `yyyy-MM-dd HH:mm:ss` and the fraction without zeros at its end."""
    values = call.arguments[0]
    is_common = (values >= _YEAR_0_US) & (values < _YEAR_10000_US)
    moments = pa.array(np.where(is_common, values, 0), pa.timestamp("us"))
    texts = pc.utf8_rtrim(pc.utf8_rtrim(moments.cast(pa.string()), "0"), ".").to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(~is_common):
        texts[row] = _distant_wall_clock(int(values[row]))
    return KernelResult(texts)


def _distant_wall_clock(value_us: int) -> str:
    days, rest_us = divmod(value_us, _DAY_US)
    year, month, day = str(np.datetime64(days, "D")).lstrip("-").split("-")
    number = int(year)
    sign = "-" if str(np.datetime64(days, "D")).startswith("-") else "+" if number > _LAST_PLAIN_YEAR else ""
    clock = str(np.datetime64(rest_us, "us"))[11:].rstrip("0").rstrip(".")
    return f"{sign}{number:04}-{month}-{day} {clock}"


KERNELS: Final[dict[str, Kernel]] = {
    "int_to_int": _int_to_int,
    "int_to_float": _int_to_float,
    "to_double": _to_double,
    "float_to_int": _float_to_int,
    "int_to_decimal": _int_to_decimal,
    "decimal_to_decimal": _decimal_to_decimal,
    "decimal_to_double": _decimal_to_double,
    "decimal_to_int": _decimal_to_int,
    "string_to_int": _string_to_int,
    "int_to_string": _int_to_string,
    "boolean_to_string": _boolean_to_string,
    "wall_clock_to_string": _wall_clock_to_string,
}
