"""Which forms of a test `make test` runs: at least one of each rule; further ones are marked `full`.

Those marked run in `make test-all`, and in slices of it (`slices.py`), some of them in CI each day. `long` are runs of
many seconds, of several queries or processes: `make test-long` runs them, and CI for every change.
"""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["full", "full_cases", "long", "long_cases"]


def full(*values: Any) -> list[Any]:
    """Return values of a parameter that only the exhaustive run has: `["a", *full("b", "c")]`."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]


def full_cases(*cases: tuple[Any, ...]) -> list[Any]:
    """Return values of several parameters that only the exhaustive run has."""
    return [pytest.param(*case, marks=pytest.mark.full) for case in cases]


def long(*values: Any) -> list[Any]:
    """Return values of a parameter whose tests are long."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]


def long_cases(*cases: tuple[Any, ...]) -> list[Any]:
    """Return values of several parameters whose tests are long."""
    return [pytest.param(*case, marks=pytest.mark.long) for case in cases]
