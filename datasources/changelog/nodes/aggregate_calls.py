"""Spark's aggregate functions as calls of the aggregate operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DayTimeIntervalType, DecimalType

from datasources.changelog.nodes.recomputation import is_recomputable, recomputed, row_of_arguments
from datasources.changelog.translator import Translator
from datasources.spark.operators.changelog.aggregate.aggregate_call import LINEAR, AggregateCall, Overflow
from datasources.spark.operators.changelog.value_types import arrow_conversion, require_comparable, require_countable
from datasources.spark.plans.catalyst import data_type, items, kind, sort_direction

_FUNCTIONS: Final[Mapping[str, str]] = {
    "Average": "avg",
    "CollectList": "collect",
    "CollectSet": "collect_set",
    "Count": "count",
    "First": "first",
    "HyperLogLogPlusPlus": "count",
    "Last": "last",
    "ListAgg": "listagg",
    "Max": "max",
    "Min": "min",
    "Sum": "sum",
}
"""By the class of Spark's function. BOOL_AND, BOOL_OR, COUNT_IF and others are these after optimisation."""

_OF_ANY_VALUES: Final = frozenset({"collect", "first", "last"})
"""Functions for which any order of the values will do."""
_EXACT: Final = frozenset({"HyperLogLogPlusPlus"})
"""APPROX_COUNT_DISTINCT: an exact count, as the state has the values anyhow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """An aggregate of a query.

    Attributes:
        call: of the operator.
        attribute: the column of the operator that it fills.
        result: the aggregate's value over that column.
    """

    call: AggregateCall
    attribute: Any
    result: Any


def planned_call(translator: Translator, expression: Any, name: str, columns: dict[str, Any]) -> PlannedCall:
    """Return an aggregate as a call; its arguments are noted in ``columns``.

    Raises:
        QueryError: there is no such aggregate over changes.
    """
    function = expression.aggregateFunction()
    if _is_own(function):
        call = _own_call(translator, expression, name, columns)
        return PlannedCall(call=call, attribute=expression.resultAttribute(), result=expression.resultAttribute())
    if kind(function) == "PivotFirst":
        translator.refuse("PIVOT", " Write an aggregate per column: sum(x) FILTER (WHERE kind = 'a').")
    if not is_recomputable(function):
        translator.refuse(f"the aggregate {function.sql()}")
    catalyst = translator.catalyst
    row = row_of_arguments(catalyst, function)
    _require_values(expression, items(function.children()), compares=bool(expression.isDistinct()))
    rows = catalyst.attribute(name, catalyst.array_of(row))
    call = AggregateCall(
        name=name,
        function="collect",
        argument=_noted(row, "a", columns),
        type=_arrow_type(rows),
        is_distinct=bool(expression.isDistinct()),
        filter=_noted(_optional(expression.filter()), "f", columns),
        text=str(expression.sql()),
    )
    return PlannedCall(call=call, attribute=rows, result=recomputed(catalyst, function, rows))


def _is_own(function: Any) -> bool:
    """Whether the operator computes a function."""
    if kind(function) in {"Average", "Sum"}:
        return not isinstance(data_type(items(function.children())[0]), DayTimeIntervalType)
    return kind(function) in _FUNCTIONS


def _require_values(expression: Any, arguments: Sequence[Any], *, compares: bool) -> None:
    """Refuse values that cannot be counted or, if the function compares them, that Arrow compares in another way."""
    for each in arguments:
        value = each.child() if kind(each) == "SortOrder" else each
        require_countable(expression.sql(), data_type(value))
        if compares:
            require_comparable(f"the argument of {expression.sql()}", data_type(value), value.sql())


def _own_call(translator: Translator, expression: Any, name: str, columns: dict[str, Any]) -> AggregateCall:
    """Return an aggregate that the operator computes."""
    function = expression.aggregateFunction()
    known = _FUNCTIONS[kind(function)]
    is_distinct = bool(expression.isDistinct()) or kind(function) in _EXACT
    if is_distinct or known not in LINEAR:
        _require_values(expression, items(function.children()), compares=is_distinct or known not in _OF_ANY_VALUES)
    return AggregateCall(
        name=name,
        function=known,
        argument=_argument(translator, function, columns, is_distinct=is_distinct),
        type=_arrow_type(function),
        is_distinct=is_distinct,
        filter=_noted(_optional(expression.filter()), "f", columns),
        overflow=_overflow(function),
        order=_order(function, columns),
        ignore_nulls=known in {"first", "last"} and bool(function.ignoreNulls()),
        separator=_separator(translator, function),
        text=str(expression.sql()),
    )


def _arrow_type(expression: Any) -> pa.DataType:
    with arrow_conversion():
        return to_arrow_type(data_type(expression), timezone="UTC", prefers_large_types=False)


def _argument(translator: Translator, function: Any, columns: dict[str, Any], *, is_distinct: bool) -> str | None:
    arguments = items(function.children())
    if kind(function) == "ListAgg":
        arguments = [function.child()]
    if kind(function) == "Count":
        if not is_distinct and not any(each.nullable() for each in arguments):
            return None
        if len(arguments) > 1:
            return _noted(translator.catalyst.struct_or_null(arguments), "a", columns)
    return _noted(arguments[0], "a", columns)


def _noted(expression: Any | None, prefix: str, columns: dict[str, Any]) -> str | None:
    """Return the name of the column of an expression; equal expressions share one."""
    if expression is None:
        return None
    for name, known in columns.items():
        if known.semanticEquals(expression):
            return name
    name = f"{prefix}{len(columns)}"
    columns[name] = expression
    return name


def _optional(option: Any) -> Any | None:
    return None if option.isEmpty() else option.get()


def _overflow(function: Any) -> Overflow:
    """Return what a sum that does not fit its type is."""
    if kind(function) == "Sum":
        mode = function.evalContext().evalMode().toString()
    elif kind(function) == "Average":
        mode = function.evalMode().toString()
    else:
        return "error"
    if mode == "ANSI":
        return "error"
    return "null" if mode == "TRY" or isinstance(data_type(function), DecimalType) else "wrap"


def _order(function: Any, columns: dict[str, Any]) -> tuple[tuple[str, bool, bool], ...]:
    if kind(function) != "ListAgg":
        return ()
    orders = items(function.orderExpressions())
    return tuple((str(_noted(each.child(), "o", columns)), *sort_direction(each)) for each in orders)


def _separator(translator: Translator, function: Any) -> str:
    if kind(function) != "ListAgg":
        return ""
    delimiter = function.delimiter()
    if not delimiter.foldable():
        translator.refuse(f"a separator that is no constant ({function.sql()})")
    value = delimiter.eval(None)
    return "" if value is None else str(value.toString())
