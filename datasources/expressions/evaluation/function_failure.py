"""The error of a user's function; the evaluator adds the expression to it."""

from __future__ import annotations


class FunctionFailure(Exception):
    """A function raised an error, or its result does not have the declared type and length.

    ``row`` is the failing row of the batch; -1 = none in particular.
    """

    def __init__(self, reason: str, *, row: int = -1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.row = row
