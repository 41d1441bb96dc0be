"""The nodes of a compiled expression: small and picklable, they evaluate whole batches.

Theory of operation. `Apply` is a strict function: its arguments are evaluated from left to right, a NULL stops the
evaluation (as in Spark, later arguments are not evaluated), and an error of an argument is the error of the row.
Functions are referenced by name and live in `kernels`; nodes hold no code, so their pickles are small and load without
a parser. The nodes of `logic_nodes` are the functions that are not strict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from datasources.arrow_types import canonical, spark_name
from datasources.errors import InternalError
from datasources.expressions.kernels import KERNELS
from datasources.expressions.vectors.kernel_call import KernelCall, KernelResult
from datasources.expressions.vectors.vectors import (
    EvalError,
    EvalErrors,
    Mask,
    Values,
    Vector,
    from_arrow,
    is_reader_limit,
    merge_errors,
    objects,
)


@dataclass(slots=True)
class Frame:
    """One batch under evaluation, with the columns that were already converted."""

    batch: pa.RecordBatch
    vectors: dict[tuple[str, ...], Vector] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows of the batch."""
        return int(self.batch.num_rows)


class Node(Protocol):
    """A typed expression that evaluates to one value per row."""

    @property
    def type(self) -> pa.DataType:
        """The type that Spark's analyser gives."""

    def evaluate(self, frame: Frame) -> Vector:
        """Return the values, nulls and errors of all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPath:
    """A column, or a field inside structs; a null struct has null fields."""

    path: tuple[str, ...]
    type: pa.DataType

    def evaluate(self, frame: Frame) -> Vector:
        """Read the field from the batch."""
        vector = frame.vectors.get(self.path)
        if vector is None:
            vector = from_arrow(self.array(frame.batch), self.type)
            frame.vectors[self.path] = vector
        return vector

    def array(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the field as an Arrow array of the declared type.

        Raises:
            InternalError: The batch does not have the schema that the expression was compiled for.
        """
        index = batch.schema.get_field_index(self.path[0])
        found = batch.column(index) if index >= 0 else None
        for name in self.path[1:]:
            if found is None or not pa.types.is_struct(found.type):
                break
            inner = found.type.get_field_index(name)
            found = found.flatten()[inner] if inner >= 0 else None
        if found is None or canonical(found.type) != self.type:
            raise InternalError(
                f"the batch has no column {'.'.join(self.path)} of type {spark_name(self.type)}, "
                "which the expression was compiled for"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A literal; ``value`` is laid out as in a vector, None is NULL."""

    value: Any
    type: pa.DataType

    def evaluate(self, frame: Frame) -> Vector:
        """Repeat the value for every row."""
        if self.value is None:
            return Vector(values=_filler(self.type, frame.rows), valid=np.zeros(frame.rows, dtype=np.bool_))
        if isinstance(self.value, str) or pa.types.is_decimal(self.type):
            return Vector(values=objects([self.value] * frame.rows))
        return Vector(values=np.full(frame.rows, self.value, dtype=_dtype(self.type)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """A strict function applied to its arguments.

    Attributes:
        kernel: Name in `kernels.KERNELS`.
        errors_to_null: The function's own errors become NULL (try_..., or Spark without ANSI mode); limits of
            the reader remain errors.
    """

    kernel: str
    arguments: tuple[Node, ...]
    type: pa.DataType
    params: tuple[Any, ...] = ()
    errors_to_null: bool = False

    def evaluate(self, frame: Frame) -> Vector:
        """Evaluate the arguments from left to right, then the function."""
        valid: Mask | None = None
        errors: EvalErrors | None = None
        values: list[Values] = []
        for argument in self.arguments:
            vector = argument.evaluate(frame)
            values.append(vector.values)
            errors = merge_errors(errors, vector.errors, valid)
            if vector.valid is not None:
                valid = vector.valid if valid is None else valid & vector.valid
        known = _known(valid, errors)
        call = KernelCall(arguments=values, params=self.params, rows=frame.rows, known=known)
        return self._with_own(KERNELS[self.kernel](call), valid, errors, known)

    def _with_own(
        self, result: KernelResult, valid: Mask | None, errors: EvalErrors | None, known: Mask | None
    ) -> Vector:
        own, nulls = result.errors, result.nulls
        if own is not None and self.errors_to_null:
            forgiven = (own != EvalError.NONE) & ~is_reader_limit(own)
            nulls = forgiven if nulls is None else nulls | forgiven
            own = np.where(forgiven, np.uint8(0), own)
        if nulls is not None and nulls.any():
            valid = ~nulls if valid is None else valid & ~nulls
        return Vector(values=result.values, valid=valid, errors=merge_errors(errors, own, known))


def children_of(node: Node) -> tuple[Node, ...]:
    """Return the direct operands of a node."""
    if isinstance(node, Apply):
        return node.arguments
    operands: tuple[Node, ...] = getattr(node, "operands", ())
    return operands


def _known(valid: Mask | None, errors: EvalErrors | None) -> Mask | None:
    if errors is None:
        return valid
    clean = np.asarray(errors == 0)
    return clean if valid is None else valid & clean


def _dtype(data_type: pa.DataType) -> np.dtype[Any]:
    if pa.types.is_boolean(data_type) or pa.types.is_floating(data_type):
        found: np.dtype[Any] = np.dtype(data_type.to_pandas_dtype())
        return found
    return np.dtype(np.int64)


def _filler(data_type: pa.DataType, rows: int) -> Values:
    if pa.types.is_string(data_type):
        return objects([""] * rows)
    if pa.types.is_decimal(data_type):
        return objects([0] * rows)
    return np.zeros(rows, dtype=_dtype(data_type))
