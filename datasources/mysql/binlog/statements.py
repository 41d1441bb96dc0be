"""Statements in the binlog: which tables they name, as far as their head says so; the rest is not guessed at.

A statement between row events is DDL, or the mark of a transaction, or a change that was written as a statement and
whose rows are therefore not in the binlog. Only the kind and the named tables are read from it: what an ALTER does to
columns is told by the next TABLE_MAP, and which ALTERs rewrite rows is not decided here, so the text is handed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from datasources.mysql.binlog.cursor import ByteCursor
from datasources.mysql.binlog.positions import BinlogPosition

__all__ = [
    "Statement",
    "StatementKind",
    "name_at",
    "parse_query",
    "parse_statement",
    "statement_tokens",
    "unquoted",
]


class StatementKind(Enum):
    """What a statement does."""

    BEGIN = "begin"
    END = "end"
    XA_START = "xa start"
    XA_END = "xa end"
    XA_COMMIT = "xa commit"
    XA_ROLLBACK = "xa rollback"
    CREATE_TABLE = "create table"
    ALTER_TABLE = "alter table"
    DROP_TABLE = "drop table"
    TRUNCATE_TABLE = "truncate table"
    RENAME_TABLE = "rename table"
    DATABASE = "database"
    ROWS = "rows"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of the binlog.

    Attributes:
        kind: what it does.
        text: the statement; password literals never appear in those that servers write.
        database: the default database.
        tables: database and table of every table that it names; for `ROWS` every name that could be one.
        position: where its event begins; None while it is not known.
    """

    kind: StatementKind
    text: str
    database: str
    tables: tuple[tuple[str, str], ...] = ()
    position: BinlogPosition | None = None


_TOKEN: Final = re.compile(
    r"/\*!\d*|\*/|/\*.*?\*/|--\s[^\n]*|#[^\n]*|`(?:[^`]|``)*`|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[\w$\u0080-\uffff]+|\S",
    re.DOTALL,
)
_HEADS: Final = {
    ("BEGIN",): StatementKind.BEGIN,
    ("START", "TRANSACTION"): StatementKind.BEGIN,
    ("COMMIT",): StatementKind.END,
    ("ROLLBACK",): StatementKind.END,
    ("XA", "START"): StatementKind.XA_START,
    ("XA", "BEGIN"): StatementKind.XA_START,
    ("XA", "END"): StatementKind.XA_END,
    ("XA", "COMMIT"): StatementKind.XA_COMMIT,
    ("XA", "ROLLBACK"): StatementKind.XA_ROLLBACK,
    ("CREATE", "TABLE"): StatementKind.CREATE_TABLE,
    ("ALTER", "TABLE"): StatementKind.ALTER_TABLE,
    ("DROP", "TABLE"): StatementKind.DROP_TABLE,
    ("TRUNCATE",): StatementKind.TRUNCATE_TABLE,
    ("RENAME", "TABLE"): StatementKind.RENAME_TABLE,
    ("CREATE", "INDEX"): StatementKind.OTHER,
    ("CREATE", "DATABASE"): StatementKind.DATABASE,
    ("CREATE", "SCHEMA"): StatementKind.DATABASE,
    ("ALTER", "DATABASE"): StatementKind.DATABASE,
    ("ALTER", "SCHEMA"): StatementKind.DATABASE,
    ("DROP", "DATABASE"): StatementKind.DATABASE,
    ("DROP", "SCHEMA"): StatementKind.DATABASE,
    ("INSERT",): StatementKind.ROWS,
    ("UPDATE",): StatementKind.ROWS,
    ("DELETE",): StatementKind.ROWS,
    ("REPLACE",): StatementKind.ROWS,
    ("LOAD", "DATA"): StatementKind.ROWS,
    ("WITH",): StatementKind.ROWS,
}
# Words that may stand between the head and the table's name, or between CREATE and TABLE.
_BETWEEN: Final = frozenset({"IF", "NOT", "EXISTS", "ONLINE", "OFFLINE", "IGNORE", "TABLE", "TABLES"})
_ADJECTIVES: Final = frozenset({"TEMPORARY", "OR", "REPLACE", "ONLINE", "OFFLINE", "IGNORE", "UNDO"})
_RENAMED_PARTS: Final = frozenset({"COLUMN", "INDEX", "KEY", "CONSTRAINT"})
_NOT_TABLES: Final = frozenset(
    {
        "INTO",
        "FROM",
        "SET",
        "VALUES",
        "VALUE",
        "WHERE",
        "SELECT",
        "IGNORE",
        "LOW_PRIORITY",
        "DELAYED",
        "QUICK",
        "INFILE",
    }
)
# Comments, and the marks around statements for certain versions, whose content counts.
_SKIPPED: Final = ("/*", "*/", "-- ", "#")


