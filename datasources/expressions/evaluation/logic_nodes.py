"""Nodes that do not need every operand: AND, OR, IS NULL, <=>, IN, CASE, COALESCE, GREATEST and LEAST.

Spark's order of evaluation decides which operand's error counts: AND stops at false, OR at true, CASE and COALESCE
at the first branch that answers; GREATEST, LEAST and <=> look at all operands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from datasources.arrow_types import BOOLEAN
from datasources.expressions.evaluation.nodes import Frame, Node
from datasources.expressions.vectors.comparison import compare
from datasources.expressions.vectors.vectors import Mask, Vector, merge_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Conjunction:
    """AND (``decisive`` False) or OR (``decisive`` True) in three-valued logic.

    With ``chooses_rows`` it is the AND of a WHERE: Spark leaves a row out at the first part that is not true, and does
    not evaluate the next ones for it.
    """

    operands: tuple[Node, Node]
    decisive: bool
    chooses_rows: bool = False
    type: pa.DataType = BOOLEAN

    def evaluate(self, frame: Frame) -> Vector:
        """Let a decisive left side hide the right side."""
        left, right = (operand.evaluate(frame) for operand in self.operands)
        left_known, right_known = left.valid_mask(), right.valid_mask()
        decided_left = left_known & (left.values == self.decisive)
        decided = decided_left | (right_known & (right.values == self.decisive))
        values = decided if self.decisive else ~decided
        hidden = ~left_known | decided_left if self.chooses_rows else decided_left
        errors = merge_errors(left.errors, right.errors, ~hidden)
        return Vector(values=values, valid=decided | (left_known & right_known), errors=errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsNull:
    """IS NULL."""

    operands: tuple[Node]
    type: pa.DataType = BOOLEAN

    def evaluate(self, frame: Frame) -> Vector:
        """Return which rows are null; errors are kept."""
        vector = self.operands[0].evaluate(frame)
        return Vector(values=~vector.valid_mask(), errors=vector.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class NullSafeEqual:
    """The <=> of operands of one type: null equals null only."""

    operands: tuple[Node, Node]
    type: pa.DataType = BOOLEAN

    def evaluate(self, frame: Frame) -> Vector:
        """Compare all rows."""
        left, right = (operand.evaluate(frame) for operand in self.operands)
        left_known, right_known = left.valid_mask(), right.valid_mask()
        equal = compare("=", left.values, right.values)
        values = np.where(left_known & right_known, equal, left_known == right_known)
        return Vector(values=values, errors=merge_errors(left.errors, right.errors))


@dataclass(frozen=True, slots=True, kw_only=True)
class InList:
    """IN of a list of constants of the operand's type; ``has_null`` if NULL stands in the list."""

    operands: tuple[Node, ...]
    has_null: bool
    type: pa.DataType = BOOLEAN

    def evaluate(self, frame: Frame) -> Vector:
        """Look for each row's value in the list."""
        vector = self.operands[0].evaluate(frame)
        found: Mask = np.zeros(frame.rows, dtype=np.bool_)
        for element in self.operands[1:]:
            found |= compare("=", vector.values, element.evaluate(frame).values)
        valid = vector.valid_mask()
        return Vector(values=found, valid=valid & found if self.has_null else valid, errors=vector.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """CASE WHEN: operands are condition, value, condition, value, ..., and the ELSE value."""

    operands: tuple[Node, ...]
    type: pa.DataType

    def evaluate(self, frame: Frame) -> Vector:
        """Take for each row the first branch whose condition is true."""
        result = self.operands[-1].evaluate(frame)
        for index in range(len(self.operands) - 3, -1, -2):
            condition = self.operands[index].evaluate(frame)
            taken = condition.values if condition.valid is None else condition.values & condition.valid
            result = _choose(taken, self.operands[index + 1].evaluate(frame), result)
            result.errors = merge_errors(condition.errors, result.errors)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Coalesce:
    """The first operand that is not null."""

    operands: tuple[Node, ...]
    type: pa.DataType

    def evaluate(self, frame: Frame) -> Vector:
        """Evaluate the operands from left to right; an error stops the evaluation."""
        result = self.operands[0].evaluate(frame)
        for operand in self.operands[1:]:
            answered = result.valid_mask() | (result.error_codes() != 0)
            if answered.all():
                return result
            result = _choose(answered, result, operand.evaluate(frame))
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """GREATEST (``comparison`` '>') or LEAST ('<'): nulls are skipped, NaN is the largest number."""

    operands: tuple[Node, ...]
    comparison: str
    type: pa.DataType

    def evaluate(self, frame: Frame) -> Vector:
        """Fold the operands from left to right; the first of equals stays."""
        result = self.operands[0].evaluate(frame)
        for operand in self.operands[1:]:
            vector = operand.evaluate(frame)
            known = result.valid_mask()
            better = vector.valid_mask() & (~known | compare(self.comparison, vector.values, result.values))
            errors = merge_errors(result.errors, vector.errors)
            result = _choose(better, vector, result)
            result.errors = errors
        return result


def _choose(condition: Mask, chosen: Vector, other: Vector) -> Vector:
    """Take the rows of ``chosen`` where the condition holds, with their nulls and errors."""
    valid = None
    if chosen.valid is not None or other.valid is not None:
        valid = np.where(condition, chosen.valid_mask(), other.valid_mask())
    errors = None
    if chosen.errors is not None or other.errors is not None:
        errors = np.where(condition, chosen.error_codes(), other.error_codes())
    return Vector(values=np.where(condition, chosen.values, other.values), valid=valid, errors=errors)
