"""Spark SQL expressions evaluated inside a source reader, on Arrow batches, with Spark's own results.

`compile_expression`, `compile_watermark` and `compile_rowtime` run on the driver; the `CompiledExpression` that
they return is pickled into readers and evaluated there. The compiler and its parser load with the first call.
"""

from __future__ import annotations

import pyarrow as pa

from datasources.expressions.compiled import CompiledExpression, Evaluator, ExpressionEvaluationError

__all__ = [
    "CompiledExpression",
    "Evaluator",
    "ExpressionEvaluationError",
    "compile_expression",
    "compile_rowtime",
    "compile_watermark",
]


def compile_expression(
    text: str,
    schema: pa.Schema,
    *,
    time_zone: str | None,
    ansi: bool | None,
    purpose: str = "watermark.as",
) -> CompiledExpression:
    """Compile an expression; see `datasources.expressions.compile.compile_expression`."""
    from datasources.expressions import compile as compiler

    return compiler.compile_expression(text, schema, time_zone=time_zone, ansi=ansi, purpose=purpose)


def compile_watermark(
    text: str, schema: pa.Schema, *, rowtime: str, time_zone: str | None, ansi: bool | None
) -> CompiledExpression:
    """Compile a watermark expression; see `datasources.expressions.compile.compile_watermark`."""
    from datasources.expressions import compile as compiler

    return compiler.compile_watermark(text, schema, rowtime=rowtime, time_zone=time_zone, ansi=ansi)


def compile_rowtime(path: str, schema: pa.Schema) -> CompiledExpression:
    """Compile a time attribute's name; see `datasources.expressions.compile.compile_rowtime`."""
    from datasources.expressions import compile as compiler

    return compiler.compile_rowtime(path, schema)
