"""What a statement between the mark and the read did to a table's rows, as far as the rewind is concerned.

Rules of this file. Row events tell every change of a row but those that DDL makes, so a statement is harmless only if
`ddl.classify` knows it to be; nothing is guessed. A table that was emptied or replaced yields no rows: the statement
itself follows in the changelog. Everything else ends the read with the statement.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from itertools import pairwise

from datasources.mysql.binlog.statements.statement_tokens import unquoted
from datasources.mysql.binlog.statements.statements import Statement, StatementKind
from datasources.mysql.ddl import Action, classify, concerns

__all__ = ["DdlEffect", "effect_on"]


class DdlEffect(Enum):
    """What becomes of a table's rows."""

    NONE = "none"
    """Rows and the columns that are read stay what they were."""
    EMPTIED = "emptied"
    """The table was truncated or dropped, or has another name."""
    REPLACED = "replaced"
    """Another table has its name."""
    REWRITTEN = "rewritten"
    """Rows may have other values now, and the binlog does not say which they had."""


def effect_on(statement: Statement, database: str, table: str, columns: Collection[str], key: str) -> DdlEffect:
    """Return what a statement did to a table.

    Args:
        statement: Of the binlog.
        database: The table's database.
        table: The table.
        columns: The columns that are read, the key's among them.
        key: The name of the index by which the table is cut.
    """
    name = (database, table)
    if not concerns(statement, database.__eq__, lambda *found: found == name):
        return DdlEffect.NONE
    verdict = classify(statement, {name: dict.fromkeys(columns)}, lambda *found: found == name, logs_cascades=_unknown)
    if statement.kind is StatementKind.RENAME_TABLE and name in statement.tables[1::2]:
        return DdlEffect.REPLACED
    if verdict.action is Action.TRUNCATE or verdict.is_emptied or _exchanges(statement):
        return DdlEffect.EMPTIED
    if verdict.action is Action.STOP or _drops_index(statement, key):
        return DdlEffect.REWRITTEN
    return DdlEffect.NONE


def _unknown() -> bool:
    return False


def _exchanges(statement: Statement) -> bool:
    words = [token.upper() for token in statement.tokens()]
    return statement.kind is StatementKind.ALTER_TABLE and ("EXCHANGE", "PARTITION") in pairwise(words)


def _drops_index(statement: Statement, key: str) -> bool:
    """Whether a statement that drops something names the index of the key."""
    tokens = statement.tokens()
    is_drop = any(token.upper() == "DROP" for token in tokens)
    return is_drop and any(unquoted(token).lower() == key.lower() for token in tokens)
