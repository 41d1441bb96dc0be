"""CREATE, ALTER and DROP of tables, views and functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from datasources.sql.definitions.alter_table import alter
from datasources.sql.definitions.create_like import merge_like
from datasources.sql.definitions.legacy_options import refuse_legacy_options
from datasources.sql.definitions.option_secrets import masked_source, refuse_masked
from datasources.sql.execute.create.found_columns import with_found_columns
from datasources.sql.execute.create.query_columns import table_of_query
from datasources.sql.execute.insert import insert
from datasources.sql.execute.queries import run_query
from datasources.sql.execute.result import StatementResult
from datasources.sql.statements.catalog_objects import ComputedColumn, TableDefinition
from datasources.sql.statements.statements import (
    AddElements,
    AlterTable,
    CreateFunction,
    CreateTable,
    CreateView,
    Drop,
    ModifyElements,
    ObjectKind,
    OtherAction,
    RenameTable,
)
from datasources.sql.text.error_location import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasources.grammar.source_text import SqlText
    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.statements.statements import Insert


def create_table(state: SessionState, statement: CreateTable) -> StatementResult:
    """Check a table in full, put it into the catalog, and start the INSERT of a query that it is created from.

    Where the INSERT cannot start the table is not left behind.
    """
    result = StatementResult(kind="CREATE TABLE", hints=statement.hints)
    if statement.if_not_exists and state.catalog.exists(ObjectKind.TABLE, statement.table.name):
        return result
    filled_by = define_table(state, statement)
    if filled_by is None:
        return result
    try:
        inserted = insert(state, filled_by)
    except Exception:
        state.catalog.drop(ObjectKind.TABLE, statement.table.name, is_temporary=statement.table.is_temporary)
        raise
    return replace(inserted, kind=result.kind, hints=(*result.hints, *inserted.hints))


def define_table(state: SessionState, statement: CreateTable) -> Insert | None:
    """Check a table in full and put it into the catalog; return the INSERT that it is created with."""
    table = statement.table
    refuse_masked(table.options, source=statement.source, spans=statement.option_spans)
    source = masked_source(statement.source, table.options, statement.option_spans)
    refuse_legacy_options(table.options, source=source, spans=statement.option_spans)
    if statement.like is not None:
        site = Site(clause="LIKE", source=source, span=statement.like.span)
        base = _table(state, statement.like.base, site)
        _require_dialect(base, base, state, site)
        table = merge_like(base, statement)
    filled = None
    if statement.query is not None:
        filled = table_of_query(state, statement, source)
        table = filled.table
    table = with_found_columns(state.spark, replace(table, dialect=state.settings.typed.dialect.value))
    datatypes = _checked(state, table, source)
    at = Site(clause="the table's name", source=source, span=statement.name_span)
    state.catalog.create(table, if_not_exists=statement.if_not_exists, datatypes=datatypes, at=at)
    return None if filled is None else filled.insert


def create_view(state: SessionState, statement: CreateView) -> StatementResult:
    """Analyse a view's query and put its text into the catalog."""
    run_query(state, statement.source.part(statement.query_span), is_read=False)
    view = replace(statement.view, dialect=state.settings.typed.dialect.value)
    state.catalog.create(view, if_not_exists=statement.if_not_exists, or_replace=statement.or_replace)
    return StatementResult(kind="CREATE VIEW", hints=statement.hints)


def create_function(state: SessionState, statement: CreateFunction) -> StatementResult:
    """Load a Python function, put it into the catalog, and make it known to readers and to Spark."""
    state.functions.get(statement.function)
    state.catalog.create(statement.function, if_not_exists=statement.if_not_exists, or_replace=statement.or_replace)
    state.bind_functions()
    return StatementResult(kind="CREATE FUNCTION", hints=statement.hints)


def alter_table(state: SessionState, statement: AlterTable) -> StatementResult:
    """Change a table; it is checked in full before it replaces the old one."""
    result = StatementResult(kind="ALTER TABLE", hints=statement.hints)
    action, source = statement.action, statement.source
    at = Site(clause="the table's name", source=source, span=statement.name_span)
    if not state.catalog.exists(ObjectKind.TABLE, statement.name):
        if state.spark.catalog.tableExists(statement.name):
            state.spark.sql(source.text)
            return result
        if statement.if_exists:
            return result
    table = _table(state, statement.name, at)
    if isinstance(action, OtherAction):
        raise action.error or source.error(
            action.span,
            f"a table of this catalog cannot be changed like this; '{statement.name}' is one",
            "ADD, MODIFY and DROP of columns, PRIMARY KEY and WATERMARK, RENAME column TO, RENAME TO, SET and RESET "
            "are possible.",
        )
    if isinstance(action, RenameTable):
        state.catalog.rename(
            statement.name, action.name, at=Site(clause="the new name", source=source, span=action.span)
        )
        return result
    if isinstance(action, AddElements | ModifyElements):
        added = replace(table, columns=tuple(each.column for each in action.columns), watermarks=action.watermarks)
        _require_dialect(table, added, state, at)
    changed = alter(table, action, source)
    state.catalog.replace(table, changed, datatypes=_checked(state, changed, source), at=at)
    return result


def drop(state: SessionState, statement: Drop) -> StatementResult:
    """Take an object out of the catalog, or, if it is none of ours, let Spark do it."""
    result = StatementResult(kind=f"DROP {statement.kind.value}", hints=statement.hints)
    if not state.catalog.exists(statement.kind, statement.name) and _is_sparks(state, statement):
        state.spark.sql(statement.source.text)
        return result
    state.catalog.drop(
        statement.kind,
        statement.name,
        if_exists=statement.if_exists,
        is_temporary=statement.is_temporary,
        at=Site(clause="the name", source=statement.source, span=statement.name_span),
    )
    if statement.kind is ObjectKind.FUNCTION:
        state.bind_functions()
    return result


def _table(state: SessionState, name: str, at: Site) -> TableDefinition:
    found = state.catalog.get(ObjectKind.TABLE, name, at=at)
    assert isinstance(found, TableDefinition)
    return found


def _require_dialect(table: TableDefinition, part: TableDefinition, state: SessionState, site: Site) -> None:
    """Refuse expressions of two dialects in one table: those of a part, beside or from a table."""
    has_expressions = bool(part.watermarks) or any(isinstance(each, ComputedColumn) for each in part.columns)
    if has_expressions and table.dialect != state.settings.typed.dialect.value:
        raise site.error(
            f"'{table.name}' was created in the dialect '{table.dialect}', and a table's expressions are in one",
            f"SET 'table.sql-dialect' = '{table.dialect}' first.",
        )


def _checked(state: SessionState, table: TableDefinition, source: SqlText) -> tuple[str, ...]:
    """Resolve a table and return the types of its watermarks."""
    resolved = state.planner.resolved(table, source)
    if table.partition_keys is not None:
        site = Site(clause="PARTITIONED BY", source=source, span=table.partition_keys.span)
        state.planner.connector(table).require_files(table.name, site)
    return tuple(watermark.datatype for watermark in resolved.watermarks)


def _is_sparks(state: SessionState, statement: Drop) -> bool:
    if statement.kind is ObjectKind.FUNCTION:
        return bool(state.spark.catalog.functionExists(statement.name))
    return bool(state.spark.catalog.tableExists(statement.name))


HANDLERS: Final[dict[type, Callable[[SessionState, Any], StatementResult]]] = {
    AlterTable: alter_table,
    CreateFunction: create_function,
    CreateTable: create_table,
    CreateView: create_view,
    Drop: drop,
}
"""What runs each statement of this file."""
