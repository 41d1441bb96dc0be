"""Classifies a statement by its first words and parses it.

Spark's statements are returned as `PassThrough`, unparsed; a query is returned as `Query`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.parse import inspection, queries, set_statements
from datasources.sql.parse.create_other import (
    read_create_function,
    read_create_function_of_flink,
    read_create_view,
)
from datasources.sql.parse.table.alter import read_alter
from datasources.sql.parse.table.create_table import read_create_table
from datasources.sql.statements.statements import CreateFunction, PassThrough, Statement


def parse_statement(source: SqlText, *, is_flink: bool = False) -> Statement:
    """Return the statement that a text holds. A semicolon at its end is no part of it.

    With ``is_flink`` words that both have mean what they mean in Flink: USE, SHOW CATALOGS, CREATE FUNCTION, ADD JAR.

    Raises:
        SqlError: the text is empty, cannot be cut into tokens, or is a malformed statement of ours; the error names
            what was expected and underlines what was found.
    """
    cursor = _cursor(source)
    first = cursor.token
    if first.kind is TokenKind.END:
        raise cursor.error(first.span, "there is no statement", "Write one, such as SHOW TABLES.")
    if first.text == "(":
        return queries.read_query(cursor)
    read = (_READERS_OF_FLINK if is_flink else _READERS).get(first.word)
    return PassThrough(source=cursor.source) if read is None else read(cursor)


def _cursor(source: SqlText) -> Cursor:
    """Return the span before the first token, without the semicolons at the end of the text."""
    tokens = tuple(each for each in tokenize(source) if each.kind is not TokenKind.COMMENT)
    last = len(tokens) - 1
    while last > 0 and tokens[last - 1].text == ";" and tokens[last - 1].kind is TokenKind.SYMBOL:
        last -= 1
    if last == len(tokens) - 1:
        return Cursor(source, tokens)
    end = tokens[last].start
    whole = SqlText(source.text[:end], source.name, source.first_line, source.first_column)
    return Cursor(whole, (*tokens[:last], Token(TokenKind.END, "", end, end)))


def _read_create_of_flink(cursor: Cursor) -> Statement:
    cursor.expect("CREATE")
    if cursor.sees("CATALOG"):
        raise cursor.error(
            cursor.previous.span.to(cursor.token.span),
            "there is one catalog, and its tables need no prefix",
            "Open a catalog that lasts with TableEnvironment(spark, catalog='/a/directory').",
        )
    cursor.back_to(0)
    return _read_create(cursor, read_function=read_create_function_of_flink)


def _read_create(
    cursor: Cursor, read_function: Callable[..., CreateFunction | PassThrough] = read_create_function
) -> Statement:
    cursor.expect("CREATE")
    or_replace = cursor.skip("OR", "REPLACE")
    is_temporary = cursor.skip("TEMPORARY") or cursor.skip("TEMP")
    if is_temporary and cursor.peek().word == "FUNCTION":
        cursor.skip("SYSTEM")
    if cursor.skip("VIEW"):
        return read_create_view(cursor, or_replace=or_replace, is_temporary=is_temporary)
    if cursor.skip("FUNCTION"):
        return read_function(cursor, or_replace=or_replace, is_temporary=is_temporary)
    if not cursor.sees("TABLE"):
        return PassThrough(source=cursor.source)
    span = cursor.next().span
    statement = read_create_table(cursor, is_temporary=is_temporary)
    if or_replace and not isinstance(statement, PassThrough):
        raise cursor.error(
            Span(_start_of(cursor), span.end),
            "a table of Tidemark's cannot be replaced",
            "Write DROP TABLE IF EXISTS name first, then CREATE TABLE.",
        )
    return statement


def _start_of(cursor: Cursor) -> int:
    cursor.back_to(0)
    return cursor.token.start


_READERS: Final[dict[str, Callable[[Cursor], Statement]]] = {
    **inspection.READERS,
    **queries.READERS,
    **set_statements.READERS,
    "ALTER": read_alter,
    "CREATE": _read_create,
}
"""The statements that are ours by their first word; each file of a family lists its own."""
_READERS_OF_FLINK: Final[dict[str, Callable[[Cursor], Statement]]] = {
    **_READERS,
    **inspection.READERS_OF_FLINK,
    **set_statements.READERS_OF_FLINK,
    "CREATE": _read_create_of_flink,
}
"""The same in the dialect of Flink."""
