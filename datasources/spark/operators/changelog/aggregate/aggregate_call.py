"""One aggregate of a GROUP BY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa

from datasources.errors import QueryError

LINEAR: Final = frozenset({"count", "sum", "avg", "bool_and", "bool_or"})
"""Functions whose state is sums."""
EXTREMES: Final = frozenset({"min", "max"})
PICKS: Final = frozenset({"any_value", "first", "last"})
LISTS: Final = frozenset({"collect", "collect_set", "listagg"})
FUNCTIONS: Final = LINEAR | EXTREMES | PICKS | LISTS
ORDERED: Final = frozenset({"first", "last", "collect", "listagg"})
"""Functions that take an order."""

Overflow = Literal["error", "null", "wrap"]
OrderColumn = tuple[str, bool, bool]
"""A column, whether it is ascending, and whether NULLs are first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """One aggregate: a function of a column over the rows of a group.

    NULL arguments are ignored, as in Spark. What Spark leaves to the order of rows is determined by the values:
    ``any_value`` and ``first`` without an order are the smallest value that is not NULL, ``last`` is the largest, and
    lists without an order are sorted. Values are ordered as in ORDER BY: NaN is the largest number, text is compared by
    its UTF-8 bytes.

    Attributes:
        name: of the column of the result.
        function: one of FUNCTIONS. ``any_value``, ``collect`` and ``collect_set`` are also known as ANY_VALUE,
            ARRAY_AGG or collect_list, and collect_set.
        argument: a column of the input; None for COUNT(*).
        type: of the result; for sums of decimals, and averages of them, Spark's.
        is_distinct: equal values count once; without influence on functions for which that is no difference.
        filter: a boolean column of the input; rows where it is not true are ignored.
        overflow: of a SUM or AVG that does not fit its type: a QueryError (ANSI mode), NULL (try_sum; decimals without
            ANSI mode), or the low 64 bits of a BIGINT (without ANSI mode).
        order: of the values that ORDERED functions take; equal ones are ordered by the argument, ascending.
        ignore_nulls: ``first`` and ``last`` with an order take the first or last value that is not NULL.
        separator: between the texts of ``listagg``.
        text: the call as the query has it, for messages; "" = as it is shown.
    """

    name: str
    function: str
    argument: str | None
    type: pa.DataType
    is_distinct: bool = False
    filter: str | None = None
    overflow: Overflow = "error"
    order: tuple[OrderColumn, ...] = ()
    ignore_nulls: bool = False
    separator: str = ""
    text: str = ""

    @property
    def is_extreme(self) -> bool:
        """Whether it is the smallest or the largest value."""
        return self.function in EXTREMES or (self.function in PICKS and not self.order)

    @property
    def result_type(self) -> pa.DataType:
        """The type whose fields and elements may be NULL: those of a group without values are."""
        return _nullable(self.type)

    @property
    def is_list(self) -> bool:
        """Whether it is a list of values."""
        return self.function in {"collect", "collect_set"}

    @property
    def is_set(self) -> bool:
        """Whether equal values are in the list once."""
        return self.is_distinct or self.function == "collect_set"

    @property
    def shown(self) -> str:
        """The call as text, for settings and messages."""
        inside = ("DISTINCT " if self.is_distinct else "") + (self.argument or "*")
        if self.function == "listagg":
            inside += f", {self.separator!r}"
        if self.order:
            inside += f" ORDER BY {', '.join(map(_shown_order, self.order))}"
        nulls = " IGNORE NULLS" if self.ignore_nulls else ""
        condition = f" FILTER (WHERE {self.filter})" if self.filter else ""
        return f"{self.function.upper()}({inside}){nulls}{condition}"

    def require_valid(self, data: pa.Schema) -> None:
        """Raise a QueryError unless it is an aggregate of these columns."""
        columns = [name for name in (self.argument, self.filter, *(each[0] for each in self.order)) if name]
        unknown = [name for name in columns if name not in data.names]
        if unknown:
            raise QueryError(f"{self.shown}: there is no column '{unknown[0]}'; columns: {', '.join(data.names)}.")
        if self.function not in FUNCTIONS:
            raise QueryError(
                f"'{self.name}': there is no aggregate {self.function.upper()} over changes; use one of "
                f"{', '.join(sorted(FUNCTIONS))}."
            )
        if self.argument is None and self.function != "count":
            raise QueryError(f"'{self.name}': {self.function.upper()} needs an argument.")
        if self.order and self.function not in ORDERED:
            raise QueryError(f"{self.shown}: {self.function.upper()} has no order; remove ORDER BY.")
        if self.is_distinct and {column for column, _, _ in self.order} - {self.argument}:
            raise QueryError(f"{self.shown}: with DISTINCT the order is that of '{self.argument}'; order by it.")
        if self.argument and not _accepts(self.function, data.field(self.argument).type):
            raise QueryError(
                f"{self.shown}: {self.function.upper()} does not accept {data.field(self.argument).type}; cast "
                f"'{self.argument}'."
            )


def _nullable(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _nullable(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field(kind.value_field.name, _nullable(kind.value_type)))
    return kind


def _shown_order(order: OrderColumn) -> str:
    column, is_ascending, is_nulls_first = order
    return f"{column} {'ASC' if is_ascending else 'DESC'} NULLS {'FIRST' if is_nulls_first else 'LAST'}"


def _accepts(function: str, kind: pa.DataType) -> bool:
    if function in {"sum", "avg"}:
        return bool(pa.types.is_signed_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal128(kind))
    if function in {"bool_and", "bool_or"}:
        return bool(pa.types.is_boolean(kind))
    if function == "listagg":
        return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))
    return True
