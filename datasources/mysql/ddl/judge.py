"""What a statement about captured tables means for the changelog.

A binlog says what a statement did to rows only where row events follow. ALTER TABLE, RENAME, DROP and TRUNCATE come
without: so either the rows are known to be the same, or it is known what became of them, or the query stops. What
cannot be told apart by its text stops the query too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from datasources.mysql.binlog.statements import Statement, StatementKind, name_at, statement_tokens
from datasources.mysql.ddl.clauses import DeclaredColumns, split_clauses, why_stop
from datasources.mysql.ddl.verdict import Action, Verdict

__all__ = ["is_swap", "judge"]

Table = tuple[str, str]
_PASS: Final = Verdict(action=Action.PASS)
# Of gh-ost, pt-online-schema-change and Spirit: a copy of the table, filled row by row, takes its place.
_COPY: Final = r"_+{name}_(?:gho|new)"
_INDEX_PARTS: Final = frozenset({"COLUMN", "INDEX", "KEY"})
_ONLY_MARIADB: Final = "/*M!"


def judge(
    statement: Statement,
    declared: Mapping[Table, Mapping[str, str | None] | None],
    captures: Callable[[str, str], bool],
) -> Verdict:
    """Return what a statement means for the changelog.

    Args:
        statement: as the binlog reader gives it.
        declared: per captured table the columns that are read: names to COLUMN_TYPE of information_schema, such as
            ``int unsigned``, with `` not null`` behind it where it is so, or to None where the type is not known. None
            for a table, or no entry: all of its columns are read.
        captures: whether the table of a database is captured.
    """
    captured = tuple(dict.fromkeys(name for name in statement.tables if captures(*name)))
    if statement.kind is StatementKind.DATABASE:
        return _judge_database(statement, tuple(name for name in declared if captures(*name)))
    if not captured:
        return _PASS
    if _ONLY_MARIADB in statement.text:
        return _stop(captured, "holds a comment that counts for MariaDB only and is not read here")
    if statement.kind is StatementKind.ALTER_TABLE:
        return _alter(statement, captured, declared)
    return _RULES.get(statement.kind, _other)(statement, captured)


def _judge_database(statement: Statement, captured: tuple[Table, ...]) -> Verdict:
    words = statement_tokens(statement.text)
    gone = tuple(name for name in captured if name[0] == name_at(words, len(words) - 1, "")[0][1])
    if words[0].upper() != "DROP" or not gone:
        return _PASS
    return _stop(gone, "drops the database")


def _create(statement: Statement, captured: tuple[Table, ...]) -> Verdict:
    words = [token.upper() for token in statement_tokens(statement.text)[:4]]
    if words[1:3] == ["OR", "REPLACE"] and "TEMPORARY" not in words:
        return _stop(captured, "replaces the table, whose rows vanish without row events")
    return _PASS


def _drop(statement: Statement, captured: tuple[Table, ...]) -> Verdict:
    if statement_tokens(statement.text)[1].upper() == "TEMPORARY":
        return _PASS
    return _stop(captured, "drops the table")


def _other(statement: Statement, captured: tuple[Table, ...]) -> Verdict:
    if statement.kind is StatementKind.TRUNCATE_TABLE:
        return Verdict(action=Action.TRUNCATE, tables=captured)
    if statement.kind is StatementKind.ROWS:
        return _stop(captured, "changes rows, and stands in the binlog without them (binlog_format is not ROW)")
    return _PASS


def _rename(statement: Statement, captured: tuple[Table, ...]) -> Verdict:
    names = statement.tables
    return _judge_renames(list(zip(names[0::2], names[1::2], strict=False)), captured)


def is_swap(statement: Statement, table: Table) -> bool:
    """Return whether a statement puts a table's copy in its place, which holds the same rows."""
    return statement.kind is StatementKind.RENAME_TABLE and _rename(statement, (table,)).action is Action.PASS


def _judge_renames(pairs: list[tuple[Table, Table]], captured: tuple[Table, ...]) -> Verdict:
    """A captured name must mean the same rows as before."""
    came_from = {new: old for old, new in pairs}
    left = {old for old, _ in pairs}
    swapped = {name for name in came_from if name in left and _is_copy(came_from[name], name)}
    parts = {each for name in swapped for each in (name, came_from[name])}
    parts |= {new for old, new in pairs if old in swapped}
    others = tuple(name for name in captured if name not in parts)
    if not others:
        return _PASS
    return _stop(others, "gives the name to other rows, or the rows another name")


def _is_copy(source: Table, target: Table) -> bool:
    return source[0] == target[0] and re.fullmatch(_COPY.format(name=re.escape(target[1])), source[1]) is not None


def _alter(
    statement: Statement, captured: tuple[Table, ...], declared: Mapping[Table, Mapping[str, str | None] | None]
) -> Verdict:
    tokens = statement_tokens(statement.text)
    at = [token.upper() for token in tokens].index("TABLE") + 1
    if [token.upper() for token in tokens[at : at + 2]] == ["IF", "EXISTS"]:
        at += 2
    table, at = name_at(tokens, at, statement.database)
    at += _waiting([token.upper() for token in tokens[at : at + 2]])
    clauses = list(split_clauses(tokens[at:]))
    renames = list(_table_renames(clauses, table, statement.database))
    if renames:
        verdict = _judge_renames(renames, captured)
        if verdict.action is not Action.PASS:
            return verdict
    reasons = (why_stop(clause, _read_columns(declared.get(table))) for clause in clauses)
    reason = next((each for each in reasons if each is not None), None)
    return _PASS if reason is None else _stop(captured, reason)


def _read_columns(columns: Mapping[str, str | None] | None) -> DeclaredColumns:
    return DeclaredColumns(None if columns is None else {name.lower(): kind for name, kind in columns.items()})


def _waiting(words: list[str]) -> int:
    """MariaDB's WAIT n and NOWAIT behind the table's name."""
    return 2 if words[:1] == ["WAIT"] else int(words[:1] == ["NOWAIT"])


def _table_renames(clauses: list[list[str]], table: Table, database: str) -> Iterator[tuple[Table, Table]]:
    for clause in clauses:
        words = [token.upper() for token in clause[:2]] + [""]
        if words[0] == "RENAME" and words[1] not in _INDEX_PARTS:
            yield table, name_at(clause, 1 + (words[1] in ("TO", "AS", "=")), database)[0]


def _stop(tables: tuple[Table, ...], reason: str) -> Verdict:
    return Verdict(action=Action.STOP, tables=tables, reason=reason)


_RULES: Final[dict[StatementKind, Callable[[Statement, tuple[Table, ...]], Verdict]]] = {
    StatementKind.CREATE_TABLE: _create,
    StatementKind.DROP_TABLE: _drop,
    StatementKind.RENAME_TABLE: _rename,
}
