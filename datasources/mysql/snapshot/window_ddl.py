"""What a statement between the mark and the read did to a table's rows, as far as the rewind is concerned.

Rules of this file. Row events tell every change of a row but those that DDL makes, so a statement is harmless only if
it is known to be; nothing is guessed. A table that was emptied or replaced yields no rows: the statement itself follows
in the changelog. One whose copy took its place (gh-ost) holds the same rows, and the changelog says nothing of that, so
its rows are yielded. Everything else ends the read with the statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum
from typing import Final

from datasources.mysql.binlog.statements import Statement, StatementKind, statement_tokens
from datasources.mysql.ddl import is_swap

__all__ = ["DdlEffect", "effect_on"]


class DdlEffect(Enum):
    """What becomes of a table's rows."""

    NONE = "none"
    """Rows and the columns that are read stay what they were."""
    EMPTIED = "emptied"
    """The table was truncated or dropped, or another one has its name."""
    REWRITTEN = "rewritten"
    """Rows may have other values now, and the binlog does not say which they had."""


_EMPTYING: Final = (StatementKind.TRUNCATE_TABLE, StatementKind.DROP_TABLE, StatementKind.RENAME_TABLE)
_PARTS: Final = frozenset({"INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK", "PERIOD"})
_TABLE_OPTIONS: Final = frozenset(
    {"COMMENT", "AUTO_INCREMENT", "ALGORITHM", "LOCK", "ENGINE", "FORCE", "ROW_FORMAT", "KEY_BLOCK_SIZE", "COMPRESSION"}
) | {"STATS_PERSISTENT", "STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES", "WAIT", "NOWAIT"}
_PARTITION_CARE: Final = frozenset(
    {"PARTITION", "REMOVE", "REORGANIZE", "COALESCE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REPAIR"}
)
_FILLING: Final = frozenset({"DEFAULT", "NOT", "AS", "GENERATED", "AUTO_INCREMENT", "PRIMARY", "SERIAL"})


def effect_on(statement: Statement, database: str, table: str, columns: Collection[str], key: str) -> DdlEffect:
    """Return what a statement did to a table.

    Args:
        statement: Of the binlog.
        database: The table's database.
        table: The table.
        columns: The columns that are read, the key's among them.
        key: The name of the index by which the table is cut.
    """
    words = statement_tokens(statement.text)
    if statement.kind is StatementKind.DATABASE:
        is_dropped = words[:1] and words[0].upper() == "DROP" and _plain(words[-1]).lower() == database.lower()
        return DdlEffect.EMPTIED if is_dropped else DdlEffect.NONE
    is_temporary = [word.upper() for word in words[1:2]] == ["TEMPORARY"]
    is_about_it = (database, table) in statement.tables and not is_temporary
    if not is_about_it or is_swap(statement, (database, table)):
        return DdlEffect.NONE
    if statement.kind in _EMPTYING:
        return DdlEffect.EMPTIED
    if statement.kind is StatementKind.CREATE_TABLE:
        is_replaced = [word.upper() for word in words[1:3]] == ["OR", "REPLACE"]
        return DdlEffect.EMPTIED if is_replaced else DdlEffect.NONE
    if statement.kind is not StatementKind.ALTER_TABLE:
        return DdlEffect.NONE
    return _alter(words, {column.lower() for column in columns}, key)


def _alter(words: list[str], columns: Collection[str], key: str) -> DdlEffect:
    effects = {_clause(clause, columns, key) for clause in _clauses(words)}
    for effect in (DdlEffect.EMPTIED, DdlEffect.REWRITTEN):
        if effect in effects:
            return effect
    return DdlEffect.NONE


def _clauses(words: list[str]) -> Iterator[list[str]]:
    """Yield the clauses behind ``ALTER TABLE name``, which commas outside parentheses part."""
    at = next(place for place, word in enumerate(words) if word.upper() == "TABLE") + 1
    while [word.upper() for word in words[at : at + 1]] in (["IF"], ["EXISTS"]):
        at += 1
    at += 3 if words[at + 1 : at + 2] == ["."] else 1
    clause: list[str] = []
    depth = 0
    for word in words[at:]:
        depth += (word == "(") - (word == ")")
        if word == "," and depth == 0:
            yield clause
            clause = []
        else:
            clause.append(word)
    yield clause


def _clause(clause: list[str], columns: Collection[str], key: str) -> DdlEffect:
    head, rest = (clause[0].upper(), clause[1:]) if clause else ("", [])
    following = rest[0].upper() if rest else ""
    if head == "RENAME" and following not in ("COLUMN", "INDEX", "KEY"):
        return DdlEffect.EMPTIED
    if (head, following) == ("EXCHANGE", "PARTITION"):
        return DdlEffect.EMPTIED
    is_harmless = (
        head in _TABLE_OPTIONS
        or head in _PARTITION_CARE
        or (head == "ADD" and _adds_nothing_read(rest, columns))
        or (head == "DROP" and _drops_nothing_read(rest, columns, key))
        or (head == "RENAME" and (following != "COLUMN" or _names(rest[1:]).isdisjoint(columns)))
        or (head in ("MODIFY", "CHANGE") and _changes_nothing_read(head, rest, columns))
        or head == "ALTER"  # a default or a visibility, for rows to come
    )
    return DdlEffect.NONE if is_harmless else DdlEffect.REWRITTEN


def _adds_nothing_read(rest: list[str], columns: Collection[str]) -> bool:
    following = rest[0].upper() if rest else ""
    if following in _PARTS:
        return True
    name, *definition = _behind_column(rest) or ["("]
    if name == "(":
        return False
    is_filled = not _FILLING.isdisjoint(word.upper() for word in definition)
    return _plain(name).lower() not in columns or not is_filled


def _drops_nothing_read(rest: list[str], columns: Collection[str], key: str) -> bool:
    following = rest[0].upper() if rest else ""
    if following in ("INDEX", "KEY"):
        return _plain(rest[-1]).lower() != key.lower()
    if following in ("FOREIGN", "CHECK"):
        return True
    if following in ("PRIMARY", "PARTITION", "CONSTRAINT"):
        return False
    name = _behind_column(rest)
    return bool(name) and _plain(name[0]).lower() not in columns


def _changes_nothing_read(head: str, rest: list[str], columns: Collection[str]) -> bool:
    names = [_plain(word).lower() for word in _behind_column(rest)[: 2 if head == "CHANGE" else 1]]
    return bool(names) and not set(names) & set(columns)


def _names(words: list[str]) -> set[str]:
    return {_plain(word).lower() for word in words if word.upper() != "TO"}


def _behind_column(rest: list[str]) -> list[str]:
    """Return what stands behind ``[COLUMN] [IF [NOT] EXISTS]``."""
    at = 1 if rest and rest[0].upper() == "COLUMN" else 0
    if [word.upper() for word in rest[at : at + 1]] == ["IF"]:
        at += 3 if [word.upper() for word in rest[at + 1 : at + 2]] == ["NOT"] else 2
    return rest[at:]


def _plain(word: str) -> str:
    if word[:1] in ("`", '"'):
        return word[1:-1].replace(word[0] * 2, word[0])
    return word
