"""What Flink answers to the expressions of the corpus (`tests/golden/flink/expressions`), as `record.py` wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.support.project import ROOT

DIRECTORY: Final = ROOT / "tests" / "golden" / "flink" / "expressions"
_AGGREGATES: Final = "aggregates"


@dataclass(frozen=True, slots=True)
class CellFailure:
    """A value that there is not: the query fails there. The message is the first line of Flink's cause."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarAnswer:
    """An expression over `t`.

    Attributes:
        expression: Its text in Flink's SQL.
        type: Its type there, as a statement has it; None if the planner refuses the expression.
        refused: Why the planner refuses it, else None.
        values: By row of `t`, as `java_values` writes them or a `CellFailure`; one only for an expression without
            columns; none if the expression is refused or its value varies from run to run.
    """

    expression: str
    type: str | None
    refused: str | None
    values: tuple[Any, ...]

    @property
    def varies(self) -> bool:
        """Whether only the type is recorded, such as that of UUID()."""
        return self.refused is None and not self.values


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateAnswer:
    """An aggregate call over `t`.

    Attributes:
        call: Its text.
        type: Its type without GROUP BY; None if it is refused.
        grouped_type: Its type with GROUP BY g.
        refused: Why the planner refuses it, else None.
        groups: The value or a `CellFailure` over `whole` and `empty` (no rows), and of the groups `a`, `b`, `c`, and `NULL`.
    """

    call: str
    type: str | None
    grouped_type: str | None
    refused: str | None
    groups: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """A query over `t`.

    Attributes:
        query: Its text.
        types: Of its columns.
        refused: Why the planner refuses it, else None.
        failed: Why it fails while it runs, else None.
        rows: In the query's order if it ends in ORDER BY, else in a fixed one.
    """

    query: str
    types: tuple[str, ...]
    refused: str | None
    failed: str | None
    rows: tuple[tuple[Any, ...], ...]


@cache
def scalar_answers(area: str) -> tuple[ScalarAnswer, ...]:
    """Return the answers of an area of scalar expressions, in the order of the corpus."""
    return tuple(
        ScalarAnswer(
            expression=case["expression"],
            type=case.get("type") if "refused" not in case else None,
            refused=case.get("refused"),
            values=tuple(map(_cell, case.get("values", ()))),
        )
        for case in _cases(area)
    )


@cache
def aggregate_answers() -> tuple[AggregateAnswer, ...]:
    """Return the answers of aggregate calls."""
    return tuple(
        AggregateAnswer(
            call=case["call"],
            type=case.get("type"),
            grouped_type=case.get("grouped_type", case.get("type")),
            refused=case.get("refused"),
            groups={name: _cell(value) for name, value in case.get("groups", {}).items()},
        )
        for case in _cases(_AGGREGATES)
        if "call" in case
    )


@cache
def query_answers() -> tuple[QueryAnswer, ...]:
    """Return the answers of whole queries, recorded beside the aggregate calls."""
    return tuple(
        QueryAnswer(
            query=case["query"],
            types=tuple(case.get("types", ())),
            refused=case.get("refused"),
            failed=case.get("error"),
            rows=tuple(map(tuple, case.get("rows", ()))),
        )
        for case in _cases(_AGGREGATES)
        if "query" in case
    )


def _cases(area: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(answer_file(area).read_text(encoding="utf-8"))["cases"]
    return cases


def answer_file(area: str) -> Path:
    """Return the file of an area's answers."""
    return DIRECTORY / f"{area}.json"


def _cell(value: Any) -> Any:
    return CellFailure(value["error"]) if isinstance(value, dict) and value.keys() == {"error"} else value
