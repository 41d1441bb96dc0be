"""Functions of text; positions count characters (code points), as in Spark."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from datasources.expressions.vectors.kernel_call import Kernel, KernelCall, KernelResult
from datasources.expressions.vectors.vectors import EvalError, objects


def _mapped(function: Callable[[str], str]) -> Kernel:
    """Map the case of ASCII text; beyond ASCII the result depends on the version of Unicode."""

    def kernel(call: KernelCall) -> KernelResult:
        texts = call.arguments[0]
        errors = np.fromiter(
            (0 if text.isascii() else EvalError.CASE_MAPPING for text in texts), dtype=np.uint8, count=call.rows
        )
        return KernelResult(objects([function(text) for text in texts]), errors if errors.any() else None)

    return kernel


def _length(call: KernelCall) -> KernelResult:
    return KernelResult(np.fromiter((len(text) for text in call.arguments[0]), dtype=np.int64, count=call.rows))


def _substring(call: KernelCall) -> KernelResult:
    position, length = call.params
    return KernelResult(objects([_part(text, position, length) for text in call.arguments[0]]))


def _part(text: str, position: int, length: int | None) -> str:
    start = position - 1 if position > 0 else len(text) + position
    end = len(text) if length is None else start + length
    return text[max(start, 0) : max(end, 0)]


def _trimmed(call: KernelCall) -> KernelResult:
    side = call.params[0]
    strip = {"both": str.strip, "left": str.lstrip, "right": str.rstrip}[side]
    return KernelResult(objects([strip(text, " ") for text in call.arguments[0]]))


def _concatenation(call: KernelCall) -> KernelResult:
    return KernelResult(objects(["".join(parts) for parts in zip(*call.arguments, strict=True)]))


def _split_part(call: KernelCall) -> KernelResult:
    delimiter, number = call.params
    return KernelResult(objects([_nth(text.split(delimiter), number) for text in call.arguments[0]]))


def _nth(parts: list[str], number: int) -> str:
    if abs(number) > len(parts):
        return ""
    return parts[number - 1 if number > 0 else number]


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _matches(call: KernelCall) -> KernelResult:
    search = _compiled(call.params[0]).search
    found = (search(text) is not None for text in call.arguments[0])
    return KernelResult(np.fromiter(found, dtype=np.bool_, count=call.rows))


def _extracted(call: KernelCall) -> KernelResult:
    pattern, group = call.params
    search = _compiled(pattern).search
    return KernelResult(objects([_group(search(text), group) for text in call.arguments[0]]))


def _group(match: re.Match[str] | None, group: int) -> str:
    return "" if match is None else match[group] or ""


KERNELS: Final[dict[str, Kernel]] = {
    "upper": _mapped(str.upper),
    "lower": _mapped(str.lower),
    "length": _length,
    "substring": _substring,
    "trim": _trimmed,
    "concat": _concatenation,
    "split_part": _split_part,
    "matches": _matches,
    "regexp_extract": _extracted,
}
