"""Calls of the user's own functions of Arrow arrays.

A function gets whole columns, nulls included, in the Arrow types that Spark has for them, and gives one back. It is
called for all rows of a batch, also for those whose branch of a CASE is not taken, as Spark does it with its Python
functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from datasources.errors import ExpressionError
from datasources.expressions.evaluation.function_failure import FunctionFailure
from datasources.expressions.evaluation.nodes import Frame, Node
from datasources.expressions.vectors.vectors import EvalErrors, Vector, from_arrow, merge_errors, to_arrow


class ReaderFunction(Protocol):
    """A function that was registered under a name; `ArrowFunction` is one."""

    @property
    def arrow_type(self) -> pa.DataType:
        """The type of its values."""
        ...

    @property
    def is_deterministic(self) -> bool:
        """Whether its value depends on its arguments alone."""
        ...

    def evaluate(self, arguments: Sequence[pa.Array], rows: int) -> pa.Array:
        """Return `rows` values of `arrow_type`.

        Raises:
            ExpressionError: the function raised an error, or its result does not have the declared type and length.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A call of a user's function: all arguments are evaluated, an error of an argument is the error of the row."""

    function: ReaderFunction
    operands: tuple[Node, ...]
    type: pa.DataType

    def evaluate(self, frame: Frame) -> Vector:
        """Call the function once for the batch.

        Raises:
            FunctionFailure: It failed for the batch; the first failing row is named if there is one.
        """
        errors: EvalErrors | None = None
        vectors = [operand.evaluate(frame) for operand in self.operands]
        for vector in vectors:
            errors = merge_errors(errors, vector.errors)
        arguments = [_array(v, operand.type, errors) for v, operand in zip(vectors, self.operands, strict=True)]
        result = self._result(arguments, frame.rows) if frame.rows else pa.array([], self.type)
        found = from_arrow(result, self.type)
        return Vector(values=found.values, valid=found.valid, errors=errors)

    def _result(self, arguments: Sequence[pa.Array], rows: int) -> pa.Array:
        try:
            return self.function.evaluate(arguments, rows).cast(self.type)
        except ExpressionError as error:
            row = self._failing_row(arguments, rows)
            raise FunctionFailure(error.message.rstrip("."), row=row) from error

    def _failing_row(self, arguments: Sequence[pa.Array], rows: int) -> int:
        """Return the first row for which the function fails alone, by bisection; -1 if no single row fails."""
        first, count = 0, rows
        while count > 1:
            half = count // 2
            if self._fails(arguments, first, half):
                count = half
            elif self._fails(arguments, first + half, count - half):
                first, count = first + half, count - half
            else:
                return -1
        return first

    def _fails(self, arguments: Sequence[pa.Array], first: int, count: int) -> bool:
        try:
            self.function.evaluate([argument.slice(first, count) for argument in arguments], count)
        except ExpressionError:
            return True
        return False


def _array(vector: Vector, data_type: pa.DataType, errors: EvalErrors | None) -> pa.Array:
    """Return an argument as an Arrow array; NULL where an argument has an error."""
    if errors is not None:
        vector = Vector(values=vector.values, valid=vector.valid_mask() & np.asarray(errors == 0))
    return to_arrow(vector, data_type)
