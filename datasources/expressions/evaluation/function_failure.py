"""The error of a user's function, on its way to the evaluator, which knows the expression around it."""

from __future__ import annotations

__all__ = ["FunctionFailure"]


class FunctionFailure(Exception):
    """A function raised an error or returned something else than it was declared to return.

    Args:
        reason: what happened, a clause without a full stop.
        row: the row of the batch that it is about; -1 = it is not about one row.
    """

    def __init__(self, reason: str, *, row: int = -1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.row = row
