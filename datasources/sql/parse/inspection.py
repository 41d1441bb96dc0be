"""DROP, SHOW and DESCRIBE of catalog objects. Forms that only Spark has are passed through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.sql.parse.tokens.names import object_name
from datasources.sql.statements.statements import (
    Describe,
    Drop,
    Namespace,
    ObjectKind,
    PassThrough,
    Show,
    ShowColumns,
    ShowCreate,
    ShowNamespaces,
    Statement,
)

_KINDS: Final = {each.value: each for each in ObjectKind}
_PLURALS: Final = {f"{each.value}S": each for each in ObjectKind}
_DESCRIBE_OF_SPARK: Final = frozenset({"DATABASE", "SCHEMA", "NAMESPACE", "CATALOG", "FUNCTION", "QUERY", "PROCEDURE"})
_NAMES: Final = (TokenKind.WORD, TokenKind.QUOTED)


def read_drop(cursor: Cursor) -> Drop | PassThrough:
    """Read DROP [TEMPORARY] TABLE | VIEW | FUNCTION; DROP of anything else is Spark's.

    Raises:
        SqlError: the name is missing.
    """
    cursor.expect("DROP")
    is_temporary = cursor.skip("TEMPORARY") or cursor.skip("TEMP")
    if is_temporary and cursor.peek().word == "FUNCTION":
        cursor.skip("SYSTEM")
    kind = _KINDS.get(cursor.token.word)
    if kind is None:
        return PassThrough(source=cursor.source)
    cursor.next()
    if_exists = cursor.skip("IF", "EXISTS")
    name, span = object_name(cursor, f"the name of the {kind.value.lower()}")
    if cursor.sees("PURGE"):
        return PassThrough(source=cursor.source)
    cursor.expect_end()
    return Drop(
        source=cursor.source, kind=kind, name=name, if_exists=if_exists, is_temporary=is_temporary, name_span=span
    )


def read_show(cursor: Cursor) -> Statement:
    """Read SHOW TABLES | VIEWS | FUNCTIONS, SHOW CREATE, SHOW COLUMNS; all other forms of SHOW are Spark's.

    Raises:
        SqlError: a name is missing, or only Flink has what is to be shown.
    """
    cursor.expect("SHOW")
    if cursor.skip("CREATE"):
        return _read_show_create(cursor)
    if cursor.sees("COLUMNS"):
        return _read_show_columns(cursor)
    if cursor.sees("CURRENT") and cursor.peek().word in _NAMESPACES:
        cursor.next()
        namespace = _NAMESPACES[cursor.next().word]
        cursor.expect_end()
        return ShowNamespaces(source=cursor.source, kind=namespace, is_current=True)
    _refuse_of_flink(cursor, _NOT_SHOWN)
    kind = _PLURALS.get(cursor.token.word)
    if kind is None:
        return PassThrough(source=cursor.source)
    cursor.next()
    has_like = cursor.skip("LIKE") or cursor.token.kind is TokenKind.STRING
    pattern = cursor.string("a pattern") if has_like else None
    if not cursor.is_at_end:
        return PassThrough(source=cursor.source)
    return Show(source=cursor.source, kind=kind, like=pattern)


def read_describe(cursor: Cursor) -> Describe | PassThrough:
    """Read DESCRIBE [TABLE] [EXTENDED] name; all other forms of DESCRIBE are Spark's.

    Raises:
        SqlError: the name is missing.
    """
    cursor.next()
    if cursor.token.word in _DESCRIBE_OF_SPARK and cursor.peek().kind is not TokenKind.END:
        return PassThrough(source=cursor.source)
    if cursor.token.word == "TABLE" and cursor.peek().kind in _NAMES:
        cursor.next()
    is_extended = cursor.token.word in ("EXTENDED", "FORMATTED") and cursor.peek().kind in _NAMES
    if is_extended:
        cursor.next()
    if cursor.token.kind not in (*_NAMES, TokenKind.END):
        return PassThrough(source=cursor.source)
    name, span = object_name(cursor, "the name of the table")
    if not cursor.is_at_end:
        return PassThrough(source=cursor.source)
    return Describe(source=cursor.source, name=name, is_extended=is_extended, name_span=span)


def read_show_of_flink(cursor: Cursor) -> Statement:
    """Read SHOW in the dialect of Flink, where catalogs, databases and functions are not Spark's.

    Raises:
        SqlError: as `read_show`.
    """
    start = cursor.at
    cursor.expect("SHOW")
    if cursor.token.word in _NAMESPACE_PLURALS and cursor.peek().kind is TokenKind.END:
        return ShowNamespaces(source=cursor.source, kind=_NAMESPACE_PLURALS[cursor.next().word])
    if cursor.skip("USER", "FUNCTIONS") and cursor.is_at_end:
        return Show(source=cursor.source, kind=ObjectKind.FUNCTION)
    cursor.back_to(start + 1)
    _refuse_of_flink(cursor, _NOT_SHOWN_OF_FLINK)
    cursor.back_to(start)
    return read_show(cursor)


def _refuse_of_flink(cursor: Cursor, reasons: Mapping[tuple[str, ...], tuple[str, str]]) -> None:
    """Refuse what has no meaning here, where Spark's parser would only find an unexpected word."""
    for words, (reason, hint) in reasons.items():
        if cursor.sees(*words):
            last = cursor.peek(len(words) - 1)
            raise cursor.error(cursor.token.span.to(last.span), reason, hint)


