"""Arithmetic and comparison on integers, floating-point numbers and decimals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from datasources.expressions.vectors.comparison import compare
from datasources.expressions.vectors.kernel_call import Kernel, KernelCall, KernelResult
from datasources.expressions.vectors.vectors import EvalError, EvalErrors, Mask, Values, objects

_SAFE_PRODUCT: Final = float(2**62)
_LONG_BITS: Final = 64
_MIN: Final = -(2**63)


def errors_where(mask: Mask, error: int) -> EvalErrors | None:
    """Return the error for the rows of the mask; None if there are none."""
    return np.where(mask, np.uint8(error), np.uint8(0)) if mask.any() else None


def in_range(values: Values, bits: int) -> Mask:
    """Tell which 64-bit integers fit a signed integer of so many bits."""
    limit = 1 << (bits - 1)
    return np.asarray((values >= -limit) & (values <= limit - 1))


def multiply_exact(left: Values, right: Values) -> tuple[Values, Mask]:
    """Multiply 64-bit integers; the mask is true where the product overflows (its value is then 0)."""
    with np.errstate(over="ignore"):
        product = left * right
    estimate = np.abs(left.astype(np.float64) * right.astype(np.float64))
    overflow = np.zeros(len(product), dtype=np.bool_)
    for row in np.flatnonzero(estimate >= _SAFE_PRODUCT):
        overflow[row] = not _MIN <= int(left[row]) * int(right[row]) < -_MIN
    return np.where(overflow, 0, product), overflow


def _narrowed(values: Values, overflow: Mask, params: tuple[Any, ...]) -> KernelResult:
    bits, error = params
    if bits < _LONG_BITS:
        overflow = overflow | ~in_range(values, bits)
    return KernelResult(values, errors_where(overflow, error))


def _int_add(call: KernelCall) -> KernelResult:
    left, right = call.arguments
    with np.errstate(over="ignore"):
        values = left + right
    return _narrowed(values, ((left ^ values) & (right ^ values)) < 0, call.params)


def _int_subtract(call: KernelCall) -> KernelResult:
    left, right = call.arguments
    with np.errstate(over="ignore"):
        values = left - right
    return _narrowed(values, ((left ^ right) & (left ^ values)) < 0, call.params)


def _int_multiply(call: KernelCall) -> KernelResult:
    values, overflow = multiply_exact(call.arguments[0], call.arguments[1])
    return _narrowed(values, overflow, call.params)


def _int_negate(call: KernelCall) -> KernelResult:
    bits, error = call.params
    values = call.arguments[0]
    overflow = values == -(1 << (bits - 1))
    return KernelResult(-np.where(overflow, 0, values), errors_where(overflow, error))


def _int_abs(call: KernelCall) -> KernelResult:
    bits, error = call.params
    values = call.arguments[0]
    overflow = values == -(1 << (bits - 1))
    return KernelResult(np.abs(np.where(overflow, 0, values)), errors_where(overflow, error))


def _int_quotient(call: KernelCall) -> KernelResult:
    """`div`: truncates towards zero; the only overflow is the smallest BIGINT by -1."""
    (error,) = call.params
    right, left = call.arguments
    zero, negation = right == 0, right == -1
    divisor = np.where(zero | negation, 1, right)
    floor = left // divisor
    values = floor + ((left - floor * divisor != 0) & ((left < 0) != (divisor < 0)))
    overflow = negation & (left == _MIN)
    values = np.where(negation, -np.where(overflow, 0, values), values)
    errors = np.where(zero, np.uint8(EvalError.DIVIDE_BY_ZERO), np.where(overflow, np.uint8(error), np.uint8(0)))
    return KernelResult(values, errors if errors.any() else None)


def _int_remainder(call: KernelCall) -> KernelResult:
    """`%`: has the sign of the dividend."""
    right, left = call.arguments
    zero = right == 0
    divisor = np.where(zero | (right == -1), 1, right)
    return KernelResult(np.fmod(left, divisor), errors_where(zero, EvalError.DIVIDE_BY_ZERO))


def _floating(operation: Callable[[Values, Values], Values]) -> Kernel:
    def kernel(call: KernelCall) -> KernelResult:
        with np.errstate(all="ignore"):
            return KernelResult(operation(call.arguments[0], call.arguments[1]))

    return kernel


def _float_divide(call: KernelCall) -> KernelResult:
    right, left = call.arguments
    zero = right == 0
    with np.errstate(all="ignore"):
        return KernelResult(left / np.where(zero, 1, right), errors_where(zero, EvalError.DIVIDE_BY_ZERO))


def _float_negate(call: KernelCall) -> KernelResult:
    return KernelResult(-call.arguments[0])


def _float_abs(call: KernelCall) -> KernelResult:
    return KernelResult(np.abs(call.arguments[0]))


def _decimal_add(call: KernelCall) -> KernelResult:
    left_factor, right_factor = call.params
    return KernelResult(call.arguments[0] * left_factor + call.arguments[1] * right_factor)


def _decimal_multiply(call: KernelCall) -> KernelResult:
    return KernelResult(call.arguments[0] * call.arguments[1])


def _decimal_negate(call: KernelCall) -> KernelResult:
    return KernelResult(objects([-value for value in call.arguments[0]]))


def _compare(call: KernelCall) -> KernelResult:
    return KernelResult(compare(call.params[0], call.arguments[0], call.arguments[1]))


def _negate_boolean(call: KernelCall) -> KernelResult:
    return KernelResult(~call.arguments[0])


KERNELS: Final[dict[str, Kernel]] = {
    "int_add": _int_add,
    "int_subtract": _int_subtract,
    "int_multiply": _int_multiply,
    "int_negate": _int_negate,
    "int_abs": _int_abs,
    "int_quotient": _int_quotient,
    "int_remainder": _int_remainder,
    "float_add": _floating(np.add),
    "float_subtract": _floating(np.subtract),
    "float_multiply": _floating(np.multiply),
    "float_divide": _float_divide,
    "float_negate": _float_negate,
    "float_abs": _float_abs,
    "decimal_add": _decimal_add,
    "decimal_multiply": _decimal_multiply,
    "decimal_negate": _decimal_negate,
    "compare": _compare,
    "not": _negate_boolean,
}
