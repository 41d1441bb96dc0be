"""ALTER TABLE: the actions of our tables. Other actions are passed on, in case the table is Spark's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.parse.table.elements import Elements
from datasources.sql.parse.table.watermarks import read_rowtime
from datasources.sql.parse.tokens.names import name, object_name
from datasources.sql.parse.tokens.table_options import read_keys, read_options
from datasources.sql.statements.statements import (
    AddElements,
    AlterAction,
    AlterTable,
    DropColumns,
    DropPrimaryKey,
    DropWatermark,
    ModifyElements,
    OtherAction,
    PassThrough,
    PositionedColumn,
    RenameColumn,
    RenameTable,
    ResetOptions,
    SetOptions,
)

_OF_SPARK: Final = frozenset({"IF", "PARTITION"})
_NAMES: Final = (TokenKind.WORD, TokenKind.QUOTED)


def read_alter(cursor: Cursor) -> AlterTable | PassThrough:
    """Read ALTER TABLE; ALTER of anything else is Spark's.

    Raises:
        SqlError: the action is one of ours and malformed.
    """
    cursor.expect("ALTER")
    if not cursor.skip("TABLE"):
        return PassThrough(source=cursor.source)
    if_exists = cursor.skip("IF", "EXISTS")
    if cursor.word in ("ADD", "MODIFY", "DROP") and cursor.peek().word == "WATERMARK":
        raise cursor.unexpected("the name of the table")
    table, name_span = object_name(cursor, "the name of the table")
    if cursor.is_at_end:
        raise cursor.unexpected("ADD, MODIFY, DROP, RENAME TO, SET or RESET")
    return AlterTable(
        source=cursor.source,
        name=table,
        action=_read_action(cursor),
        hints=tuple(cursor.hints),
        if_exists=if_exists,
        name_span=name_span,
    )


def _read_action(cursor: Cursor) -> AlterAction:
    start = cursor.at
    span = Span(cursor.token.start, len(cursor.source.text))
    read = _ACTIONS.get(cursor.next().word)
    action = None if read is None else read(cursor)
    error = action.error if isinstance(action, OtherAction) else None
    if action is not None and not isinstance(action, OtherAction):
        if cursor.is_at_end:
            return action
        error = cursor.unexpected("the end of the statement", "One action is done by one statement.")
        if not _may_be_of_spark(action):
            raise error
    cursor.back_to(start)
    return OtherAction(span=span, error=error)


def _may_be_of_spark(action: AlterAction) -> bool:
    """Tell whether Spark has a longer form of an action: DROP COLUMN a.b, ADD COLUMNS a INT, b INT."""
    if isinstance(action, AddElements | ModifyElements):
        return not action.watermarks
    return isinstance(action, DropColumns | DropPrimaryKey | RenameColumn)


def _read_add(cursor: Cursor) -> AlterAction | None:
    return _read_changed(cursor, AddElements)


def _read_modify(cursor: Cursor) -> AlterAction | None:
    return _read_changed(cursor, ModifyElements)


def _read_changed(cursor: Cursor, kind: type[AddElements | ModifyElements]) -> AlterAction | None:
    if cursor.token.word in _OF_SPARK and cursor.peek().text != ".":
        return None
    _skip_column_word(cursor)
    start = cursor.token
    is_watermark = start.word == "WATERMARK" or cursor.peek().word == "WATERMARK"
    elements = Elements(has_positions=True)
    try:
        if cursor.sees_symbol("("):
            elements.read_list(cursor)
        else:
            elements.read_one(cursor)
    except SqlError as error:
        if is_watermark:
            raise
        # Spark's columns may have types and clauses that ours have not; whose table it is, the session knows.
        return OtherAction(span=start.span, error=error)
    columns = zip(elements.columns, elements.positions, strict=True)
    return kind(
        columns=tuple(PositionedColumn(column=column, position=position) for column, position in columns),
        watermarks=tuple(elements.watermarks),
        primary_key=elements.primary_key,
    )


def _skip_column_word(cursor: Cursor) -> None:
    """Pass over COLUMN or COLUMNS, which Spark has before names, and which may be a name itself."""
    following = cursor.peek()
    if cursor.token.word in ("COLUMN", "COLUMNS") and (following.kind in _NAMES or following.text == "("):
        cursor.next()


def _read_drop(cursor: Cursor) -> AlterAction | None:
    start = cursor.token
    if start.word == "WATERMARKS":
        raise cursor.unexpected("WATERMARK", "Write DROP WATERMARK FOR column; DROP WATERMARK drops the only one.")
    if cursor.skip("WATERMARK"):
        rowtime = read_rowtime(cursor)
        return DropWatermark(rowtime=rowtime, span=start.span.to(cursor.previous.span))
    if cursor.skip("PRIMARY", "KEY"):
        return DropPrimaryKey(constraint=None, span=start.span.to(cursor.previous.span))
    if start.word == "CONSTRAINT" and cursor.peek().kind in _NAMES:
        cursor.next()
        constraint = name(cursor, "the name of the primary key")
        return DropPrimaryKey(constraint=constraint, span=start.span.to(cursor.previous.span))
    return None if start.word in _OF_SPARK else _or_of_spark(cursor, _read_dropped_columns)


def _or_of_spark(cursor: Cursor, read: Callable[[Cursor], AlterAction]) -> AlterAction:
    """Read an action that Spark writes in other ways too; what is wrong is so only if the table is ours."""
    start = cursor.token
    try:
        return read(cursor)
    except SqlError as error:
        return OtherAction(span=start.span, error=error)


def _read_dropped_columns(cursor: Cursor) -> DropColumns:
    _skip_column_word(cursor)
    is_list = cursor.skip_symbol("(")
    names: list[str] = []
    spans: list[Span] = []
    while True:
        span = cursor.token.span
        dropped = name(cursor, "the name of a column")
        if dropped.lower() in (each.lower() for each in names):
            raise cursor.error(span, f"'{dropped}' is named twice", "Leave one out.")
        names.append(dropped)
        spans.append(span)
        if not is_list or not cursor.skip_symbol(","):
            break
    if is_list:
        cursor.expect_symbol(")")
    return DropColumns(names=tuple(names), spans=tuple(spans))


def _read_rename(cursor: Cursor) -> AlterAction | None:
    if cursor.sees("TO") and cursor.peek().word != "TO":
        cursor.next()
        table, span = object_name(cursor, "the new name of the table")
        return RenameTable(name=table, span=span)
    return None if cursor.token.word in _OF_SPARK else _or_of_spark(cursor, _read_renamed_column)


def _read_renamed_column(cursor: Cursor) -> RenameColumn:
    _skip_column_word(cursor)
    old_span = cursor.token.span
    old = name(cursor, "the name of a column, or TO")
    cursor.expect("TO", hint="Write RENAME column TO name, or RENAME TO name for the table.")
    new_span = cursor.token.span
    return RenameColumn(old=old, new=name(cursor, "the new name"), old_span=old_span, new_span=new_span)


def _read_set(cursor: Cursor) -> AlterAction | None:
    if not cursor.sees_symbol("("):
        return None
    opening = cursor.token
    options, spans = read_options(cursor, "SET")
    if not options:
        raise cursor.error(opening.span.to(cursor.previous.span), "no option is set", "Name one.")
    return SetOptions(options=options, option_spans=spans)


def _read_reset(cursor: Cursor) -> AlterAction | None:
    keys, spans = read_keys(cursor)
    return ResetOptions(keys=keys, key_spans=spans)


_ACTIONS: Final[dict[str, Callable[[Cursor], AlterAction | None]]] = {
    "ADD": _read_add,
    "MODIFY": _read_modify,
    "DROP": _read_drop,
    "RENAME": _read_rename,
    "SET": _read_set,
    "RESET": _read_reset,
}
"""How the rest of an action is read; None = it is one of Spark's."""
