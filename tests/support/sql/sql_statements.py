"""Statements as canonical text, and files of pairs: comment lines, statement, `=>`, what it is read as, `;`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasources.errors import SqlError
from datasources.grammar.literals import literal
from datasources.grammar.source_text import SqlText
from datasources.sql.definitions.show_create import (
    column_text,
    function_text,
    key_text,
    options_text,
    table_text,
    view_text,
    watermark_text,
)
from datasources.sql.parse import parse_statement
from datasources.sql.statements.statements import (
    AddElements,
    AlterTable,
    CreateFunction,
    CreateTable,
    CreateView,
    Describe,
    Drop,
    DropColumns,
    DropPrimaryKey,
    DropWatermark,
    Explain,
    Insert,
    ModifyElements,
    OtherAction,
    PassThrough,
    PositionedColumn,
    Query,
    RenameColumn,
    RenameTable,
    Reset,
    ResetOptions,
    Set,
    SetOptions,
    Show,
    ShowColumns,
    ShowCreate,
    ShowNamespaces,
    Statement,
    StatementSet,
    Use,
)
from datasources.sql.text.quoting import name_text, path_text

__all__ = ["StatementCase", "cases_of", "outcome", "statement_text"]


@dataclass(frozen=True, kw_only=True)
class StatementCase:
    """A pair: a text, and the canonical statement or the error that it is read as."""

    file: str
    number: int
    reason: str
    text: str
    expected: str


def cases_of(file: Path) -> list[StatementCase]:
    """Read the pairs of a file."""
    cases = []
    for number, block in enumerate(file.read_text(encoding="utf-8").split("\n;\n"), start=1):
        lines = block.strip("\n").splitlines()
        reason = []
        while lines and lines[0].startswith("-- "):
            reason.append(lines.pop(0).removeprefix("-- "))
        text, _, expected = "\n".join(lines).partition("\n=>\n")
        if text:
            cases.append(
                StatementCase(
                    file=file.stem, number=number, reason=" ".join(reason), text=text, expected=expected.strip("\n")
                )
            )
    return cases


def outcome(text: str) -> str:
    """Return what a text is read as: the canonical statement with its hints, or the error without its code."""
    try:
        statement = parse_statement(SqlText(text))
    except SqlError as error:
        return f"error: {error.message}"
    return "\n".join([statement_text(statement), *(f"hint: {each}" for each in statement.hints)])


def statement_text(statement: Statement) -> str:
    """Return a statement of ours as it would be written canonically; what is Spark's stays as it is."""
    return _PRINTERS[type(statement)](statement)


def _create_table(statement: CreateTable) -> str:
    text = table_text(statement.table)
    if statement.if_not_exists:
        text = text.replace("TABLE ", "TABLE IF NOT EXISTS ", 1)
    if statement.like is not None:
        rules = " ".join(f"{each.rule.value} {each.part}" for each in statement.like.options)
        text += f" LIKE {statement.like.base}" + (f" ({rules})" if rules else "")
    if statement.column_order:
        text = text.replace(" WITH", f" ({', '.join(map(name_text, statement.column_order))}) WITH", 1)
    return text if statement.query is None else f"{text} AS {statement.query.text}"


def _created(text: str, kind: str, statement: CreateView | CreateFunction) -> str:
    if statement.or_replace:
        text = text.replace("CREATE ", "CREATE OR REPLACE ", 1)
    return text.replace(f"{kind} ", f"{kind} IF NOT EXISTS ", 1) if statement.if_not_exists else text


def _alter(statement: AlterTable) -> str:
    exists = "IF EXISTS " if statement.if_exists else ""
    return f"ALTER TABLE {exists}{statement.name} {_ACTIONS[type(statement.action)](statement, statement.action)}"


def _other_action(statement: AlterTable, action: OtherAction) -> str:
    error = "" if action.error is None else f" [if the table is ours: {action.error.message.splitlines()[0]}]"
    return f"[Spark's] {statement.source.of(action.span)}{error}"


def _elements(word: str, action: AddElements | ModifyElements) -> str:
    texts = [column_text(each.column) + _position(each) for each in action.columns]
    texts += [watermark_text(each) for each in action.watermarks]
    texts += [] if action.primary_key is None else [key_text(action.primary_key)]
    return f"{word} {texts[0]}" if len(texts) == 1 else f"{word} ({', '.join(texts)})"


def _position(column: PositionedColumn) -> str:
    if column.position is None:
        return ""
    after = column.position.after
    return " FIRST" if after is None else f" AFTER {name_text(after)}"


