"""CREATE TABLE ... AS SELECT: the columns of the table are those of the query.

As in Flink, columns that the statement declares and the query does not have come first. A column that both have is the
query's, with the type that the statement declares; INSERT checks that its values fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.spark_type_names import sql_name_of
from datasources.grammar.sql_types import SqlType
from datasources.near_matches import near_matches
from datasources.sql.execute.queries import query_result
from datasources.sql.flink.query_translator import translate_query
from datasources.sql.parse import parse_type
from datasources.sql.statements.catalog_objects import Column, PhysicalColumn, TableDefinition
from datasources.sql.statements.statements import Insert

if TYPE_CHECKING:
    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.statements.statements import CreateTable

_LONGEST: Final = 2_147_483_647
_UNBOUNDED: Final = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOfQuery:
    """A table that is created from a query.

    Attributes:
        table: with all of its columns.
        insert: what fills it.
    """

    table: TableDefinition
    insert: Insert


def table_of_query(state: SessionState, statement: CreateTable, source: SqlText) -> TableOfQuery:
    """Return the table of a statement with a query.

    Args:
        state: the session.
        statement: with a query.
        source: its text, secrets masked.

    Raises:
        SqlError: a column of the query has no name or no type that a table could have, or contradicts a declared one;
            otherwise as `query_result`.
    """
    assert statement.query_span is not None
    query = source.part(statement.query_span)
    found = _query_columns(state, query, source, statement)
    merged = [_merged(statement, source, name, kind) for name, kind in _ordered(statement, source, found)]
    names = {each.name.lower() for each in merged}
    own = [each for each in statement.table.columns if each.name.lower() not in names]
    insert = Insert(
        source=source,
        target=statement.table.name,
        columns=tuple(found),
        target_span=statement.name_span,
        query_span=statement.query_span,
    )
    return TableOfQuery(table=replace(statement.table, columns=(*own, *merged)), insert=insert)


def _query_columns(state: SessionState, query: SqlText, source: SqlText, statement: CreateTable) -> dict[str, SqlType]:
    """Return the columns of the query with their types, which may all be NULL."""
    result = query_result(state, query, takes_changes=True, is_read=False)
    has_row_kind = result.changes is not None and result.changes.has_row_kind
    fields = result.frame.schema.fields[1 if has_row_kind else 0 :]
    found: dict[str, SqlType] = {}
    for field in fields:
        if field.name.lower() in (name.lower() for name in found):
            raise _of_query(statement, source, f"two columns of the query are called '{field.name}'")
        try:
            found[field.name] = parse_type(SqlText(sql_name_of(field.dataType.simpleString())))
        except SqlError:
            raise _of_query(
                statement,
                source,
                f"column '{field.name}' of the query is {field.dataType.simpleString()}, which no column can be",
            ) from None
    if state.is_flink:
        translated = translate_query(query, state.names()).columns
        if [each.name for each in translated] == list(found):
            return {each.name: _declared(each.type) for each in translated}
    return found


def _declared(kind: SqlType) -> SqlType:
    """Return a type of Flink's as a column is declared, with NULLs."""
    if kind.parameters == (_LONGEST,) and kind.root in _UNBOUNDED:
        return SqlType(_UNBOUNDED[kind.root])
    return replace(kind, is_nullable=True)


def _of_query(statement: CreateTable, source: SqlText, reason: str) -> SqlError:
    assert statement.query_span is not None
    return source.error(statement.query_span, reason, "Name it with AS, or CAST it.")


def _ordered(statement: CreateTable, source: SqlText, found: dict[str, SqlType]) -> list[tuple[str, SqlType]]:
    """Return the columns in the order that the statement names."""
    if not statement.column_order:
        return list(found.items())
    spellings = {name.lower(): name for name in found}
    for name in statement.column_order:
        if name.lower() not in spellings:
            raise source.error(
                statement.name_span, f"the query has no column '{name}'", near_matches(name, found).strip()
            )
    if len(statement.column_order) != len(found):
        left_out = [name for key, name in spellings.items() if key not in map(str.lower, statement.column_order)]
        raise source.error(
            statement.name_span, f"the list of columns leaves out {', '.join(left_out)}", "Name all columns, or none."
        )
    return [(name, found[spellings[name.lower()]]) for name in statement.column_order]


def _merged(statement: CreateTable, source: SqlText, name: str, kind: SqlType) -> Column:
    declared = next((each for each in statement.table.columns if each.name.lower() == name.lower()), None)
    if declared is None:
        return PhysicalColumn(name=name, type=kind)
    if not isinstance(declared, PhysicalColumn):
        raise source.error(
            declared.span or statement.name_span,
            f"the query has a column '{name}', and this one is not stored",
            "Leave one of the two out.",
        )
    return declared
