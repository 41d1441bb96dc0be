"""The user's own functions, as the compiler finds and types their calls."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from datasources.arrow_types import canonical, spark_name
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.evaluation.function_call import FunctionCall, ReaderFunction
from datasources.expressions.evaluation.nodes import Node


def by_name(functions: Mapping[str, ReaderFunction]) -> dict[str, ReaderFunction]:
    """Return the functions by lower-case name, as calls look them up."""
    return {name.lower(): function for name, function in functions.items()}


def bind_call(scope: Scope, tree: exp.Anonymous, function: ReaderFunction) -> Node:
    """Type a call of a registered function.

    Raises:
        ExpressionError: It gives another value at each evaluation, or its type has no values here.
    """
    if not function.is_deterministic:
        raise scope.refusal(
            tree,
            f"{tree.name} is not deterministic, so the same records would get another watermark when they are read "
            "again",
            "Declare the function as deterministic if its value depends on its arguments alone.",
        )
    data_type = canonical(function.arrow_type)
    if data_type is None:
        reason = f"{tree.name} gives {spark_name(function.arrow_type)}, of which the reader has no values"
        raise scope.refusal(tree, reason, "Return a simple type.")
    operands = tuple(scope.node(argument) for argument in tree.expressions)
    return FunctionCall(function=function, operands=operands, type=data_type)
