"""The effect of a statement between the snapshot position and the read on a table's rows.

Rules of this file. Row events report every change of a row except those made by DDL, so a statement is harmless only if
the classifier in `ddl` says so; nothing is guessed. A table that was emptied or replaced yields no rows: the statement
itself follows in the changelog. So does one that certainly rewrites rows, if the table is read again after it. But rows
may be left out only if the changelog certainly has them void: it knows types that are not known here. Any other
statement fails the read.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from itertools import pairwise

from datasources.mysql.binlog.statements.statement_tokens import unquoted
from datasources.mysql.binlog.statements.statements import Statement, StatementKind
from datasources.mysql.ddl import Action, classify, concerns, redefinitions
from datasources.mysql.tables.chunk_key import TableName


class BackfillEffect(Enum):
    """The effect on a table's rows."""

    NONE = "none"
    """Rows and the columns that are read are unchanged."""
    EMPTIED = "emptied"
    """The table was truncated, dropped or renamed."""
    REPLACED = "replaced"
    """Another table was given its name."""
    REWRITTEN = "rewritten"
    """Rows may have other values now, and the binlog does not have the earlier ones."""
    UNCERTAIN = "uncertain"
    """As REWRITTEN, but the changelog, which knows more, may pass over the statement: rows are as before then."""
    UNIDENTIFIED = "unidentified"
    """The index by which rows are found is gone, and the changelog may pass over the statement."""


def effect_on(statement: Statement, table: TableName, columns: Collection[str], key: str) -> BackfillEffect:
    """Return the effect of a statement on a table.

    ``columns`` are those that are read, including the key's; ``key`` is the index by which the table is divided.
    """
    if not concerns(statement, table[0].__eq__, lambda *found: found == table):
        return BackfillEffect.NONE
    effect = classify(statement, {table: dict.fromkeys(columns)}, lambda *found: found == table, logs_cascades=_unknown)
    if statement.kind is StatementKind.RENAME_TABLE and table in statement.tables[1::2]:
        return BackfillEffect.REPLACED
    if effect.action is Action.TRUNCATE or effect.is_emptied or _exchanges(statement):
        return BackfillEffect.EMPTIED
    may_rewrite = effect.action is Action.STOP
    if may_rewrite and not _may_pass(statement, table, columns):
        return BackfillEffect.REWRITTEN
    if _drops_index(statement, key):
        return BackfillEffect.UNIDENTIFIED
    return BackfillEffect.UNCERTAIN if may_rewrite else BackfillEffect.NONE


def _may_pass(statement: Statement, table: TableName, columns: Collection[str]) -> bool:
    """Return whether types before the statement, or a server that logs cascades, may make it one that keeps rows."""
    is_known = classify(statement, {table: dict.fromkeys(columns)}, lambda *found: found == table)
    return bool(redefinitions(statement)) or is_known.action is Action.PASS


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