def _drop_columns(_: AlterTable, action: DropColumns) -> str:
    names = [name_text(each) for each in action.names]
    return f"DROP {names[0]}" if len(names) == 1 else f"DROP ({', '.join(names)})"


def _drop_key(_: AlterTable, action: DropPrimaryKey) -> str:
    return "DROP PRIMARY KEY" if action.constraint is None else f"DROP CONSTRAINT {name_text(action.constraint)}"


def _drop_watermark(_: AlterTable, action: DropWatermark) -> str:
    return "DROP WATERMARK" + ("" if action.rowtime is None else f" FOR {path_text(action.rowtime)}")


def _drop(statement: Drop) -> str:
    temporary = "TEMPORARY " if statement.is_temporary else ""
    exists = "IF EXISTS " if statement.if_exists else ""
    return f"DROP {temporary}{statement.kind.value} {exists}{statement.name}"


def _set(statement: Set) -> str:
    key = "" if statement.key is None else f" {literal(statement.key)}"
    return "SET" + key + ("" if statement.value is None else f" = {literal(statement.value)}")


def _insert(statement: Insert) -> str:
    columns = f" ({', '.join(name_text(each) for each in statement.columns)})" if statement.columns else ""
    keys = (f"{name_text(key)} = {value}" if value else name_text(key) for key, value in statement.partition.items())
    partition = f" PARTITION ({', '.join(keys)})" if statement.partition else ""
    word = "OVERWRITE" if statement.is_overwrite else "INTO"
    return f"INSERT {word} {statement.target}{partition}{columns} {statement.source.of(statement.query_span)}"


def _statement_set(statement: StatementSet) -> str:
    return "EXECUTE STATEMENT SET BEGIN\n" + "".join(f"{_insert(each)};\n" for each in statement.inserts) + "END"


_ACTIONS: dict[type, Callable[[AlterTable, Any], str]] = {
    AddElements: lambda _, action: _elements("ADD", action),
    ModifyElements: lambda _, action: _elements("MODIFY", action),
    DropColumns: _drop_columns,
    DropPrimaryKey: _drop_key,
    DropWatermark: _drop_watermark,
    RenameColumn: lambda _, action: f"RENAME {name_text(action.old)} TO {name_text(action.new)}",
    RenameTable: lambda _, action: f"RENAME TO {action.name}",
    SetOptions: lambda _, action: f"SET {options_text(action.options)}",
    ResetOptions: lambda _, action: f"RESET ({', '.join(literal(each) for each in action.keys)})",
    OtherAction: _other_action,
}
_PRINTERS: dict[type, Callable[[Any], str]] = {
    AlterTable: _alter,
    CreateFunction: lambda statement: _created(function_text(statement.function), "FUNCTION", statement),
    CreateTable: _create_table,
    CreateView: lambda statement: _created(view_text(statement.view), "VIEW", statement),
    Describe: lambda statement: f"DESCRIBE {'EXTENDED ' if statement.is_extended else ''}{statement.name}",
    Drop: _drop,
    Explain: lambda statement: (
        f"EXPLAIN {statement.mode.value}{', CHANGELOG_MODE' if statement.shows_changelog_mode else ''} "
        f"{statement_text(statement.statement)}"
    ),
    Insert: _insert,
    PassThrough: lambda statement: f"[Spark's] {statement.source.text}",
    Query: lambda statement: f"[query] {statement.source.text}",
    Reset: lambda statement: "RESET" + ("" if statement.key is None else f" {literal(statement.key)}"),
    Set: _set,
    Show: lambda statement: (
        f"SHOW {statement.kind.value}S" + ("" if statement.like is None else f" LIKE {literal(statement.like)}")
    ),
    ShowColumns: lambda statement: (
        f"SHOW COLUMNS FROM {statement.name}"
        + ("" if statement.like is None else f"{' NOT' if statement.is_negated else ''} LIKE {literal(statement.like)}")
    ),
    ShowNamespaces: lambda statement: (
        f"SHOW {'CURRENT ' if statement.is_current else ''}{statement.kind.name}{'' if statement.is_current else 'S'}"
    ),
    Use: lambda statement: f"[use] {', '.join(f'{kind.value} {name}' for kind, name in statement.names.items())}",
    ShowCreate: lambda statement: f"SHOW CREATE {statement.kind.value} {statement.name}",
    StatementSet: _statement_set,
}
