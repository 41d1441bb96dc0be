"""Classifies a statement about captured tables by its effect on the changelog.

A binlog has a statement's effect on rows only if row events follow. ALTER TABLE, RENAME, DROP and TRUNCATE come
without: so either the rows are known to be the same, or their change is known, or the query stops. A statement
that its text does not decide stops the query too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from datasources.mysql.binlog.statements.statement_tokens import ONLY_MARIADB
from datasources.mysql.binlog.statements.statements import Statement, StatementKind, name_at
from datasources.mysql.ddl.clauses import (
    CHANGES_PRIMARY_KEY,
    LOGGED_ENGINES,
    DeclaredColumns,
    added_columns,
    redefined_columns,
    redefined_names,
    split_clauses,
    stop_reason,
)
from datasources.mysql.ddl.columns import ColumnDefinition
from datasources.mysql.ddl.ddl_effect import Action, DdlEffect
from datasources.mysql.ddl.stored_type import StoredType

__all__ = ["additions", "classify", "concerns", "redefinitions"]

Table = tuple[str, str]
_NO_EFFECT: Final = DdlEffect(action=Action.PASS)
_INDEX_PARTS: Final = frozenset({"COLUMN", "INDEX", "KEY"})
# Of gh-ost, pt-online-schema-change and Spirit.
_COPY: Final = re.compile(r"_.+_(?:gho|new)")


def concerns(statement: Statement, names_database: Callable[[str], bool], captures: Callable[[str, str], bool]) -> bool:
    """Return whether a statement may concern a captured table.

    Args:
        statement: as the binlog reader emits it.
        names_database: whether tables of a database may be captured.
        captures: whether the table of a database is captured.
    """
    if statement.databases is not None and not any(map(names_database, statement.databases)):
        return any(captures(*name) for name in statement.tables) and statement.kind is not StatementKind.UNKNOWN
    if statement.kind is StatementKind.DATABASE:
        return any(names_database(database) for database, _ in statement.tables)
    if statement.kind is StatementKind.ROWS or not statement.tables:
        return True
    return any(captures(*name) for name in statement.tables)


def classify(
    statement: Statement,
    declared: Mapping[Table, Mapping[str, StoredType | None] | None],
    captures: Callable[[str, str], bool],
    *,
    logs_cascades: Callable[[], bool] = lambda: True,
    computes_from: Callable[[Table, frozenset[str]], bool] = lambda *_: False,
) -> DdlEffect:
    """Return a statement's effect on the changelog.

    Args:
        statement: as the binlog reader emits it, one that may concern a captured table (`concerns`).
        declared: per captured table the columns that are read: names to their types before the statement, or to None
            where the type is not known. None for a table, or no entry: all of its columns are read.
        captures: whether the table of a database is captured.
        logs_cascades: whether foreign keys' changes of other tables are in the binlog; called only if it matters.
        computes_from: whether a generated column of a table that is read may be computed from one of some columns;
            called only if it matters.
    """
    captured = tuple(dict.fromkeys(name for name in statement.tables if captures(*name)))
    if statement.kind in _OF_ANY_TABLE:
        return _OF_ANY_TABLE[statement.kind](statement, captured)
    if not captured:
        return _NO_EFFECT
    if ONLY_MARIADB in statement.text:
        return _stop(captured, "contains a comment that only MariaDB executes, which is not read here")
    if captures(*statement.tables[0]) and _adds_cascade(statement) and not logs_cascades():
        return _stop(captured, _CASCADES)
    if statement.kind is StatementKind.ALTER_TABLE:
        return _alter(statement, captured, declared, computes_from)
    return _RULES.get(statement.kind, _unknown)(statement, captured)


_CASCADES: Final = (
    "adds a foreign key through which the server changes rows that are not in its binlog (ON ... CASCADE, SET NULL or "
    "SET DEFAULT; the option 'on-fk-cascade' = 'warn' accepts that)"
)


_GENERATED: Final = (
    "redefines a column from which a generated column that is read may be computed, whose values then change "
    "without row events"
)
_HISTORY: Final = "creates a table with a history (SYSTEM VERSIONING): old rows are in the binlog among current ones"


def _adds_cascade(statement: Statement) -> bool:
    if statement.kind not in (StatementKind.CREATE_TABLE, StatementKind.ALTER_TABLE):
        return False
    words = [token.upper() for token in statement.tokens()]
    return any(
        words[index] == "ON"
        and words[index + 1 : index + 2] in (["DELETE"], ["UPDATE"])
        # ON UPDATE CURRENT_TIMESTAMP is no foreign key's
        and words[index + 2 : index + 3] in (["CASCADE"], ["SET"])
        for index in range(len(words))
    )


def _rows(_statement: Statement, _captured: tuple[Table, ...]) -> DdlEffect:
    return _stop((), "changes rows, which are not in the binlog (binlog_format is not ROW)")


def _unknown(_statement: Statement, captured: tuple[Table, ...]) -> DdlEffect:
    return _stop(captured, "has an unknown form, and may change rows of captured tables")


def _database(statement: Statement, _captured: tuple[Table, ...]) -> DdlEffect:
    words = statement.head()
    if words[0] == "DROP":
        return _stop_emptied(statement.tables, "drops the database")
    if words[0] == "CREATE" and words[1:3] == ["OR", "REPLACE"]:
        return _stop_emptied(statement.tables, "drops the database and creates it again")
    if "UPGRADE" in words:
        return _stop(statement.tables, "renames a database")
    return _NO_EFFECT


def _create(statement: Statement, captured: tuple[Table, ...]) -> DdlEffect:
    words = [token.upper() for token in statement.tokens()]
    at = next(index for index, word in enumerate(words) if word in ("TABLE", "SEQUENCE"))
    if "TEMPORARY" in words[:at]:
        return _NO_EFFECT
    if words[1:3] == ["OR", "REPLACE"]:
        return _stop_emptied(captured, "replaces the table, whose rows vanish without row events")
    if ("SYSTEM", "VERSIONING") in pairwise(words):
        return _stop(captured, _HISTORY)
    engine = _engine(words)
    if engine is not None and engine not in LOGGED_ENGINES:
        return _stop(captured, f"creates the table in the engine {engine}, whose rows may not be in the binlog")
    return _NO_EFFECT


def _engine(words: list[str]) -> str | None:
    """The engine of CREATE TABLE, if it names one."""
    indices = [index for index, word in enumerate(words) if word == "ENGINE"]
    if not indices:
        return None
    at = indices[-1] + 1 + (words[indices[-1] + 1 : indices[-1] + 2] == ["="])
    return (words[at] if at < len(words) else "").strip("`'\"")


def _drop(statement: Statement, captured: tuple[Table, ...]) -> DdlEffect:
    if "TEMPORARY" in statement.head()[:2]:
        return _NO_EFFECT
    return _stop_emptied(captured, "drops the table")


def _index(statement: Statement, captured: tuple[Table, ...]) -> DdlEffect:
    words = [token.upper() for token in statement.tokens()]
    if words[0] == "DROP" and "PRIMARY" in (word.strip('`"') for word in words[:8]):
        return _stop(captured, CHANGES_PRIMARY_KEY)
    return _NO_EFFECT


def _truncate(_statement: Statement, captured: tuple[Table, ...]) -> DdlEffect:
    return DdlEffect(action=Action.TRUNCATE, tables=captured)


def _rename(statement: Statement, captured: tuple[Table, ...]) -> DdlEffect:
    names = statement.tables
    return _renames(list(zip(names[0::2], names[1::2], strict=True)), captured)


def _renames(pairs: list[tuple[Table, Table]], captured: tuple[Table, ...]) -> DdlEffect:
    """Stop: a captured name must have the same rows as before, and the names do not show where rows come from."""
    is_copy = any(_COPY.fullmatch(old[1]) and new in captured for old, new in pairs)
    advice = (
        ", as gh-ost and pt-online-schema-change do: the binlog does not show whether they are the same rows"
        if is_copy
        else ""
    )
    return _stop_emptied(captured, f"gives the name to other rows, or the rows another name{advice}")


def _alter(
    statement: Statement,
    captured: tuple[Table, ...],
    declared: Mapping[Table, Mapping[str, StoredType | None] | None],
    computes_from: Callable[[Table, frozenset[str]], bool],
) -> DdlEffect:
    clauses = _clauses(statement)
    if clauses is None:
        return _stop(captured, "removes or changes invalid rows, without row events (IGNORE)")
    table = statement.tables[0]
    renames = list(_table_renames(clauses, table, statement))
    if renames:
        return _renames(renames, captured)
    columns = _read_columns(declared.get(table), statement.sql_mode)
    reason = next((each for each in (stop_reason(clause, columns) for clause in clauses) if each is not None), None)
    redefined = redefined_names(clauses)
    if reason is None and redefined and computes_from(table, redefined):
        reason = _GENERATED
    return _NO_EFFECT if reason is None else _stop(captured, reason)


def redefinitions(statement: Statement) -> dict[str, ColumnDefinition | None]:
    """Return the columns, in lower case, that an ALTER TABLE redefines; None = the definition cannot be read.

    Args:
        statement: as the binlog reader emits it; others than ALTER TABLE redefine none.
    """
    return redefined_columns(_known_clauses(statement))


def additions(statement: Statement) -> list[str]:
    """Return the names of the columns that an ALTER TABLE adds; other statements add none.

    Args:
        statement: as the binlog reader emits it.
    """
    return added_columns(_known_clauses(statement))


def _known_clauses(statement: Statement) -> list[list[str]]:
    """Return the clauses of an ALTER TABLE that are read here; other statements have none."""
    is_alter = statement.kind is StatementKind.ALTER_TABLE and ONLY_MARIADB not in statement.text
    return (_clauses(statement) if is_alter else None) or []


def _clauses(statement: Statement) -> list[list[str]] | None:
    """Return the clauses of an ALTER TABLE; None of an ALTER IGNORE TABLE."""
    tokens = statement.tokens()
    words = [token.upper() for token in tokens]
    at = words.index("TABLE") + 1
    if "IGNORE" in words[:at]:
        return None
    if words[at : at + 2] == ["IF", "EXISTS"]:
        at += 2
    _, at = name_at(tokens, at, statement.database)
    at += _lock_wait_tokens(words[at : at + 2])
    return list(split_clauses(tokens[at:]))


def _read_columns(columns: Mapping[str, StoredType | None] | None, sql_mode: int) -> DeclaredColumns:
    if columns is None:
        return DeclaredColumns(None, sql_mode)
    types = {name.lower(): kind for name, kind in columns.items()}
    return DeclaredColumns(types, sql_mode, {name.lower(): name for name in columns})


def _lock_wait_tokens(words: list[str]) -> int:
    """MariaDB's WAIT n and NOWAIT behind the table's name."""
    return 2 if words[:1] == ["WAIT"] else int(words[:1] == ["NOWAIT"])


def _table_renames(clauses: list[list[str]], table: Table, statement: Statement) -> Iterator[tuple[Table, Table]]:
    for clause in clauses:
        words = [token.upper() for token in clause[:2]] + [""]
        if words[0] == "RENAME" and words[1] not in _INDEX_PARTS:
            name = name_at(clause, 1 + (words[1] in ("TO", "AS", "=")), statement.database)[0]
            yield table, next((known for known in statement.tables if _same(known, name)), name)


def _same(known: Table, name: Table) -> bool:
    """Compare names: `Statement.tables` has them in lower case if the server stores them so."""
    return known == name or known == (name[0].lower(), name[1].lower())


def _stop(tables: tuple[Table, ...], reason: str) -> DdlEffect:
    return DdlEffect(action=Action.STOP, tables=tables, reason=reason)


def _stop_emptied(tables: tuple[Table, ...], reason: str) -> DdlEffect:
    return DdlEffect(action=Action.STOP, tables=tables, reason=reason, is_emptied=True)


_RULES: Final[dict[StatementKind, Callable[[Statement, tuple[Table, ...]], DdlEffect]]] = {
    StatementKind.CREATE_TABLE: _create,
    StatementKind.DROP_TABLE: _drop,
    StatementKind.RENAME_TABLE: _rename,
    StatementKind.TRUNCATE_TABLE: _truncate,
    StatementKind.INDEX: _index,
}
_OF_ANY_TABLE: Final[dict[StatementKind, Callable[[Statement, tuple[Table, ...]], DdlEffect]]] = {
    StatementKind.ROWS: _rows,
    StatementKind.UNKNOWN: _unknown,
    StatementKind.DATABASE: _database,
}
