"""Spark SQL expressions evaluated inside a source reader, on Arrow batches, with Spark's own results.

The `compile_...` functions run on the driver; the `CompiledExpression` that they return is pickled into readers and
evaluated there. The compiler and its parser load with the first call. See `datasources.expressions.compiler.compile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from datasources.expressions.evaluation.compiled_expression import (
    CompiledExpression,
    Evaluator,
    ExpressionEvaluationError,
)

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction

__all__ = [
    "CompiledExpression",
    "Evaluator",
    "ExpressionEvaluationError",
    "compile_expression",
    "compile_filter",
    "compile_rowtime",
    "compile_rowtime_expression",
    "compile_watermark",
]

_NO_FUNCTIONS: Final[Mapping[str, ReaderFunction]] = MappingProxyType({})


def compile_expression(  # noqa: PLR0913 - as the compiler's
    text: str,
    schema: pa.Schema,
    *,
    time_zone: str | None,
    ansi: bool | None,
    purpose: str = "watermark.as",
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile an expression; see `datasources.expressions.compiler.compile.compile_expression`."""
    from datasources.expressions.compiler import compile as compiler

    return compiler.compile_expression(
        text, schema, time_zone=time_zone, ansi=ansi, purpose=purpose, functions=functions
    )


def compile_watermark(  # noqa: PLR0913 - as the compiler's
    text: str,
    schema: pa.Schema,
    *,
    rowtime: str | CompiledExpression,
    time_zone: str | None,
    ansi: bool | None,
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile a watermark expression; see `datasources.expressions.compiler.compile.compile_watermark`."""
    from datasources.expressions.compiler import compile as compiler

    return compiler.compile_watermark(
        text, schema, rowtime=rowtime, time_zone=time_zone, ansi=ansi, functions=functions
    )


def compile_rowtime(path: str, schema: pa.Schema) -> CompiledExpression:
    """Compile a time attribute's name; see `datasources.expressions.compiler.compile.compile_rowtime`."""
    from datasources.expressions.compiler import compile as compiler

    return compiler.compile_rowtime(path, schema)


def compile_rowtime_expression(  # noqa: PLR0913 - as the compiler's
    text: str,
    schema: pa.Schema,
    *,
    attribute: str,
    time_zone: str | None,
    ansi: bool | None,
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile a computed rowtime; see `datasources.expressions.compiler.compile.compile_rowtime_expression`."""
    from datasources.expressions.compiler import compile as compiler

    return compiler.compile_rowtime_expression(
        text, schema, attribute=attribute, time_zone=time_zone, ansi=ansi, functions=functions
    )


def compile_filter(
    text: str,
    schema: pa.Schema,
    *,
    time_zone: str | None,
    ansi: bool | None,
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile a condition; see `datasources.expressions.compiler.compile.compile_filter`."""
    from datasources.expressions.compiler import compile as compiler

    return compiler.compile_filter(text, schema, time_zone=time_zone, ansi=ansi, functions=functions)
