"""Statements in the binlog: their kinds, and the tables that they name, as far as certain.

A statement between row events is DDL, or begins or ends a transaction, or is a change that was logged as a statement
and whose rows are therefore not in the binlog. Kind and named tables are read from its head; its effect on rows is not
decided here. A statement whose head has an unlisted form is `UNKNOWN`, and every name in it counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice, pairwise
from typing import Final

from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.statements.query_event import parse_query_event
from datasources.mysql.binlog.statements.statement_tokens import is_name, tokens_of, unquoted
from datasources.mysql.binlog.statements.statement_words import StatementWords, UnclearError

__all__ = ["Statement", "StatementKind", "name_at", "parse_query", "parse_statement"]


Name = tuple[str, str]


class StatementKind(Enum):
    """The kind of a statement."""

    BEGIN = "begin"
    END = "end"
    SAVEPOINT = "savepoint"
    ROLLBACK_TO = "rollback to savepoint"
    XA_START = "xa start"
    XA_END = "xa end"
    XA_COMMIT = "xa commit"
    XA_ROLLBACK = "xa rollback"
    CREATE_TABLE = "create table"
    ALTER_TABLE = "alter table"
    DROP_TABLE = "drop table"
    TRUNCATE_TABLE = "truncate table"
    RENAME_TABLE = "rename table"
    INDEX = "index"
    DATABASE = "database"
    ROWS = "rows"
    OTHER = "other"
    """Known, and it changes no table: a view, a login, a routine."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of the binlog.

    Attributes:
        kind: its kind.
        text: the statement; password literals never appear in those that servers write.
        database: the default database.
        tables: database and table of every table that it names; for `DATABASE` the database and ""; for `UNKNOWN`
            every name that could be one, none if it may be any; for `ROWS` none, because views, triggers and functions
            name others.
        sql_mode: of its session.
        databases: those whose tables it changes, if the server states them.
        position: begin of its event; None while it is not known.
        begin: begin of its transaction.
    """

    kind: StatementKind
    text: str
    database: str
    tables: tuple[Name, ...] = ()
    sql_mode: int = 0
    databases: frozenset[str] | None = None
    position: BinlogPosition | None = field(default=None, compare=False)
    begin: BinlogPosition | None = field(default=None, compare=False)

    def tokens(self) -> list[str]:
        """Return its words, names, texts and signs, without comments."""
        return list(tokens_of(self.text, self.sql_mode))

    def head(self) -> list[str]:
        """Return its first words in upper case."""
        return [token.upper() for token in islice(tokens_of(self.text, self.sql_mode), _HEAD_TOKENS)]


_HEAD_TOKENS: Final = 24
_SELECTING: Final = re.compile(r"select|values|table", re.IGNORECASE)
_MAX_TOKENS: Final = 100_000
_K = StatementKind
_EXACT: Final = {
    ("BEGIN",): _K.BEGIN,
    ("BEGIN", "WORK"): _K.BEGIN,
    ("START", "TRANSACTION"): _K.BEGIN,
    ("COMMIT",): _K.END,
    ("COMMIT", "WORK"): _K.END,
    ("ROLLBACK",): _K.END,
    ("ROLLBACK", "WORK"): _K.END,
}
_HEADS: Final[dict[tuple[str, ...], StatementKind]] = {
    ("XA", "START"): _K.XA_START,
    ("XA", "BEGIN"): _K.XA_START,
    ("XA", "END"): _K.XA_END,
    ("XA", "COMMIT"): _K.XA_COMMIT,
    ("XA", "ROLLBACK"): _K.XA_ROLLBACK,
    ("ROLLBACK", "TO"): _K.ROLLBACK_TO,
    ("ROLLBACK", "WORK"): _K.ROLLBACK_TO,
    ("TRUNCATE",): _K.TRUNCATE_TABLE,
    ("RENAME", "TABLE"): _K.RENAME_TABLE,
    ("RENAME", "TABLES"): _K.RENAME_TABLE,
    ("RENAME", "USER"): _K.OTHER,
    ("SAVEPOINT",): _K.SAVEPOINT,
    ("RELEASE", "SAVEPOINT"): _K.OTHER,
    ("GRANT",): _K.OTHER,
    ("REVOKE",): _K.OTHER,
    ("SET", "PASSWORD"): _K.OTHER,
    ("SET", "DEFAULT"): _K.OTHER,
    ("FLUSH",): _K.OTHER,
    ("ANALYZE", "TABLE"): _K.OTHER,
    ("ANALYZE", "TABLES"): _K.OTHER,
    ("OPTIMIZE", "TABLE"): _K.OTHER,
    ("OPTIMIZE", "TABLES"): _K.OTHER,
    ("INSTALL",): _K.OTHER,
    ("UNINSTALL",): _K.OTHER,
    **dict.fromkeys(
        ((word,) for word in ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH", "SELECT", "DO", "CALL")), _K.ROWS
    ),
}
_OBJECTS: Final = {
    "TABLE": _K.CREATE_TABLE,
    "TABLES": _K.CREATE_TABLE,
    "INDEX": _K.INDEX,
    "DATABASE": _K.DATABASE,
    "SCHEMA": _K.DATABASE,
    **dict.fromkeys(
        (
            *("VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE", "LIBRARY", "USER", "ROLE", "SERVER"),
            *("TABLESPACE", "LOGFILE", "RESOURCE", "REFERENCE", "INSTANCE", "SEQUENCE"),
        ),
        _K.OTHER,
    ),
}
_OF_TABLES: Final = {"CREATE": _K.CREATE_TABLE, "ALTER": _K.ALTER_TABLE, "DROP": _K.DROP_TABLE}
_ADJECTIVES: Final = frozenset(
    {
        *("TEMPORARY", "OR", "REPLACE", "ONLINE", "OFFLINE", "IGNORE", "UNDO", "UNIQUE", "FULLTEXT", "SPATIAL"),
        *("AGGREGATE", "SQL", "SECURITY", "INVOKER", "VECTOR"),
    }
)
_WITH_VALUES: Final = frozenset({"ALGORITHM", "DEFINER"})
_RENAMED_PARTS: Final = frozenset({"COLUMN", "INDEX", "KEY", "CONSTRAINT"})
_ENDS_OF_DROP: Final = frozenset({"RESTRICT", "CASCADE", "WAIT", "NOWAIT", ";"})


def parse_query(body: bytes, *, folds_names: bool = False) -> Statement:
    """Return the statement of a QUERY event.

    Args:
        body: the event without header and checksum.
        folds_names: whether the server stores table names in lower case (lower_case_table_names = 1).
    """
    event = parse_query_event(body)
    found = parse_statement(event.text, event.database, event.sql_mode)
    kind, tables = found.kind, found.tables
    if not event.is_certain and kind not in _TRANSACTIONS:
        kind, tables = _K.UNKNOWN, ()
    if folds_names:
        tables = tuple((database.lower(), table.lower()) for database, table in tables)
    return Statement(
        kind=kind,
        text=event.text,
        database=event.database.lower() if folds_names else event.database,
        tables=tables,
        sql_mode=event.sql_mode,
        databases=event.databases,
    )


def parse_statement(text: str, database: str, sql_mode: int = 0) -> Statement:
    """Return a statement's kind, with the tables that its head names."""
    head = list(islice(tokens_of(text, sql_mode), _HEAD_TOKENS))
    kind, at = _kind(head)
    if kind is _K.CREATE_TABLE and _selects(text, sql_mode, at):
        kind = _K.ROWS
    try:
        tables = tuple(_tables(kind, StatementWords(text, sql_mode, at), database))
    except UnclearError:
        kind, tables = _K.UNKNOWN, ()
    if kind is _K.UNKNOWN:
        tables = _any_names(list(islice(tokens_of(text, sql_mode), _MAX_TOKENS)), database)
    return Statement(kind=kind, text=text, database=database, tables=tables, sql_mode=sql_mode)


