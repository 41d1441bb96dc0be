"""Aggregates that are computed anew whenever their group changes.

The state has the arguments of the group's rows. Above the operator they are an array, and Spark's own function goes
over it: `aggregate(array, start, merge, finish)` with the function's expressions, or with calls of its methods. So the
results are Spark's. What Spark leaves to the order of rows is determined by the values, as the array is sorted.
"""

from __future__ import annotations

from typing import Any

from datasources.spark.plans.catalyst import Catalyst, attribute_id, items

_BY_EXPRESSIONS = "DeclarativeAggregate"
_BY_METHODS = "TypedImperativeAggregate"


def is_recomputable(function: Any) -> bool:
    """Whether there is an expression for a function of Spark's over an array."""
    return bool(_classes(function) & {_BY_EXPRESSIONS, _BY_METHODS})


def row_of_arguments(catalyst: Catalyst, function: Any) -> Any:
    """Return what the state keeps of a row: a struct of the arguments, constants included."""
    return catalyst.struct(items(function.children()))


def of_nothing(catalyst: Catalyst, function: Any) -> Any:
    """Return a function of no rows."""
    rows = catalyst.array_of(row_of_arguments(catalyst, function))
    return recomputed(catalyst, function, catalyst.default(rows))


def recomputed(catalyst: Catalyst, function: Any, rows: Any) -> Any:
    """Return a function over an array of `row_of_arguments`."""
    build = _by_expressions if _BY_EXPRESSIONS in _classes(function) else _by_methods
    return build(catalyst, function, rows, catalyst.variable("row", rows.dataType().elementType()))


def _by_expressions(catalyst: Catalyst, function: Any, rows: Any, row: Any) -> Any:
    named = [
        each if each.foldable() else catalyst.attribute(f"c{n}", each) for n, each in enumerate(_children(function))
    ]
    over_named = function.withNewChildren(catalyst.seq(named))
    updates, sums = items(over_named.updateExpressions()), items(over_named.aggBufferAttributes())
    buffer = [catalyst.variable("buffer", catalyst.struct(updates).dataType()) for _ in range(2)]
    arguments = {attribute_id(each): catalyst.field(row, n) for n, each in enumerate(named) if not each.foldable()}
    merging, finishing = (
        arguments | {attribute_id(each): catalyst.field(one, n) for n, each in enumerate(sums)} for one in buffer
    )
    return catalyst.array_aggregate(
        rows,
        catalyst.struct(items(over_named.initialValues())),
        ([buffer[0], row], catalyst.struct([catalyst.substituted(each, merging) for each in updates])),
        ([buffer[1]], catalyst.substituted(over_named.evaluateExpression(), finishing)),
    )


def _by_methods(catalyst: Catalyst, function: Any, rows: Any, row: Any) -> Any:
    arguments = [each if each.foldable() else catalyst.bound(n, each) for n, each in enumerate(_children(function))]
    target = function.withNewChildren(catalyst.seq(arguments))
    any_object = catalyst.object_type()
    buffer = [catalyst.variable("buffer", any_object) for _ in range(2)]
    return catalyst.array_aggregate(
        rows,
        catalyst.invoked(target, "createAggregationBuffer", any_object, []),
        ([buffer[0], row], catalyst.invoked(target, "update", any_object, [buffer[0], row])),
        ([buffer[1]], catalyst.invoked(target, "eval", function.dataType(), [buffer[1]])),
    )


def _children(function: Any) -> list[Any]:
    return items(function.children())


def _classes(function: Any) -> set[str]:
    names, each = set(), function.getClass()
    while each is not None:
        names.add(str(each.getSimpleName()))
        each = each.getSuperclass()
    return names
