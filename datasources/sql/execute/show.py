"""SHOW, DESCRIBE, USE, SET and RESET."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from datasources.grammar.source_text import SqlText
from datasources.sql.definitions.show_create import show_create
from datasources.sql.execute.describe import describe as description_of
from datasources.sql.execute.queries import naming_unknown_tables, run_query
from datasources.sql.execute.result import StatementResult
from datasources.sql.settings import SqlOptions
from datasources.sql.statements.catalog_objects import TableDefinition, ViewDefinition
from datasources.sql.statements.statements import (
    Describe,
    Namespace,
    Reset,
    Set,
    Show,
    ShowColumns,
    ShowCreate,
    ShowNamespaces,
    Use,
)
from datasources.sql.text.error_location import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from datasources.sql.execute.session_state import SessionState

_TIME_ZONE = "table.local-time-zone"
_DEFAULT_NAMES: Final = {Namespace.CATALOG: "default_catalog", Namespace.DATABASE: "default_database"}
"""Flink's names, which its scripts may have."""
_OURS = {str(field.alias) for field in SqlOptions.model_fields.values()}


def show(state: SessionState, statement: Show) -> StatementResult:
    """List objects of one kind, broken ones with their errors."""
    kind = statement.kind
    rows = [
        (entry.name, "yes" if entry.is_temporary else "no", entry.problem or "")
        for entry in state.catalog.entries(kind)
        if _is_like(entry.name, statement.like)
    ]
    return StatementResult(
        kind=f"SHOW {kind.value}S", columns=("name", "temporary", "problem"), rows=tuple(rows), hints=statement.hints
    )


def show_create_object(state: SessionState, statement: ShowCreate) -> StatementResult | DataFrame:
    """Show the statement that would make an object of ours; others are Spark's."""
    if not state.catalog.exists(statement.kind, statement.name) and state.spark.catalog.tableExists(statement.name):
        return state.spark.sql(statement.source.text)
    at = Site(clause="the name", source=statement.source, span=statement.name_span)
    text = show_create(state.catalog.get(statement.kind, statement.name, at=at))
    return StatementResult(kind=f"SHOW CREATE {statement.kind.value}", columns=("statement",), rows=((text,),))


def describe(state: SessionState, statement: Describe) -> StatementResult | DataFrame:
    """Describe a table or view of ours; others are Spark's."""
    found = state.catalog.find(statement.name)
    if isinstance(found, TableDefinition):
        columns, rows = description_of(state.planner.resolved(found))
        return StatementResult(kind="DESCRIBE", columns=tuple(columns), rows=tuple(rows))
    if isinstance(found, ViewDefinition):
        return _describe_view(state, found)
    with naming_unknown_tables(state, statement.source):
        return state.spark.sql(statement.source.text)


def show_columns(state: SessionState, statement: ShowColumns) -> StatementResult | DataFrame:
    """Describe the columns of a table or view of ours whose names are like a pattern; others are Spark's."""
    if state.catalog.find(statement.name) is None:
        with naming_unknown_tables(state, statement.source):
            return state.spark.sql(statement.source.text)
    described = describe(state, Describe(source=statement.source, name=statement.name))
    assert isinstance(described, StatementResult)
    rows = tuple(row for row in described.rows if _is_like(str(row[0]), statement.like) is not statement.is_negated)
    return replace(described, kind="SHOW COLUMNS", rows=rows, hints=statement.hints)


def show_namespaces(_: SessionState, statement: ShowNamespaces) -> StatementResult:
    """Show the names that Flink's tables begin with; there is one catalog and one database."""
    kind = statement.kind
    current, plural = ("CURRENT ", "") if statement.is_current else ("", "S")
    return StatementResult(
        kind=f"SHOW {current}{kind.value.upper()}{plural}",
        columns=(f"{current.lower()}{kind.value} name",),
        rows=((_DEFAULT_NAMES[kind],),),
    )


def use(_: SessionState, statement: Use) -> StatementResult:
    """Accept the names of the catalog and the database that there are.

    Raises:
        SqlError: another one is to be used.
    """
    for kind, name in statement.names.items():
        if name.lower() != _DEFAULT_NAMES[kind]:
            raise statement.source.error(
                statement.span,
                f"there is one {kind.value}, '{_DEFAULT_NAMES[kind]}', and no '{name}'",
                "Leave USE out. A table may have a name with dots: CREATE TABLE shop.orders (...)",
            )
    return StatementResult(kind="USE", hints=statement.hints)


def set_option(state: SessionState, statement: Set) -> StatementResult:
    """Set or show settings: ours by our keys, Spark's by all others."""
    if statement.key is None:
        return _settings(state)
    key = statement.key.lower()
    if statement.value is None:
        value = state.settings.texts().get(key) if key in _OURS else state.spark.conf.get(statement.key, None)
        return StatementResult(kind="SET", columns=("key", "value"), rows=((statement.key, value),))
    if not _is_ours(key):
        state.spark.conf.set(statement.key, statement.value)
        return StatementResult(kind="SET", hints=statement.hints)
    state.settings.set(statement.key, statement.value)
    if key == _TIME_ZONE:
        state.spark.conf.set("spark.sql.session.timeZone", statement.value)
    return StatementResult(kind="SET", hints=statement.hints)


def reset(state: SessionState, statement: Reset) -> StatementResult:
    """Forget one setting of ours or all of them; a key of Spark's is unset."""
    if statement.key is not None and not _is_ours(statement.key.lower()):
        state.spark.conf.unset(statement.key)
    else:
        state.settings.reset(statement.key)
    return StatementResult(kind="RESET", hints=statement.hints)


def _is_like(name: str, pattern: str | None) -> bool:
    """Whether a name is like a pattern of SQL, in any case; a `*` is any text as well, as in Spark's SHOW."""
    if pattern is None:
        return True
    pieces = re.split(r"(\\.|[%_*])", pattern.lower())
    wild = {"%": ".*", "*": ".*", "_": "."}
    text = "".join(wild.get(each) or re.escape(each.removeprefix("\\")) for each in pieces)
    return re.fullmatch(text, name.lower(), re.DOTALL) is not None


def _is_ours(key: str) -> bool:
    """Whether a key is meant for us; a misspelt one of ours must not end in Spark's settings unseen."""
    return key.startswith(("execution.", "pipeline.", "table.", "tidemark."))


def _settings(state: SessionState) -> StatementResult:
    return StatementResult(kind="SET", columns=("key", "value"), rows=tuple(sorted(state.settings.texts().items())))


def _describe_view(state: SessionState, view: ViewDefinition) -> StatementResult:
    frame = run_query(state, SqlText(view.query), is_read=False)
    names = view.columns or tuple(frame.columns)
    rows = tuple((name, field.dataType.simpleString()) for name, field in zip(names, frame.schema.fields, strict=True))
    return StatementResult(kind="DESCRIBE", columns=("name", "type"), rows=rows)


HANDLERS: Final[dict[type, Callable[[SessionState, Any], DataFrame | StatementResult]]] = {
    Describe: describe,
    Reset: reset,
    Set: set_option,
    Show: show,
    ShowColumns: show_columns,
    ShowCreate: show_create_object,
    ShowNamespaces: show_namespaces,
    Use: use,
}
"""What runs each statement of this file."""