def _selects(text: str, sql_mode: int, at: int) -> bool:
    """Whether CREATE TABLE fills the table, which is in the binlog as a statement if rows are not logged."""
    if len(list(islice(_SELECTING.finditer(text), 2))) <= 1:
        return False
    words = [token.upper() for token in islice(tokens_of(text, sql_mode), at, None)]
    return not {"SELECT", "TABLE"}.isdisjoint(words) or ("VALUES", "ROW") in pairwise(words)


def _kind(head: list[str]) -> tuple[StatementKind, int]:
    """Return a statement's kind, and the index of the token at which its objects are named."""
    words = [token.upper() for token in head]
    exact = _EXACT.get(tuple(words))
    if exact is not None or not words:
        return exact or _K.OTHER, len(words)
    if words[0] in _OF_TABLES:
        return _of_object(words)
    for count in (2, 1):
        kind = _HEADS.get(tuple(words[:count]))
        if kind is not None:
            return kind, count
    return _K.UNKNOWN, 0


def _of_object(words: list[str]) -> tuple[StatementKind, int]:
    """CREATE, ALTER and DROP, which modifiers may separate from the object's word."""
    at = 1
    while at < len(words) and (words[at] in _ADJECTIVES or words[at] in _WITH_VALUES):
        has_value = words[at] in _WITH_VALUES and words[at + 1 : at + 2] == ["="]
        at = _behind_value(words, at) if has_value else at + 1
    word = words[at] if at < len(words) else ""
    kind = _OBJECTS.get(word, _K.UNKNOWN)
    if word == "SEQUENCE" and "REPLACE" in words[:at]:
        kind = _K.CREATE_TABLE  # which replaces a table of that name too
    return (_OF_TABLES[words[0]] if kind is _K.CREATE_TABLE else kind), at + 1


