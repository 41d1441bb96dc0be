"""Queries, INSERT INTO, statement sets and EXPLAIN. Queries stay text: the query layer and Spark parse them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.parse.tokens.expressions import read_expression, skip_brackets
from datasources.sql.parse.tokens.names import name, names_in_parentheses, object_name
from datasources.sql.statements.statements import (
    Explain,
    ExplainMode,
    Insert,
    PassThrough,
    Query,
    Statement,
    StatementSet,
)

QUERY_WORDS: Final = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
"""Words that begin a query; a parenthesis does as well."""

_EXPLAIN_OF_SPARK: Final = frozenset({"EXTENDED", "CODEGEN", "COST", "FORMATTED", "ANALYZE", "LOGICAL"})
_JSON: Final = "JSON_EXECUTION_PLAN"
_CHANGELOG_MODE: Final = "CHANGELOG_MODE"
_NOTHING_TO_SHOW: Final = {
    "ESTIMATED_COST": "Spark estimates no cost of a stream; EXPLAIN COST SELECT ... is Spark's, for Spark's tables",
    "PLAN_ADVICE": "there is no advice about plans",
}
"""Details that only Flink has, and why they show nothing."""
_DETAILS: Final = frozenset({_JSON, _CHANGELOG_MODE, *_NOTHING_TO_SHOW})


def read_query(cursor: Cursor) -> Query | PassThrough:
    """Take a whole statement that begins as a query does.

    Raises:
        SqlError: its brackets do not match.
    """
    if cursor.sees("WITH") and _has_outer_insert(cursor):
        return PassThrough(source=cursor.source)
    read_query_span(cursor)
    return Query(source=cursor.source, hints=tuple(cursor.hints))


def read_insert(cursor: Cursor) -> Insert | PassThrough:
    """Read INSERT INTO and INSERT OVERWRITE; other forms of INSERT are Spark's.

    Raises:
        SqlError: the target or the query is missing.
    """
    cursor.expect("INSERT")
    is_overwrite = cursor.skip("OVERWRITE")
    if not is_overwrite and not cursor.skip("INTO"):
        return PassThrough(source=cursor.source)
    if is_overwrite and cursor.word in ("DIRECTORY", "LOCAL") and cursor.peek().text != ".":
        return PassThrough(source=cursor.source)
    if cursor.token.word == "TABLE" and cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED):
        cursor.next()
    if cursor.word in ("SELECT", "VALUES", "WITH"):
        raise cursor.unexpected("the name of the table to insert into")
    target, span = object_name(cursor, "the name of the table to insert into")
    partition = _read_partition(cursor) if cursor.skip("PARTITION") else {}
    if cursor.token.word in ("REPLACE", "IF") or cursor.sees("BY", "NAME"):
        return PassThrough(source=cursor.source)
    columns: tuple[str, ...] = ()
    if cursor.sees_symbol("(") and not _begins_query(cursor):
        columns = names_in_parentheses(cursor, "the name of a column")
    query_span = read_query_span(cursor)
    return Insert(
        source=cursor.source,
        hints=tuple(cursor.hints),
        target=target,
        columns=columns,
        partition=partition,
        is_overwrite=is_overwrite,
        target_span=span,
        query_span=query_span,
    )


def _read_partition(cursor: Cursor) -> dict[str, str | None]:
    """Read `(key = literal, key, ...)`; the value is kept as it is written."""
    cursor.expect_symbol("(", "Write PARTITION (key = 'value').")
    found: dict[str, str | None] = {}
    while True:
        key = name(cursor, "a partition key")
        is_given = cursor.skip_symbol("=") or cursor.skip_symbol("==")
        found[key] = read_expression(cursor, f"the value of '{key}'")[0] if is_given else None
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol(")")
    return found


def read_execute(cursor: Cursor) -> StatementSet | PassThrough:
    """Read EXECUTE STATEMENT SET BEGIN insert; ... END; other forms of EXECUTE are Spark's.

    Raises:
        SqlError: BEGIN, END or a semicolon is missing, or something other than INSERT INTO is between them.
    """
    cursor.expect("EXECUTE")
    if not cursor.skip("STATEMENT"):
        return PassThrough(source=cursor.source)
    cursor.expect("SET", "BEGIN", hint="Write EXECUTE STATEMENT SET BEGIN insert; insert; END.")
    inserts: list[Insert] = []
    while not cursor.skip("END"):
        inserts.append(_read_member(cursor))
    if not inserts:
        raise cursor.error(cursor.previous.span, "the statement set is empty", "Put INSERT INTO statements in it.")
    cursor.expect_end()
    return StatementSet(source=cursor.source, inserts=tuple(inserts))


def read_explain(cursor: Cursor) -> Explain | PassThrough:
    """Read EXPLAIN [PLAN FOR | details] of a query or an INSERT; all others are Spark's.

    Raises:
        SqlError: the explained statement is malformed, or there is no such detail.
    """
    cursor.expect("EXPLAIN")
    if cursor.token.word in _EXPLAIN_OF_SPARK:
        return PassThrough(source=cursor.source)
    if cursor.token.word == "AST":
        raise cursor.error(
            cursor.token.span,
            "EXPLAIN AST does not exist here",
            f"There are EXPLAIN PLAN FOR, which shows the tree, and the details {', '.join(sorted(_DETAILS))}.",
        )
    details = _read_details(cursor)
    if not details and cursor.skip("PLAN"):
        cursor.expect("FOR", hint="Write EXPLAIN PLAN FOR SELECT ...")
    is_query = _is_query(cursor.token)
    if not is_query and cursor.token.word != "INSERT":
        if details or cursor.is_at_end:
            raise cursor.unexpected("a query or INSERT INTO")
        return PassThrough(source=cursor.source)
    statement = _explained(cursor, is_query=is_query)
    if isinstance(statement, PassThrough):
        return PassThrough(source=cursor.source)
    nothing = tuple(f"{each}: {_NOTHING_TO_SHOW[each]}" for each in details if each in _NOTHING_TO_SHOW)
    return Explain(
        source=cursor.source,
        hints=(*statement.hints, *nothing),
        statement=statement,
        mode=ExplainMode.JSON if _JSON in details else ExplainMode.TREE,
        shows_changelog_mode=_CHANGELOG_MODE in details,
    )


def _read_details(cursor: Cursor) -> list[str]:
    details: list[str] = []
    while cursor.token.word in _DETAILS:
        details.append(cursor.next().word)
        if not cursor.skip_symbol(","):
            break
        if cursor.token.word not in _DETAILS:
            raise cursor.unexpected(", ".join(sorted(_DETAILS)))
    return details


def _explained(cursor: Cursor, *, is_query: bool) -> Query | Insert | PassThrough:
    part = Span(cursor.token.start, len(cursor.source.text))
    inner = Cursor(cursor.source.part(part))
    return read_query(inner) if is_query else read_insert(inner)


def _read_member(cursor: Cursor) -> Insert:
    start = cursor.token
    if start.word != "INSERT":
        raise cursor.unexpected("INSERT INTO or END", "A statement set holds INSERT INTO statements, then END.")
    while not cursor.sees_symbol(";"):
        if cursor.is_at_end:
            raise cursor.error(
                start.span,
                "this INSERT is not ended",
                "End each INSERT with a semicolon, also the last one, and the set with END.",
            )
        cursor.next()
    # Up to the semicolon, because a hint may precede it.
    part = Span(start.start, cursor.next().start)
    insert = read_insert(Cursor(cursor.source.part(part)))
    if isinstance(insert, PassThrough):
        raise cursor.error(start.span, "a statement set holds INSERT INTO only", "Run this statement by itself.")
    return insert


def read_query_span(cursor: Cursor) -> Span:
    """Read a query to the end of the statement; return its span.

    Raises:
        SqlError: no query begins here, its brackets do not match, or a semicolon parts it.
    """
    start = cursor.token
    if start.word not in QUERY_WORDS and start.text != "(":
        raise cursor.unexpected("a query (SELECT, WITH, VALUES or '(')")
    while not cursor.is_at_end:
        token = cursor.token
        if token.kind is not TokenKind.SYMBOL:
            cursor.next()
        elif token.text in ("(", "[", "{"):
            skip_brackets(cursor)
        elif token.text in (")", "]", "}"):
            raise cursor.error(token.span, f"this '{token.text}' closes nothing", "Remove it, or open the bracket.")
        elif token.text == ";":
            raise cursor.error(token.span, "a statement ends here, and text follows", "Run one statement at a time.")
        else:
            cursor.next()
    return Span(start.start, cursor.end)


def _is_query(token: Token) -> bool:
    return token.word in QUERY_WORDS or (token.text == "(" and token.kind is TokenKind.SYMBOL)


def _begins_query(cursor: Cursor) -> bool:
    """Tell whether the parenthesis that comes next holds a query, and not the names of columns."""
    if cursor.peek().text == "(":
        return True
    return cursor.peek().word in QUERY_WORDS and cursor.peek(2).text not in (",", ")")


def _has_outer_insert(cursor: Cursor) -> bool:
    """Tell whether WITH belongs to an INSERT, as in Spark's `WITH q AS (...) INSERT INTO t SELECT * FROM q`."""
    depth = 0
    ahead = 0
    while (token := cursor.peek(ahead)).kind is not TokenKind.END:
        if token.kind is TokenKind.SYMBOL:
            depth += (token.text == "(") - (token.text == ")")
        elif depth == 0 and token.word == "INSERT" and cursor.peek(ahead + 1).word in ("INTO", "OVERWRITE"):
            return True
        ahead += 1
    return False


READERS: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType(
    {
        **dict.fromkeys(QUERY_WORDS, read_query),
        "EXECUTE": read_execute,
        "EXPLAIN": read_explain,
        "INSERT": read_insert,
    }
)
"""The readers of this file by the first word of the statement."""
