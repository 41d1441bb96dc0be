"""Ranges of keys, and the condition that selects one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from datasources.mysql.connection.quoting import quote_name
from datasources.mysql.tables.chunk_key import KeyColumn, TableKey
from datasources.mysql.tables.key_values import compared_expression, labels, literal

Bound = tuple[str, ...]
"""One canonical text per column of the key, in its order (see key_values.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRange:
    """Keys above ``lower`` up to and including ``upper``; None is no bound on that side."""

    lower: Bound | None = None
    upper: Bound | None = None


def range_condition(key: TableKey, wanted: KeyRange) -> str:
    """Return the condition that selects a range's rows, in a form for which the server uses the key's index.

    It does not for a comparison of whole rows, ``(a, b) > (1, 2)``.
    """
    operands = [_Operand(column) for column in key.columns]
    return _condition(key.columns, operands, wanted)


class _Operand:
    """A column that is compared with a bound.

    An ENUM is ordered by its numbers, but only comparisons with labels use an index, so the labels for which it can be
    true are added to a comparison of numbers. Number 0 has the empty label.
    """

    def __init__(self, column: KeyColumn) -> None:
        members = labels(column)
        self._name, self._sql = quote_name(column.name), compared_expression(column)
        self._labels = ("", *members) if members else ()

    def compare(self, sign: str, value: str) -> str:
        """Return the comparison with a literal."""
        exact = f"{self._sql} {sign} {value}"
        if not self._labels:
            return exact
        numbers = range(len(self._labels))
        is_possible = _SIGNS[sign]
        possible = ", ".join(_label(self._labels[number]) for number in numbers if is_possible(number, int(value)))
        return f"({exact} AND {self._name} IN ({possible or 'NULL'}))"


_SIGNS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _label(label: str) -> str:
    return f"_utf8mb4 x'{label.encode().hex()}'"


def _condition(columns: Sequence[KeyColumn], operands: Sequence[_Operand], wanted: KeyRange) -> str:
    conditions = []
    for bound, strict, last in ((wanted.lower, ">", ">"), (wanted.upper, "<", "<=")):
        if bound is not None:
            values = [literal(column, value) for column, value in zip(columns, bound, strict=True)]
            conditions.append(f"({_beyond(operands, values, strict, last)})")
    return " AND ".join(conditions) or "TRUE"


def _beyond(operands: Sequence[_Operand], values: Sequence[str], strict: str, last: str) -> str:
    """Return the comparison of a key with a bound: beyond it in the first column, or equal there and beyond in others.

    Written as alternatives, each is one range of the index, and together they begin and end at the bounds, even if the
    first column has few values.
    """
    pairs = list(zip(operands, values, strict=True))
    alternatives = []
    for at, (operand, value) in enumerate(pairs):
        sign = last if at == len(pairs) - 1 else strict
        equal = [before.compare("=", its) for before, its in pairs[:at]]
        alternatives.append(" AND ".join([*equal, operand.compare(sign, value)]))
    return " OR ".join(f"({alternative})" for alternative in alternatives)