def _behind_value(words: list[str], at: int) -> int:
    """``DEFINER = name @ host``, ``ALGORITHM = word``."""
    at += 3
    if words[at : at + 1] == ["("]:  # CURRENT_USER()
        at += 2
    return at + 2 if words[at : at + 1] == ["@"] else at


def _tables(kind: StatementKind, words: StatementWords, database: str) -> Iterator[Name]:
    finder = _FINDERS.get(kind)
    if finder is not None:
        yield from finder(words, database)


def _pass_condition(words: StatementWords) -> None:
    if words.accept("IF"):
        words.accept("NOT")
        if not words.accept("EXISTS"):
            raise UnclearError


def _created(words: StatementWords, database: str) -> Iterator[Name]:
    _pass_condition(words)
    yield words.name(database)


def _altered(words: StatementWords, database: str) -> Iterator[Name]:
    _pass_condition(words)
    yield words.name(database)
    yield from _other_tables(words, database)


def _truncated(words: StatementWords, database: str) -> Iterator[Name]:
    words.accept("TABLE")
    yield words.name(database)


def _dropped(words: StatementWords, database: str) -> Iterator[Name]:
    _pass_condition(words)
    yield words.name(database)
    while words.accept(","):
        yield words.name(database)
    if words.peek() and words.peek().upper() not in _ENDS_OF_DROP:
        raise UnclearError


def _renamed(words: StatementWords, database: str) -> Iterator[Name]:
    _pass_condition(words)
    while True:
        yield words.name(database)
        _pass_waiting(words)
        if not words.accept("TO"):
            raise UnclearError
        yield words.name(database)
        if not words.accept(","):
            break
    if words.peek() not in ("", ";"):
        raise UnclearError


def _pass_waiting(words: StatementWords) -> None:
    """MariaDB's WAIT n and NOWAIT."""
    if words.accept("WAIT"):
        words.take()
    else:
        words.accept("NOWAIT")


def _indexed(words: StatementWords, database: str) -> Iterator[Name]:
    """``INDEX name [USING type] ON table``."""
    _pass_condition(words)
    words.take()
    for _ in range(_HEAD_TOKENS):
        if words.accept("ON"):
            yield words.name(database)
            return
        words.take()
    raise UnclearError


def _database(words: StatementWords, _database: str) -> Iterator[Name]:
    _pass_condition(words)
    yield words.name("")[1], ""


def _other_tables(words: StatementWords, database: str) -> Iterator[Name]:
    """The tables of RENAME TO, EXCHANGE PARTITION ... WITH TABLE and CONVERT ... TABLE in ALTER TABLE."""
    if not words.may_name_others:
        return
    tokens = words.rest()
    for index in range(len(tokens) - 1):
        word, following = tokens[index].upper(), tokens[index + 1].upper()
        if word == "RENAME" and following not in _RENAMED_PARTS:
            yield name_at(tokens, index + 1 + (following in ("TO", "AS", "=")), database)[0]
        if word == "TABLE":
            yield name_at(tokens, index + 1, database)[0]


_FINDERS: Final[dict[StatementKind, Callable[[StatementWords, str], Iterator[Name]]]] = {
    _K.CREATE_TABLE: _created,
    _K.ALTER_TABLE: _altered,
    _K.DROP_TABLE: _dropped,
    _K.TRUNCATE_TABLE: _truncated,
    _K.RENAME_TABLE: _renamed,
    _K.INDEX: _indexed,
    _K.DATABASE: _database,
}
_TRANSACTIONS: Final = frozenset(
    {_K.BEGIN, _K.END, _K.SAVEPOINT, _K.ROLLBACK_TO, _K.XA_START, _K.XA_END, _K.XA_COMMIT, _K.XA_ROLLBACK}
)


def name_at(tokens: list[str], at: int, database: str) -> tuple[Name, int]:
    """Return database and table of the name at a token, and the index behind it."""
    first = unquoted(tokens[at]) if at < len(tokens) else ""
    if tokens[at + 1 : at + 2] == ["."]:
        return (first, unquoted(tokens[at + 2]) if at + 2 < len(tokens) else ""), at + 3
    return (database, first), at + 1


def _any_names(tokens: list[str], database: str) -> tuple[Name, ...]:
    """Every name that could be a table's; none if there are too many tokens to scan."""
    if len(tokens) == _MAX_TOKENS:
        return ()
    names = dict[Name, None]()
    for index, token in enumerate(tokens):
        if is_name(token):
            names[name_at(tokens, index, database)[0]] = None
            names[database, unquoted(token)] = None
    return tuple(names)
