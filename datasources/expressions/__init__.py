"""Spark SQL expressions evaluated inside a source reader, on Arrow batches, with Spark's own results.

The functions of `compiler.compile` run on the driver and are imported where they are called, because they load a
parser; the `CompiledExpression` that they return is pickled into readers and evaluated there.
"""

from __future__ import annotations

from datasources.expressions.evaluation.compiled_expression import (
    CompiledExpression,
    Evaluator,
    ExpressionEvaluationError,
)

__all__ = ["CompiledExpression", "Evaluator", "ExpressionEvaluationError"]
