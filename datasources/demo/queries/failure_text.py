"""The error of a failed query of the demo, in one line."""

from __future__ import annotations


def first_line(failure: BaseException) -> str:
    """Return the first informative line."""
    return next((line.strip() for line in str(failure).splitlines() if line.strip()), type(failure).__name__)
