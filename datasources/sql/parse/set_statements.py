"""SET, RESET, USE, and what else changes a session.

The session decides whether a quoted key is ours or Spark's; unquoted keys follow Spark's rules.
`SET key = value` without quotes takes the rest of the line verbatim, as Spark does; it is ours if the key is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span
from datasources.grammar.string_literals import string_value
from datasources.sql.parse.tokens.names import name, path
from datasources.sql.statements.statements import Namespace, PassThrough, Reset, Set, Statement, Use

_PREFIXES: Final = ("execution.", "pipeline.", "table.", "tidemark.")
"""What no key of Spark's begins with: those begin with `spark.`."""


def is_own_key(key: str) -> bool:
    """Tell whether a setting is Tidemark's and not Spark's."""
    return key.startswith(_PREFIXES)


def read_set(cursor: Cursor) -> Set | PassThrough:
    """Read SET 'key' = 'value', SET 'key', SET, or SET key = value.

    Raises:
        SqlError: the key is quoted or ours, and the statement is malformed.
    """
    cursor.expect("SET")
    if cursor.is_at_end:
        return Set(source=cursor.source)
    if cursor.token.kind is TokenKind.STRING:
        return _read_quoted(cursor)
    return _read_raw(cursor)


def read_reset(cursor: Cursor) -> Reset | PassThrough:
    """Read RESET, RESET 'key', or RESET key.

    Raises:
        SqlError: the key is quoted or ours, and the statement is malformed.
    """
    cursor.expect("RESET")
    if cursor.is_at_end:
        return Reset(source=cursor.source)
    if cursor.token.kind is TokenKind.STRING:
        key = cursor.string("a key")
        cursor.expect_end()
        return Reset(source=cursor.source, key=key)
    key = cursor.source.text[cursor.token.start :].strip()
    return Reset(source=cursor.source, key=key) if is_own_key(key) else PassThrough(source=cursor.source)


def _read_quoted(cursor: Cursor) -> Set:
    span = cursor.token.span
    key = cursor.string("a key")
    if cursor.is_at_end:
        return Set(source=cursor.source, key=key, key_span=span)
    cursor.expect_symbol("=", "Write SET 'key' = 'value'.")
    if cursor.token.kind is not TokenKind.STRING:
        raise cursor.unexpected("the value in single quotes", f"Write SET '{key}' = 'value'.")
    value = cursor.string("the value")
    cursor.expect_end()
    return Set(source=cursor.source, key=key, value=value, key_span=span)


def _read_raw(cursor: Cursor) -> Set | PassThrough:
    start = cursor.token.start
    rest = cursor.source.text[start:]
    key, equals, value = (each.strip() for each in rest.partition("="))
    if not is_own_key(key):
        return PassThrough(source=cursor.source)
    span = Span(start, start + len(key))
    if len(key.split()) > 1:
        raise _no_equals(cursor, span, key)
    if not equals:
        return Set(source=cursor.source, key=key, key_span=span)
    return Set(source=cursor.source, key=key, value=_unquoted(value), key_span=span)


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return string_value(value) if is_quoted else value


def _no_equals(cursor: Cursor, span: Span, key: str) -> SqlError:
    return cursor.error(span, f"'=' is missing in '{key}'", f"Write SET '{key.split(maxsplit=1)[0]}' = 'value'.")


def read_use(cursor: Cursor) -> Use | PassThrough:
    """Read USE CATALOG name; other forms of USE are Spark's.

    Raises:
        SqlError: a name is missing, or modules are to be used.
    """
    cursor.expect("USE")
    if cursor.word == "MODULES" and cursor.peek().kind is not TokenKind.END:
        raise cursor.error(cursor.token.span, *_NO_MODULES)
    if cursor.word != "CATALOG" or cursor.peek().kind is TokenKind.END:
        return PassThrough(source=cursor.source)
    cursor.next()
    span = cursor.token.span
    catalog = name(cursor, "the name of a catalog")
    cursor.expect_end()
    return Use(source=cursor.source, names={Namespace.CATALOG: catalog}, span=span)


def read_use_of_flink(cursor: Cursor) -> Use | PassThrough:
    """Read USE [catalog.]database in the dialect of Flink.

    Raises:
        SqlError: as `read_use`.
    """
    start = cursor.at
    statement = read_use(cursor)
    if isinstance(statement, Use):
        return statement
    cursor.back_to(start + 1)
    names, span = path(cursor, "the name of a database")
    cursor.expect_end()
    kinds = (Namespace.CATALOG, Namespace.DATABASE)[-len(names) :]
    if len(names) > len(kinds):
        raise cursor.error(span, "a database has one name, or two with its catalog's", "Write USE default_database.")
    return Use(source=cursor.source, names=dict(zip(kinds, names, strict=True)), span=span)


def read_module(cursor: Cursor) -> PassThrough:
    """Refuse LOAD MODULE and UNLOAD MODULE; LOAD DATA is Spark's.

    Raises:
        SqlError: there are no modules.
    """
    start = cursor.next()
    if cursor.sees("MODULE"):
        raise cursor.error(start.span.to(cursor.token.span), *_NO_MODULES)
    return PassThrough(source=cursor.source)


def read_removed_jar(cursor: Cursor) -> PassThrough:
    """Refuse REMOVE JAR, which Spark does not have either.

    Raises:
        SqlError: jars stay.
    """
    start = cursor.next()
    if cursor.sees("JAR"):
        raise cursor.error(start.span.to(cursor.token.span), "Spark does not remove jars", "Start a new session.")
    return PassThrough(source=cursor.source)


def read_added_jar(cursor: Cursor) -> PassThrough:
    """Refuse ADD JAR in the dialect of Flink, whose jars hold connectors and functions; other forms of ADD are Spark's.

    Raises:
        SqlError: nothing in the jar would be found.
    """
    start = cursor.next()
    if cursor.sees("JAR"):
        raise cursor.error(
            start.span.to(cursor.token.span),
            "the connectors, formats and functions in jars of Flink do not run in Spark",
            "Start Spark with the packages that it needs (spark-submit --packages ...); functions are those of Python.",
        )
    return PassThrough(source=cursor.source)


_NO_MODULES: Final = (
    "Tidemark has no modules: the functions of the dialect are built in",
    "Functions of your own: CREATE FUNCTION name AS 'package.module.attribute' LANGUAGE PYTHON.",
)
READERS: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType(
    {
        "LOAD": read_module,
        "REMOVE": read_removed_jar,
        "RESET": read_reset,
        "SET": read_set,
        "UNLOAD": read_module,
        "USE": read_use,
    }
)
"""The readers of this file by the first word of the statement."""
READERS_OF_FLINK: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType(
    {"ADD": read_added_jar, "USE": read_use_of_flink}
)
"""Those that the dialect of Flink has in their stead."""
