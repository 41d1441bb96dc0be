"""Takes Spark's aggregate functions apart: what the reader computes, and how Spark combines it.

Spark keeps the state of an aggregate as the buffers of its functions, one after the other, whatever their names. Each
function is combined by such whose buffers have the same types in the same order, so a query continues from a checkpoint
that it made without push-down, and the other way round:

| function | buffers | the reader's | combined by | buffers |
|---|---|---|---|---|
| COUNT, COUNT_IF | BIGINT | count | SUM(count) | BIGINT |
| SUM, MIN, MAX, BOOL_AND, BOOL_OR | of its type | sum, min, max | the function itself | of its type |
| AVG of integers and doubles | DOUBLE, BIGINT | sum, count | SUM(sum) / SUM(count) | DOUBLE, BIGINT |

AVG of decimals has no such form: SUM of decimals has a buffer more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from datasources.source.api.aggregation import PartialFunction
from datasources.spark.options.aggregation_options import CallOption
from datasources.spark.plans.catalyst import Catalyst, items, kind
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import TableRows, references

_COUNTS: Final = frozenset({"Count", "CountIf"})
_ITSELF: Final = {
    "Sum": PartialFunction.SUM,
    "Min": PartialFunction.MIN,
    "Max": PartialFunction.MAX,
    "BoolAnd": PartialFunction.MIN,
    "BoolOr": PartialFunction.MAX,
}
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")

Combined = Callable[[dict[str, Any]], Any]
"""Makes the combining expression, given the reader's columns by name."""


@dataclass(slots=True)
class PartialCalls:
    """The aggregate functions of an Aggregate, each once.

    Attributes:
        catalyst: builds expressions.
        rows: the rows that are aggregated.
        has_groups: whether there are only results of rows; without GROUP BY there is one of none.
        calls: what the reader computes.
    """

    catalyst: Catalyst
    rows: TableRows
    has_groups: bool = True
    calls: list[CallOption] = field(default_factory=list)
    _known: list[tuple[Any, Combined]] = field(default_factory=list)

    def add(self, expressions: list[Any]) -> None:
        """Take the functions in the expressions of an Aggregate.

        Raises:
            NotPushed: a function cannot be taken apart, or the reader cannot compute its argument.
        """
        for expression in expressions:
            self.catalyst.replaced(expression, self._noted)

    def combined(self, expression: Any, columns: dict[str, Any]) -> Any:
        """Return an expression with each function replaced by what combines the reader's columns."""
        return self.catalyst.replaced(
            expression,
            lambda part: self._known_as(part)(columns) if kind(part) == "AggregateExpression" else None,
        )

    def _noted(self, part: Any) -> Any:
        if kind(part) != "AggregateExpression":
            return None
        if not any(part.semanticEquals(known) for known, _ in self._known):
            self._known.append((part, self._taken_apart(part)))
        return part

    def _known_as(self, part: Any) -> Combined:
        return next(combined for known, combined in self._known if part.semanticEquals(known))

    def _taken_apart(self, call: Any) -> Combined:
        function, name = call.aggregateFunction(), kind(call.aggregateFunction())
        if call.isDistinct():
            raise NotPushed(f"{call.sql()} counts values once that several readers may have")
        condition = self._condition(call)
        if name in _COUNTS:
            counted = self._call(PartialFunction.COUNT, *self._counted(function, condition))
            return lambda columns: self._total(call, columns[counted])
        if name in _ITSELF:
            partial = self._call(_ITSELF[name], function.child(), condition)
            return lambda columns: self._itself(call, columns[partial])
        if name == "Average" and function.child().dataType().simpleString() in _NUMBERS:
            summed = self._call(PartialFunction.SUM, self._double(function.child()), condition)
            counted = self._call(PartialFunction.COUNT, function.child(), condition)
            return lambda columns: self._average(call, columns[summed], columns[counted])
        raise NotPushed(f"{call.sql()} is not put together from parts of a group")

    def _counted(self, function: Any, condition: Any | None) -> tuple[Any | None, Any | None]:
        """Return argument and condition of a count."""
        if kind(function) == "CountIf":
            parts = [function.child(), *([] if condition is None else [condition])]
            return None, self.catalyst.conjunction(parts)
        arguments = [each for each in items(function.children()) if each.nullable()]
        if len(arguments) < 2:  # noqa: PLR2004 - COUNT(a, b) counts rows in which neither is NULL
            return next(iter(arguments), None), condition
        parts = [*map(self.catalyst.is_not_null, arguments), *([] if condition is None else [condition])]
        return None, self.catalyst.conjunction(parts)

    def _condition(self, call: Any) -> Any | None:
        return None if call.filter().isEmpty() else call.filter().get()

    def _call(self, function: PartialFunction, argument: Any | None, condition: Any | None) -> str:
        name = f"aggregate_{len(self.calls)}"
        self.calls.append(
            CallOption(
                name=name,
                function=function,
                argument=None if argument is None else self._text(argument),
                condition=None if condition is None else self._text(condition),
            )
        )
        return name

    def _text(self, expression: Any) -> str:
        value = self.catalyst.substituted(expression, self.rows.values)
        if set(references(value)) & self.rows.window_ids:
            raise NotPushed(f"{expression.sql()} depends on the window")
        return self.rows.text(value)

    def _double(self, number: Any) -> Any:
        return number if number.dataType().simpleString() == "double" else self.catalyst.as_double(number)

    def _itself(self, call: Any, partial: Any) -> Any:
        function = call.aggregateFunction()
        wanted = function.child().dataType()
        if kind(function) == "Sum" and wanted.typeName().startswith("decimal"):
            partial = self.catalyst.as_narrower_decimal(partial, wanted)
        new = function.withNewChildren(self.catalyst.seq([partial]))
        if not new.dataType().equals(function.dataType()):
            raise NotPushed(f"{call.sql()} is {function.dataType().sql()}, and {new.dataType().sql()} in the reader")
        return self.catalyst.aggregate_expression(new, call)

    def _total(self, call: Any, partial: Any) -> Any:
        total = self.catalyst.aggregate_expression(self.catalyst.sum(partial), call)
        if not self.has_groups:
            total = self.catalyst.if_null(total, self.catalyst.default(like=total), total)
        return self.catalyst.known_not_null(total)

    def _average(self, call: Any, summed: Any, counted: Any) -> Any:
        total = self.catalyst.aggregate_expression(self.catalyst.sum(summed), call)
        number = self.catalyst.aggregate_expression(self.catalyst.sum(counted), call)
        return self.catalyst.quotient(total, number)