def _read_show_columns(cursor: Cursor) -> ShowColumns | PassThrough:
    cursor.expect("COLUMNS")
    if cursor.word not in ("FROM", "IN"):
        return PassThrough(source=cursor.source)
    cursor.next()
    name, span = object_name(cursor, "the name of the table")
    if cursor.word in ("FROM", "IN"):
        return PassThrough(source=cursor.source)
    is_negated = cursor.skip("NOT")
    like = cursor.string("a pattern") if cursor.skip("LIKE") else None
    if like is None and is_negated:
        raise cursor.unexpected("LIKE")
    cursor.expect_end()
    return ShowColumns(source=cursor.source, name=name, like=like, is_negated=is_negated, name_span=span)


def _read_show_create(cursor: Cursor) -> ShowCreate | PassThrough:
    kind = _KINDS.get(cursor.token.word)
    if kind not in (ObjectKind.TABLE, ObjectKind.VIEW):
        return PassThrough(source=cursor.source)
    cursor.next()
    name, span = object_name(cursor, f"the name of the {kind.value.lower()}")
    if not cursor.is_at_end:
        return PassThrough(source=cursor.source)
    return ShowCreate(source=cursor.source, kind=kind, name=name, name_span=span)


_NAMESPACES: Final = {"CATALOG": Namespace.CATALOG, "DATABASE": Namespace.DATABASE}
_NAMESPACE_PLURALS: Final = {"CATALOGS": Namespace.CATALOG, "DATABASES": Namespace.DATABASE}
_NO_MODULES: Final = (
    "Tidemark has no modules: the functions of the dialect are built in",
    "SHOW FUNCTIONS lists the session's own.",
)
_NO_PROCEDURES: Final = ("Tidemark has no procedures", "Write the statements that one would run.")
_NOT_SHOWN: Final[Mapping[tuple[str, ...], tuple[str, str]]] = {
    ("MODULES",): _NO_MODULES,
    ("FULL", "MODULES"): _NO_MODULES,
    ("JARS",): ("jars are Spark's", "Write LIST JARS."),
    ("JOBS",): (
        "the streams of a session are no jobs of a cluster",
        "In Python: t.queries, or spark.streams.active.",
    ),
}
_NOT_SHOWN_OF_FLINK: Final[Mapping[tuple[str, ...], tuple[str, str]]] = {
    ("PROCEDURES",): _NO_PROCEDURES,
    ("PARTITIONS",): (
        "the partitions of a table are its directories, and no catalog lists them",
        "Ask the table: SELECT DISTINCT key FROM table, in batch mode.",
    ),
}
READERS: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType(
    {"DESC": read_describe, "DESCRIBE": read_describe, "DROP": read_drop, "SHOW": read_show}
)
"""The readers of this file by the first word of the statement."""
READERS_OF_FLINK: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType({"SHOW": read_show_of_flink})
"""Those that the dialect of Flink has in their stead."""
