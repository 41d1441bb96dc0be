"""The elements of a table: columns, watermarks and primary key, in the parentheses of CREATE TABLE and ALTER."""

from __future__ import annotations

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token
from datasources.grammar.source_text import Span
from datasources.sql.parse.table.columns import read_column
from datasources.sql.parse.table.primary_keys import is_constraint, read_constraint
from datasources.sql.parse.table.watermarks import is_watermark, read_watermark
from datasources.sql.parse.tokens.names import name
from datasources.sql.statements.catalog_objects import Column, PrimaryKey, WatermarkSpec
from datasources.sql.statements.statements import ColumnPosition
from datasources.sql.text.quoting import path_text


class Elements:
    """Collects the elements of one list; nothing may be there twice.

    Args:
        has_positions: whether a column may have FIRST or AFTER, as in ALTER TABLE.
    """

    __slots__ = ("_declared", "_has_positions", "_rowtimes", "columns", "positions", "primary_key", "watermarks")

    def __init__(self, *, has_positions: bool = False) -> None:
        self.columns: list[Column] = []
        self.positions: list[ColumnPosition | None] = []
        self.watermarks: list[WatermarkSpec] = []
        self.primary_key: PrimaryKey | None = None
        self._declared: dict[str, Span] = {}
        self._rowtimes: set[tuple[str, ...]] = set()
        self._has_positions = has_positions

    def read_list(self, cursor: Cursor) -> None:
        """Read the elements between two parentheses; a comma after the last one is passed over with a hint.

        Raises:
            SqlError: an element is wrong, or is repeated.
        """
        opening = cursor.expect_symbol("(")
        if cursor.sees_symbol(")"):
            raise cursor.error(opening.span.to(cursor.token.span), "the list of columns is empty", "Name a column.")
        while True:
            self.read_one(cursor)
            if not cursor.skip_symbol(","):
                break
            if cursor.sees_symbol(")"):
                _note_trailing_comma(cursor)
                break
        if not cursor.skip_symbol(")"):
            raise _not_closed(cursor, opening)

    def read_one(self, cursor: Cursor) -> None:
        """Read one element.

        Raises:
            SqlError: it is wrong, or was there before.
        """
        if is_watermark(cursor):
            self._add_watermark(cursor, read_watermark(cursor))
        elif is_constraint(cursor):
            self._add_key(cursor, read_constraint(cursor))
        else:
            start = cursor.token
            read = read_column(cursor)
            self._add_column(cursor, read.column, start)
            self.positions.append(_read_position(cursor) if self._has_positions else None)
            if read.key is not None:
                self._add_key(cursor, read.key)

    def _add_column(self, cursor: Cursor, column: Column, start: Token) -> None:
        earlier = self._declared.get(column.name.lower())
        if earlier is not None:
            line, at = cursor.source.line_and_column(earlier.start)
            raise cursor.error(
                start.span,
                f"the column '{column.name}' is there already (line {line}, column {at})",
                "Rename one of the two; upper and lower case are not distinguished.",
            )
        self._declared[column.name.lower()] = start.span
        self.columns.append(column)

    def _add_watermark(self, cursor: Cursor, watermark: WatermarkSpec) -> None:
        rowtime = tuple(each.lower() for each in watermark.rowtime)
        if rowtime in self._rowtimes:
            raise cursor.error(
                watermark.rowtime_span or cursor.token.span,
                f"'{path_text(watermark.rowtime)}' has a watermark already",
                "A column has one; several columns may have one each.",
            )
        self._rowtimes.add(rowtime)
        self.watermarks.append(watermark)

    def _add_key(self, cursor: Cursor, key: PrimaryKey) -> None:
        if self.primary_key is not None:
            raise cursor.error(
                key.span or cursor.token.span,
                "the table has a primary key already",
                "Write one: PRIMARY KEY (a, b) NOT ENFORCED.",
            )
        self.primary_key = key


def _read_position(cursor: Cursor) -> ColumnPosition | None:
    start = cursor.token
    if cursor.skip("FIRST"):
        return ColumnPosition(after=None, span=start.span)
    if not cursor.skip("AFTER"):
        return None
    after = name(cursor, "the column before it")
    return ColumnPosition(after=after, span=start.span.to(cursor.previous.span))


def _note_trailing_comma(cursor: Cursor) -> None:
    line, column = cursor.source.line_and_column(cursor.previous.start)
    cursor.hints.append(f"line {line}, column {column}: the comma after the last column is passed over")


def _not_closed(cursor: Cursor, opening: Token) -> SqlError:
    if cursor.is_at_end:
        return cursor.error(opening.span, "the list of columns is not closed", "Add ')'.")
    return cursor.unexpected("',' or ')'")
