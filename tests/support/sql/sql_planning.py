"""Planning a table without Spark: types by the reader's own compiler, settings and hints from directives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from datasources.arrow_types import spark_name
from datasources.errors import ExpressionError
from datasources.expressions.compiler.compile import compile_expression
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.source_text import SqlText
from datasources.source.api.connector import SessionInfo
from datasources.sql.parse import parse_statement
from datasources.sql.planner.connectors import connector_of
from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.rules import RULES
from datasources.sql.planner.table_plan import TableRequest, first_tree
from datasources.sql.planner.tree import Node
from datasources.sql.planner.trial import ScanTrial
from datasources.sql.query.block.relation import TableUse
from datasources.sql.resolve.table_resolver import resolve
from datasources.sql.settings import Settings
from datasources.sql.statements.statements import CreateTable
from datasources.sql.types.expression_types import TypeOracleError

__all__ = ["CompiledTypes", "NotATable", "PlannerCase", "cases_of", "plan_case"]

SESSION_INFO = SessionInfo(time_zone="UTC", ansi=True)


class CompiledTypes:
    """Types of expressions as the reader's compiler finds them, which tests hold equal to Spark's analyser."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = known or {}

    def of(self, expressions: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
        """Return the types; those of `known` by text."""
        schema = parse_schema(", ".join(f"`{name}` {kind}" for name, kind in columns.items()))
        return {name: self._known.get(text) or self._of(name, text, schema) for name, text in expressions.items()}

    def _of(self, name, text, schema) -> str:
        try:
            compiled = compile_expression(text, schema, time_zone=SESSION_INFO.time_zone, ansi=SESSION_INFO.ansi)
        except ExpressionError as refusal:
            raise TypeOracleError(name, refusal.message.splitlines()[0]) from None
        return spark_name(compiled.result_type)


class NotATable(Exception):
    """The statement of a case is no CREATE TABLE."""


@dataclass(frozen=True, kw_only=True)
class PlannerCase:
    """A pair: a CREATE TABLE with directives, and the tree that a rule makes of it.

    Directives stand in comments before the statement: `needs: a, b` (columns that the statement names), `filter: a > 1`,
    `hint: key = value`, `set: key = value`, `type: expression = TYPE`.
    """

    file: str
    number: int
    reason: str
    statement: str
    expected: str
    needs: frozenset[str] | None = None
    filter: str | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)


def cases_of(file: Path) -> list[PlannerCase]:
    """Read the pairs of a file: comment lines, statement, `=>`, tree, `;`."""
    cases = []
    for number, block in enumerate(file.read_text(encoding="utf-8").split("\n;\n"), start=1):
        if block.strip():
            cases.append(_case(file.stem, number, block))
    return cases


def _case(name: str, number: int, block: str) -> PlannerCase:
    lines = block.strip("\n").splitlines()
    comments = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    statement, _, expected = "\n".join(line for line in lines if not line.startswith("--")).partition("\n=>\n")
    given: dict[str, list[str]] = {}
    reason = []
    for comment in comments:
        key, found, value = comment.partition(": ")
        if found and key in {"needs", "filter", "hint", "set", "type"}:
            given.setdefault(key, []).append(value)
        else:
            reason.append(comment)
    return PlannerCase(
        file=name,
        number=number,
        reason=" ".join(reason),
        statement=statement.strip(),
        expected=expected.strip("\n"),
        needs=frozenset(n.strip().lower() for n in given["needs"][0].split(",")) if "needs" in given else None,
        filter=given.get("filter", [None])[0],
        hints=_pairs(given.get("hint", [])),
        settings=_pairs(given.get("set", [])),
        types=_pairs(given.get("type", [])),
    )


def _pairs(texts: list[str]) -> dict[str, str]:
    return {key.strip(): value.strip() for key, _, value in (text.rpartition(" = ") for text in texts)}


def plan_case(case: PlannerCase, *, until: str) -> Node:
    """Return the tree after all rules up to the one named `until`."""
    source = SqlText(case.statement)
    statement = parse_statement(source)
    if not isinstance(statement, CreateTable):
        raise NotATable
    definition = statement.table
    connector = connector_of(None, definition.options.get("connector", "none"))
    time = connector.source_time
    table = resolve(
        definition,
        source=source,
        metadata_types=connector.metadata_types,
        types=CompiledTypes(case.types),
        source_watermark=None if time is None else (time.rowtime, time.watermark),
    )
    use = TableUse(name=definition.name, hints=case.hints, columns=case.needs, filter=case.filter)
    request = TableRequest(table=table, connector=connector, use=use, settings=Settings(case.settings))
    context = PlanningContext(
        try_scan=ScanTrial(session=SESSION_INFO, functions={}), needed=case.needs, filter=case.filter
    )
    tree = first_tree(request, context)
    for rule in RULES:
        tree = rule(tree, context)
        if rule.__name__ == until:
            return tree
    raise AssertionError(f"no rule '{until}'")
