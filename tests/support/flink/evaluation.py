"""Values of many expressions in few jobs: expressions share a job until one fails, then the cells that fail are found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.support.flink.session import UNCOMPILED, FlinkFailed, FlinkRefused, FlinkSession

_SHARED: Final = 40
"""So many expressions are tried in one job."""
_FEW: Final = 4
_ORDER_COUNTS: Final = re.compile(r"\b(AND|OR)\b")
"""In one job `x AND y` and `y AND x` are one: the planner evaluates both in the order of the first."""

_IS_NULL: Final = "however, a null value is being written into it"
"""In the message about NULL from a function whose type is NOT NULL, which the collecting sink refuses."""


@dataclass(frozen=True, slots=True)
class CellError:
    """Why an expression fails on a row."""

    message: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an expression cannot be planned."""

    message: str


Answer = Refusal | dict[int, Any]
"""Of an expression: the value or error by `k`, or why there is none."""


class Evaluator:
    """Asks Flink for expressions over `t`.

    Args:
        session: Flink.
        rows: How many rows `t` has.
    """

    def __init__(self, session: FlinkSession, rows: int) -> None:
        self._session = session
        self._rows = range(1, rows + 1)

    def values(self, expressions: Sequence[str]) -> dict[str, Answer]:
        """Return the values of expressions that Flink has a type for."""
        alone = [expression for expression in expressions if _ORDER_COUNTS.search(expression)]
        others = [expression for expression in expressions if expression not in set(alone)]
        found: dict[str, Answer] = {}
        for some, count in ((alone, 1), (others, _SHARED)):
            for start in range(0, len(some), count):
                found.update(self._shared(some[start : start + count]))
        return found

    def _shared(self, expressions: Sequence[str]) -> dict[str, Answer]:
        try:
            return dict(self._run(expressions, ""))
        except FlinkRefused as refused:
            if len(expressions) == 1:
                return {expressions[0]: Refusal(str(refused))}
            return _divided(self._shared, expressions)
        except FlinkFailed:
            return self._by_row(expressions)

    def _by_row(self, expressions: Sequence[str]) -> dict[str, Answer]:
        cells: dict[str, dict[int, Any]] = {expression: {} for expression in expressions}
        for row in self._rows:
            for expression, cell in self._row(expressions, row).items():
                cells[expression][row] = cell
        return {expression: _refused_or(found) for expression, found in cells.items()}

    def _row(self, expressions: Sequence[str], row: int) -> dict[str, Any]:
        try:
            found = self._run(expressions, f" WHERE k = {row}")
        except (FlinkFailed, FlinkRefused) as failed:
            if len(expressions) == 1:
                return {expressions[0]: None if _IS_NULL in str(failed) else CellError(str(failed))}
            return _divided(lambda some: self._row(some, row), expressions)
        return {expression: cells[row] for expression, cells in found.items()}

    def _run(self, expressions: Sequence[str], condition: str) -> dict[str, dict[int, Any]]:
        columns = ", ".join(f"{expression} AS `c{number}`" for number, expression in enumerate(expressions))
        rows = self._session.rows(f"SELECT k, {columns} FROM t{condition}")
        by_key = sorted(rows, key=lambda row: int(row[0]))
        return {
            expression: {int(row[0]): row[1 + number] for row in by_key}
            for number, expression in enumerate(expressions)
        }


def _refused_or(cells: dict[int, Any]) -> Answer:
    """Code that Java's compiler refuses fails on every row; that is the planner's fault."""
    errors = [cell.message for cell in cells.values() if isinstance(cell, CellError)]
    refusals = [message for message in errors if UNCOMPILED in message]
    return Refusal(refusals[0]) if refusals and len(errors) == len(cells) else cells


def _divided(evaluate: Callable[[Sequence[str]], Mapping[str, Any]], expressions: Sequence[str]) -> dict[str, Any]:
    """Evaluate halves of expressions that fail together, or each of a few."""
    size = len(expressions) // 2 if len(expressions) > _FEW else 1
    pieces = (expressions[start : start + size] for start in range(0, len(expressions), size))
    return {expression: cell for piece in pieces for expression, cell in evaluate(piece).items()}
