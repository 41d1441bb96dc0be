"""For which expressions the reader gives a value, or Spark's own error, for every row.

A condition that is pushed down and stays above as well only has to be right where it is evaluated. An expression that
Spark does not evaluate any more has to be right everywhere: also for values at which the reader stops because it does
not reproduce what Spark does.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final

import numpy as np

from datasources.expressions.evaluation.logic_nodes import (
    Case,
    Coalesce,
    Conjunction,
    Extreme,
    InList,
    IsNull,
    NullSafeEqual,
)
from datasources.expressions.evaluation.nodes import Apply, Constant, FieldPath, Node, children_of
from datasources.expressions.vectors.vectors import EvalError, is_reader_limit

_TOTAL: Final = frozenset(
    {"float_add", "float_subtract", "float_multiply", "float_negate", "float_abs", "decimal_negate", "compare", "not"}
    | {"int_to_float", "to_double", "decimal_to_double", "int_to_string", "boolean_to_string", "length", "substring"}
    | {"trim", "concat", "scale_down", "seconds_as_double", "identity", "wall_clock_to_string"}
)
_FAILS_AS_SPARK: Final = frozenset(
    {"int_add", "int_subtract", "int_multiply", "int_negate", "int_abs", "int_quotient", "int_remainder"}
    | {"float_divide", "decimal_add", "decimal_multiply", "int_to_int", "float_to_int", "int_to_decimal"}
    | {"decimal_to_decimal", "decimal_to_int", "string_to_int", "shift", "scale_up"}
)
_WITHOUT_OWN_ERRORS: Final = (FieldPath, Constant, Conjunction, IsNull, NullSafeEqual, InList, Case, Coalesce, Extreme)
"""Nodes that fail only where one of their operands does."""


class Certainty(IntEnum):
    """What a row's evaluation may come to."""

    TOTAL = 0
    """A value, for every row."""
    FAILS_AS_SPARK = 1
    """A value, or an error where Spark raises one."""
    LIMITED = 2
    """There may be rows for which Spark has a value and the reader has none."""


def certainty(plan: Node) -> Certainty:
    """Return the certainty of an expression; LIMITED for what is not known to be better."""
    return max(map(_own, _walk(plan)))


def _own(node: Node) -> Certainty:
    if isinstance(node, _WITHOUT_OWN_ERRORS):
        return Certainty.TOTAL
    if not isinstance(node, Apply) or any(
        isinstance(p, EvalError) and is_reader_limit(np.array(p, np.uint8)) for p in node.params
    ):
        return Certainty.LIMITED
    if node.kernel in _TOTAL:
        return Certainty.TOTAL
    if node.kernel not in _FAILS_AS_SPARK:
        return Certainty.LIMITED
    return Certainty.TOTAL if node.errors_to_null else Certainty.FAILS_AS_SPARK


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children_of(node):
        yield from _walk(child)