def parse_query(body: bytes) -> Statement:
    """Return the statement of a QUERY event.

    Args:
        body: the event without header and checksum.
    """
    cursor = ByteCursor(body, 8)
    schema_length = cursor.number(1)
    cursor.take(2)
    cursor.take(cursor.number(2))
    database = cursor.take(schema_length).decode()
    cursor.take(1)
    return parse_statement(body[cursor.at :].decode("utf-8", "replace"), database)


def parse_statement(text: str, database: str) -> Statement:
    """Return what a statement does, with the tables that its head names."""
    tokens = statement_tokens(text)
    kind, at = _kind(tokens)
    return Statement(kind=kind, text=text, database=database, tables=tuple(_tables(kind, tokens[at:], database)))


def statement_tokens(text: str) -> list[str]:
    """Return a statement's words, names and signs, without comments; what stands in ``/*! ... */`` counts."""
    return [token for token in _TOKEN.findall(text) if not token.startswith(_SKIPPED)]


def _kind(tokens: list[str]) -> tuple[StatementKind, int]:
    words = [token.upper() for token in tokens[:6]] + ["", ""]
    second = 1
    while words[0] in ("CREATE", "DROP", "ALTER") and words[second] in _ADJECTIVES:
        second += 1
    kind = _HEADS.get((words[0], words[second]))
    if kind is not None:
        return kind, second + 1
    return _HEADS.get((words[0],), StatementKind.OTHER), 1


def _tables(kind: StatementKind, tokens: list[str], database: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(tokens) and tokens[at].upper() in _BETWEEN:
        at += 1
    if kind is StatementKind.ROWS:
        yield from dict.fromkeys(_any_names(tokens, database))
    elif kind in (StatementKind.CREATE_TABLE, StatementKind.ALTER_TABLE, StatementKind.TRUNCATE_TABLE):
        name, at = name_at(tokens, at, database)
        yield name
        if kind is StatementKind.ALTER_TABLE:
            yield from _other_tables(tokens, at, database)
    elif kind in (StatementKind.DROP_TABLE, StatementKind.RENAME_TABLE):
        while at < len(tokens):
            name, at = name_at(tokens, at, database)
            yield name
            if at >= len(tokens) or tokens[at].upper() not in (",", "TO"):
                return
            at += 1


def _other_tables(tokens: list[str], at: int, database: str) -> Iterator[tuple[str, str]]:
    """The tables that ALTER TABLE ... RENAME TO and EXCHANGE PARTITION ... WITH TABLE name."""
    for index in range(at, len(tokens) - 1):
        word, following = tokens[index].upper(), tokens[index + 1].upper()
        if word == "RENAME" and following not in _RENAMED_PARTS:
            yield name_at(tokens, index + 1 + (following in ("TO", "AS")), database)[0]
        if (word, following) == ("WITH", "TABLE"):
            yield name_at(tokens, index + 2, database)[0]


def name_at(tokens: list[str], at: int, database: str) -> tuple[tuple[str, str], int]:
    """Return database and table of the name at a token, and the index behind it."""
    first = unquoted(tokens[at]) if at < len(tokens) else ""
    if tokens[at + 1 : at + 2] == ["."]:
        return (first, unquoted(tokens[at + 2]) if at + 2 < len(tokens) else ""), at + 3
    return (database, first), at + 1


def _any_names(tokens: list[str], database: str) -> Iterator[tuple[str, str]]:
    for index, token in enumerate(tokens):
        if token.upper() not in _NOT_TABLES and (token[0] in '`"_$' or token[0].isalnum()):
            yield name_at(tokens, index, database)[0]
            yield database, unquoted(token)


def unquoted(token: str) -> str:
    """Return a name without its quotes."""
    if token[:1] in ("`", '"'):
        return token[1:-1].replace(token[0] * 2, token[0])
    return token
