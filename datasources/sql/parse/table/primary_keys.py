"""`[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED`, as an element of its own or of one column."""

from __future__ import annotations

from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.sql.parse.tokens.names import name, names_in_parentheses
from datasources.sql.statements.catalog_objects import PrimaryKey

_HINT: Final = "Write NOT ENFORCED: the rows come from outside, so the key is not checked."
_OTHER_CONSTRAINTS: Final = frozenset({"UNIQUE", "CHECK", "FOREIGN"})


def is_constraint(cursor: Cursor) -> bool:
    """Tell whether a constraint comes next, and not a column that is called `primary` or `constraint`.

    Raises:
        SqlError: it is a constraint that does not exist here.
    """
    if cursor.sees("PRIMARY", "KEY"):
        return True
    is_other = cursor.token.word in _OTHER_CONSTRAINTS and cursor.peek().text == "("
    if is_other or cursor.sees("FOREIGN", "KEY"):
        raise cursor.error(
            cursor.token.span, f"{cursor.token.word} does not exist here", "Only PRIMARY KEY (...) NOT ENFORCED does."
        )
    return cursor.sees("CONSTRAINT") and cursor.peek(2).word in ("PRIMARY", *_OTHER_CONSTRAINTS)


def read_constraint(cursor: Cursor) -> PrimaryKey:
    """Read a primary key with its columns.

    Raises:
        SqlError: it is enforced, or a part of it is missing.
    """
    start = cursor.token
    constraint = name(cursor, "the name of the constraint") if cursor.skip("CONSTRAINT") else None
    cursor.expect("PRIMARY", "KEY", hint="Only PRIMARY KEY (...) NOT ENFORCED exists here.")
    columns = names_in_parentheses(cursor, "the name of a column of the key")
    _expect_not_enforced(cursor)
    return PrimaryKey(columns=columns, name=constraint, span=start.span.to(cursor.previous.span))


def begins_column_key(cursor: Cursor) -> bool:
    """Return whether a column continues with PRIMARY KEY."""
    return cursor.sees("PRIMARY") or cursor.sees("CONSTRAINT")


def read_column_key(cursor: Cursor, column: str) -> PrimaryKey:
    """Read PRIMARY KEY NOT ENFORCED after a column.

    Raises:
        SqlError: it is enforced, or a part of it is missing.
    """
    start = cursor.token
    constraint = name(cursor, "the name of the constraint") if cursor.skip("CONSTRAINT") else None
    cursor.expect("PRIMARY", "KEY", hint="Only PRIMARY KEY NOT ENFORCED exists here.")
    _expect_not_enforced(cursor)
    return PrimaryKey(columns=(column,), name=constraint, span=start.span.to(cursor.previous.span))


def _expect_not_enforced(cursor: Cursor) -> None:
    if cursor.sees("ENFORCED"):
        raise cursor.error(cursor.token.span, "a primary key cannot be enforced", _HINT)
    cursor.expect("NOT", "ENFORCED", hint=_HINT)
