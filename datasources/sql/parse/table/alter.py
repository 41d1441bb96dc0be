"""ALTER TABLE: the actions of our tables. Other actions are passed on, in case the table is Spark's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.parse.table.elements import Elements
from datasources.sql.parse.table.watermarks import is_watermark, read_rowtime, read_watermark
from datasources.sql.parse.tokens.names import object_name
from datasources.sql.parse.tokens.table_options import read_keys, read_options
from datasources.sql.statements.statements import (
    AddColumns,
    AddWatermark,
    AlterAction,
    AlterTable,
    DropWatermark,
    ModifyWatermark,
    OtherAction,
    PassThrough,
    RenameTable,
    ResetOptions,
    SetOptions,
)

_ADD_OF_SPARK: Final = frozenset({"CONSTRAINT", "IF", "PARTITION", "PRIMARY"})


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
    if action is not None and not isinstance(action, OtherAction):
        cursor.expect_end("the end of the statement", "One action is done by one statement.")
        return action
    cursor.back_to(start)
    return OtherAction(span=span, error=None if action is None else action.error)


def _read_add(cursor: Cursor) -> AlterAction | None:
    if cursor.token.word in _ADD_OF_SPARK:
        return None
    if is_watermark(cursor):
        return AddWatermark(watermark=read_watermark(cursor))
    is_named = cursor.token.word in ("COLUMN", "COLUMNS") and cursor.peek().kind is not TokenKind.END
    if is_named:
        cursor.next()
    start = cursor.token
    try:
        elements = _read_elements(cursor)
    except SqlError as error:
        # Spark's columns may have types and clauses that ours have not; whose table it is, the session knows.
        return OtherAction(span=start.span, error=error)
    if cursor.token.word in ("FIRST", "AFTER"):
        return None
    return _added(cursor, elements, start.span)


def _read_elements(cursor: Cursor) -> Elements:
    elements = Elements()
    if cursor.sees_symbol("("):
        elements.read_list(cursor)
    else:
        elements.read_one(cursor)
    return elements


def _added(cursor: Cursor, elements: Elements, span: Span) -> AlterAction:
    if elements.primary_key is not None:
        raise cursor.error(elements.primary_key.span or span, "a key cannot be added", "Create the table anew.")
    if not elements.watermarks:
        return AddColumns(columns=tuple(elements.columns))
    if elements.columns or len(elements.watermarks) > 1:
        raise cursor.error(
            elements.watermarks[-1].span or span,
            "ADD does one thing: columns, or one watermark",
            "Write two statements, the columns first.",
        )
    return AddWatermark(watermark=elements.watermarks[0])


def _read_modify(cursor: Cursor) -> AlterAction | None:
    is_in_list = cursor.sees_symbol("(") and cursor.peek().word == "WATERMARK"
    if is_in_list:
        cursor.next()
    if not is_watermark(cursor):
        return None
    watermark = read_watermark(cursor)
    if is_in_list:
        cursor.expect_symbol(")")
    return ModifyWatermark(watermark=watermark)


def _read_drop(cursor: Cursor) -> AlterAction | None:
    start = cursor.token
    if start.word == "WATERMARKS":
        raise cursor.unexpected("WATERMARK", "Write DROP WATERMARK FOR column; DROP WATERMARK drops the only one.")
    if not cursor.skip("WATERMARK"):
        return None
    rowtime = read_rowtime(cursor)
    return DropWatermark(rowtime=rowtime, span=start.span.to(cursor.previous.span))


def _read_rename(cursor: Cursor) -> AlterAction | None:
    if not cursor.skip("TO"):
        return None
    name, span = object_name(cursor, "the new name of the table")
    return RenameTable(name=name, span=span)


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
