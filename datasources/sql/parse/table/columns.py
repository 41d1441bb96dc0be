"""One column of a table: physical, computed, or about the record."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span
from datasources.grammar.sql_types import SqlType
from datasources.sql.parse.table.primary_keys import begins_column_key, read_column_key
from datasources.sql.parse.tokens.expressions import read_expression
from datasources.sql.parse.tokens.names import name
from datasources.sql.parse.types import read_type
from datasources.sql.statements.catalog_objects import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    PrimaryKey,
)

_REFUSED_CLAUSES: Final = {
    "DEFAULT": "Columns of Tidemark's tables have no default; use COALESCE in a query.",
    "GENERATED": "Write a computed column as: name AS expression.",
    "UNIQUE": "Write PRIMARY KEY NOT ENFORCED; other constraints do not exist here.",
    "CHECK": "Check rows with WHERE in a query; only PRIMARY KEY NOT ENFORCED exists here.",
    "REFERENCES": "Only PRIMARY KEY NOT ENFORCED exists here.",
    "WITH": "The list of columns is not closed: add ')' before WITH.",
    "WATERMARK": "A comma is missing before WATERMARK.",
    "AS": "A computed column has no type: write name AS CAST(expression AS type).",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadColumn:
    """A column, and the primary key if the column declared itself to be one."""

    column: Column
    key: PrimaryKey | None = None


def read_column(cursor: Cursor) -> ReadColumn:
    """Read a column.

    Raises:
        SqlError: a part of it is missing or wrong.
    """
    start = cursor.token
    column_name = name(cursor, "the name of a column")
    if cursor.sees_symbol("."):
        raise cursor.error(
            start.span.to(cursor.peek().span),
            "a column of a table has a plain name",
            "Put a name with a dot in backquotes; fields of a column stand in its type: ROW<...>.",
        )
    if cursor.skip("AS"):
        return ReadColumn(column=_read_computed(cursor, column_name, start))
    column_type = read_type(cursor, f"the type of '{column_name}' or AS")
    if _sees_metadata(cursor):
        column: Column = _read_metadata(cursor, column_name, column_type, start)
        _require_end(cursor, column_name)
        return ReadColumn(column=column)
    return _read_physical(cursor, column_name, column_type, start)


def _read_computed(cursor: Cursor, column_name: str, start: Token) -> ComputedColumn:
    expression, expression_span = read_expression(cursor, f"the expression of '{column_name}'")
    comment = _read_comment(cursor)
    return ComputedColumn(
        name=column_name,
        expression=expression,
        comment=comment,
        span=_from(start, cursor),
        expression_span=expression_span,
    )


def _sees_metadata(cursor: Cursor) -> bool:
    token = cursor.token
    if token.word == "METADATA":
        return True
    if token.word == "VIRTUAL":
        hint = "VIRTUAL stands at the end: name TYPE METADATA FROM 'key' VIRTUAL."
        raise cursor.unexpected("METADATA before VIRTUAL", hint)
    if token.word and token.word != "COMMENT" and difflib.get_close_matches(token.word, ("METADATA",)):
        raise cursor.unexpected("METADATA, ',' or ')'", "Did you mean METADATA?")
    return False


def _read_metadata(cursor: Cursor, column_name: str, column_type: SqlType, start: Token) -> MetadataColumn:
    cursor.expect("METADATA")
    if cursor.token.kind is TokenKind.STRING:
        raise cursor.unexpected("FROM", f"Write METADATA FROM {cursor.token.text}.")
    key = cursor.string("the key of the metadata") if cursor.skip("FROM") else None
    is_virtual = cursor.skip("VIRTUAL")
    if is_virtual and cursor.sees("FROM"):
        raise cursor.unexpected("the end of the column", "VIRTUAL stands at the end: METADATA FROM 'key' VIRTUAL.")
    comment = _read_comment(cursor)
    return MetadataColumn(
        name=column_name,
        type=column_type,
        key=key,
        is_virtual=is_virtual,
        comment=comment,
        span=_from(start, cursor),
    )


def _read_physical(cursor: Cursor, column_name: str, column_type: SqlType, start: Token) -> ReadColumn:
    key = read_column_key(cursor, column_name) if begins_column_key(cursor) else None
    comment = _read_comment(cursor)
    if key is None and begins_column_key(cursor):
        key = read_column_key(cursor, column_name)
    _require_end(cursor, column_name)
    span = _from(start, cursor)
    return ReadColumn(
        column=PhysicalColumn(name=column_name, type=column_type, comment=comment, span=span),
        key=key,
    )


def _read_comment(cursor: Cursor) -> str | None:
    return cursor.string("the comment of a column") if cursor.skip("COMMENT") else None


def _require_end(cursor: Cursor, column_name: str) -> None:
    """Refuse what follows a column and is neither a comma nor the end of the list."""
    token = cursor.token
    if not token.word and token.kind not in (TokenKind.QUOTED, TokenKind.STRING):
        return
    if token.word in ("FIRST", "AFTER"):
        return  # ALTER TABLE ADD rejects a position itself.
    raise _surplus(cursor, token, column_name)


def _surplus(cursor: Cursor, token: Token, column_name: str) -> SqlError:
    wanted = f"',' or ')' after the column '{column_name}'"
    if token.word in _REFUSED_CLAUSES:
        return cursor.unexpected(wanted, _REFUSED_CLAUSES[token.word])
    if token.word == "ENFORCED" or (token.word == "NOT" and cursor.peek().word == "ENFORCED"):
        return cursor.unexpected(wanted, "Write PRIMARY KEY NOT ENFORCED.")
    near = (
        difflib.get_close_matches(token.word, ("COMMENT", "METADATA", "PRIMARY", "VIRTUAL"), n=1) if token.word else []
    )
    if near:
        return cursor.unexpected(wanted, f"Did you mean {near[0]}?")
    if token.kind is TokenKind.STRING:
        return cursor.unexpected(wanted, f"A comment is written COMMENT {token.text}.")
    return cursor.unexpected(wanted, f"If '{token.value}' is the next column, a comma is missing before it.")


def _from(start: Token, cursor: Cursor) -> Span:
    return start.span.to(cursor.previous.span)
