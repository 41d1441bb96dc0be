"""A compiled expression, and its evaluation on Arrow batches in a reader.

Theory of operation. `CompiledExpression` is built on the driver, pickled into the reader, and holds only the
typed plan: loading it needs neither the parser nor a session. `Evaluator` runs the plan on batches. The common
strategies, a time column or a time column minus a constant, read the Arrow buffer directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pyarrow as pa

from datasources.arrow_types import BIGINT, Path, is_time
from datasources.errors import ExpressionError
from datasources.expressions.evaluation.function_failure import FunctionFailure
from datasources.expressions.evaluation.nodes import Apply, FieldPath, Frame, Node
from datasources.expressions.vectors.vectors import EvalError, Mask, Vector, is_reader_limit, merge_errors, to_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CompiledExpression", "Evaluator", "ExpressionEvaluationError"]

Micros: TypeAlias = "NDArray[np.int64]"

_MILLISECOND_US: Final = 1_000

_REASONS: Final[dict[EvalError, str]] = {
    EvalError.OVERFLOW: "a number leaves the range of its type",
    EvalError.DIVIDE_BY_ZERO: "division by zero",
    EvalError.CAST_OVERFLOW: "a number does not fit the type that it is cast to",
    EvalError.MALFORMED_NUMBER: "a text that is cast to a number is none, or does not fit the type",
    EvalError.MALFORMED_TIMESTAMP: "a text that is read as a timestamp is none",
    EvalError.DECIMAL_OVERFLOW: "a number has too many digits for the decimal that it is cast to",
    EvalError.TIMESTAMP_OVERFLOW: "a moment leaves the range of timestamps",
    EvalError.SILENT_WRAP: (
        "a number leaves the range of its type, and without ANSI mode Spark would continue with a wrong number; "
        "set spark.sql.ansi.enabled, or bring the value into range"
    ),
    EvalError.ZONE_NEEDED: (
        "a text has no offset from UTC, and the session time zone is unknown or changes its offset; "
        "write the offset into the text, or set spark.sql.session.timeZone to UTC"
    ),
    EvalError.REGION_IN_TEXT: "a text names its time zone by region, which the reader does not resolve; use an offset",
    EvalError.CLOCK_IN_TEXT: "a text is a time without a date, which Spark completes from its clock",
    EvalError.JSON_NOT_SCALAR: (
        "the JSON path leads to a fraction, an object or an array, which Spark writes in its own form; "
        "the reader gives texts, whole numbers and booleans"
    ),
    EvalError.JSON_BEYOND_LIMITS: (
        "the JSON text has a repeated name, single quotes, text after the value, a lone surrogate, or is very deep "
        "or long; the reader does not reproduce how Spark reads that"
    ),
    EvalError.CASE_MAPPING: "upper and lower are exact for ASCII text only, and this text has other letters",
    EvalError.CANDIDATE_RANGE: "the epoch milliseconds leave the range of timestamps",
}


class ExpressionEvaluationError(ExpressionError):
    """An expression has no value for a record.

    Attributes:
        row_index: The record's row in its batch.
        is_reader_limit: Spark might have given a value that the reader cannot reproduce; otherwise Spark would
            have raised an error as well.
    """

    row_index: int = -1
    is_reader_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledExpression:
    """A Spark SQL expression that the reader evaluates with Spark's own result.

    Attributes:
        text: The user's text.
        purpose: The option that it came from; errors name it.
        plan: The typed plan.
        result_type: The type that Spark's analyser gives: timestamp[us, UTC] is TIMESTAMP, timestamp[us] is
            TIMESTAMP_NTZ.
        paths: The columns that the evaluation reads, or the fields inside of them, in order of appearance.
        constant_delay_ms: c of ``column - INTERVAL c`` in milliseconds, rounded up; 0 for a plain column;
            None for everything else.
        grain_us: Event times are floored to multiples of this: 1000 for watermark candidates, else 1.
    """

    text: str
    purpose: str
    plan: Node
    result_type: pa.DataType
    paths: tuple[Path, ...]
    constant_delay_ms: int | None
    grain_us: int = 1

    def evaluator(self) -> Evaluator:
        """Return an evaluator for batches that have the columns it needs."""
        return Evaluator(self)


class Evaluator:
    """Evaluates one expression on Arrow batches; cheap to create, without state between batches."""

    def __init__(self, expression: CompiledExpression) -> None:
        self._expression = expression
        self._plan = expression.plan

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value for every row, of the expression's result type.

        Raises:
            ExpressionEvaluationError: A row has an error; Spark would raise one there too, or the reader
                cannot give Spark's value. Never a NULL in place of an error.
        """
        if isinstance(self._plan, FieldPath):
            return self._plan.array(batch).cast(self._expression.result_type)
        return to_arrow(self._checked(self._vector(batch)), self._expression.result_type)

    def event_time_us(self, batch: pa.RecordBatch) -> tuple[Micros, Mask | None]:
        """Return event times in microseconds since the epoch, and which rows have one.

        TIMESTAMP_NTZ is its wall clock read as UTC; BIGINT is epoch milliseconds. The mask is None if every
        row has an event time; values at other rows are arbitrary. Values are floored to ``grain_us``.

        Raises:
            ExpressionEvaluationError: As `evaluate`, and for milliseconds beyond the range of timestamps.
        """
        vector = self._checked(self._vector(batch))
        values = vector.values
        if self._expression.result_type == BIGINT:
            values = self._from_milliseconds(vector)
        elif self._expression.grain_us > 1:
            values = _floored(values, self._expression.grain_us)
        return values, vector.valid

    def _from_milliseconds(self, vector: Vector) -> Micros:
        limit = (2**63 - 1) // _MILLISECOND_US
        outside = (vector.values > limit) | (vector.values < -limit)
        errors = np.where(outside & vector.valid_mask(), np.uint8(EvalError.CANDIDATE_RANGE), np.uint8(0))
        self._checked(Vector(values=vector.values, errors=merge_errors(None, errors)))
        return np.where(outside, 0, vector.values) * _MILLISECOND_US

    def _vector(self, batch: pa.RecordBatch) -> Vector:
        try:
            return self._plan.evaluate(Frame(batch))
        except FunctionFailure as failure:
            raise self._error(failure.row, failure.reason) from failure

    def _checked(self, vector: Vector) -> Vector:
        if vector.errors is None or not vector.errors.any():
            return vector
        row = int(np.flatnonzero(vector.errors)[0])
        error = self._error(row, _REASONS[EvalError(int(vector.errors[row]))])
        error.is_reader_limit = bool(is_reader_limit(vector.errors[row]))
        raise error

    def _error(self, row: int, reason: str) -> ExpressionEvaluationError:
        where = f"row {row} of the batch" if row >= 0 else "a batch"
        error = ExpressionEvaluationError(
            f"{self._expression.purpose}: `{self._expression.text}` has no value for {where}: {reason}."
        )
        error.row_index = row
        return error


def _floored(values: Micros, grain_us: int) -> Micros:
    """Floor to multiples; the few values below the smallest multiple give that multiple."""
    floor = values - values % grain_us
    wrapped = floor > values
    if not wrapped.any():
        return floor
    return np.where(wrapped, np.int64(-(2**63 // grain_us) * grain_us), floor)


def constant_delay_us(plan: Node) -> tuple[FieldPath, int] | None:
    """Return the column and its delay if the plan is a time column minus constants; else None."""
    base, delay_us = unshifted(plan)
    if isinstance(base, FieldPath) and is_time(base.type) and delay_us >= 0:
        return base, delay_us
    return None


def unshifted(plan: Node) -> tuple[Node, int]:
    """Return a plan without the constants that it subtracts at its end, and their sum, µs."""
    delay_us = 0
    while isinstance(plan, Apply) and plan.kernel == "shift":
        delay_us -= plan.params[0]
        plan = plan.arguments[0]
    return plan, delay_us
