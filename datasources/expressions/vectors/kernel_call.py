"""The arguments and the result of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasources.expressions.vectors.vectors import EvalErrors, Mask, Values


@dataclass(slots=True, kw_only=True)
class KernelCall:
    """The arguments of a kernel.

    ``known`` are the rows whose arguments are all present, None = all; others need no result.
    """

    arguments: list[Values]
    params: tuple[Any, ...]
    rows: int
    known: Mask | None

    def known_mask(self) -> Mask:
        """Return the mask of rows that need a result, as an array."""
        return np.ones(self.rows, dtype=np.bool_) if self.known is None else self.known


@dataclass(slots=True)
class KernelResult:
    """The result of a kernel: values, errors (None: none) and rows that are NULL although no argument is."""

    values: Values
    errors: EvalErrors | None = None
    nulls: Mask | None = None


Kernel = Callable[[KernelCall], KernelResult]
"""One function over columns."""
