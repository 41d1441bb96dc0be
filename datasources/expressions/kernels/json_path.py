"""`get_json_object` for paths of names: the reading of Spark's parser where it can be reproduced.

Texts, whole numbers, booleans and null come out as Spark gives them; what follows the first value is not read.
Malformed text is NULL, as in Spark, unless it holds a single quote: Spark's parser takes those for quotes too.
That, a name that stands twice, and what Spark would write anew (fractions, objects, arrays) are limits of the
reader.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

import numpy as np

from datasources.expressions.vectors.kernel_call import Kernel, KernelCall, KernelResult
from datasources.expressions.vectors.vectors import EvalError, objects

_MAX_DIGITS: Final = 1000
_MAX_DEPTH: Final = 500
_BLANKS: Final = " \t\r\n"
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Written(str):
    """Text of a number that Spark would write in another way than the user did."""

    __slots__ = ()


class _NotJson(ValueError):
    """A constant that is JSON to Python only (NaN, Infinity)."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; a name that stands twice has no value that could be given exactly."""
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        result.update((name, EvalError.JSON_BEYOND_LIMITS) for name, count in counts.items() if count > 1)
    return result


def _refuse_constant(name: str) -> Any:
    raise _NotJson(name)


def _integer(text: str) -> Any:
    return int(text) if len(text) <= _MAX_DIGITS else EvalError.JSON_BEYOND_LIMITS


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_float=_Written,
    parse_int=_integer,
    parse_constant=_refuse_constant,
    strict=False,
)


def _get(call: KernelCall) -> KernelResult:
    path: tuple[str, ...] = call.params
    values: list[Any] = [""] * call.rows
    nulls = np.zeros(call.rows, dtype=np.bool_)
    errors = np.zeros(call.rows, dtype=np.uint8)
    for row in np.flatnonzero(call.known_mask()):
        found = _lookup(call.arguments[0][row], path)
        if found is None:
            nulls[row] = True
        elif isinstance(found, EvalError):
            errors[row] = found
        else:
            values[row] = found
    return KernelResult(objects(values), errors if errors.any() else None, nulls if nulls.any() else None)


def _lookup(text: str, path: tuple[str, ...]) -> str | EvalError | None:
    value = _decoded(text)
    for name in path:
        if isinstance(value, EvalError):
            return value
        value = value.get(name) if isinstance(value, dict) else None
    return _as_text(value)


def _decoded(text: str) -> Any:
    if text.count("{") + text.count("[") > _MAX_DEPTH:
        return EvalError.JSON_BEYOND_LIMITS
    try:
        return _DECODER.raw_decode(text.lstrip(_BLANKS))[0]
    except ValueError:
        return EvalError.JSON_BEYOND_LIMITS if "'" in text else None


def _as_text(value: Any) -> str | EvalError | None:
    if value is None or isinstance(value, EvalError):
        return value
    if isinstance(value, (dict, list, _Written)):
        return EvalError.JSON_NOT_SCALAR
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return EvalError.JSON_BEYOND_LIMITS if _LONE_SURROGATE.search(text) else text


KERNELS: Final[dict[str, Kernel]] = {"get_json_object": _get}
