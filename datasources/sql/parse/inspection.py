"""DROP, SHOW and DESCRIBE of catalog objects. Forms that only Spark has are passed through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.sql.parse.tokens.names import object_name
from datasources.sql.statements.statements import Describe, Drop, ObjectKind, PassThrough, Show, ShowCreate, Statement

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


def read_show(cursor: Cursor) -> Show | ShowCreate | PassThrough:
    """Read SHOW TABLES | VIEWS | FUNCTIONS and SHOW CREATE; all other forms of SHOW are Spark's.

    Raises:
        SqlError: a name is missing.
    """
    cursor.expect("SHOW")
    if cursor.skip("CREATE"):
        return _read_show_create(cursor)
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


def _read_show_create(cursor: Cursor) -> ShowCreate | PassThrough:
    kind = _KINDS.get(cursor.token.word)
    if kind not in (ObjectKind.TABLE, ObjectKind.VIEW):
        return PassThrough(source=cursor.source)
    cursor.next()
    name, span = object_name(cursor, f"the name of the {kind.value.lower()}")
    if not cursor.is_at_end:
        return PassThrough(source=cursor.source)
    return ShowCreate(source=cursor.source, kind=kind, name=name, name_span=span)


READERS: Final[Mapping[str, Callable[[Cursor], Statement]]] = MappingProxyType(
    {"DESC": read_describe, "DESCRIBE": read_describe, "DROP": read_drop, "SHOW": read_show}
)
"""The readers of this file by the first word of the statement."""
