"""Where chunks of a table end: the next bounds after a lower bound.

Theory of operation. A table is read in ranges of its key in ascending order and without gaps: the upper bound of one is
the lower bound of the next, whatever rows are inserted or deleted meanwhile. Bounds are keys of rows that exist when
they are planned, at every ``size``-th row, found by walking the key's index. Dense integers need no walk: steps of
``size`` numbers hold at most that many rows. In both cases a planned chunk has at most ``size`` rows at that moment.

The last bound is the greatest key at planning, so no open chunk can hold many rows. Rows that are written above it
later, before the snapshot position of the batch, belong to the open range that is read when a plan finds no additional
key: it holds what was written since the plan, and ends the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import pymysql

from datasources.mysql.connection.connection_errors import error_number
from datasources.mysql.connection.quoting import quote_name, table_name
from datasources.mysql.tables.chunk_key import KeyKind, TableKey
from datasources.mysql.tables.key_ranges import Bound, KeyRange, range_condition
from datasources.mysql.tables.key_values import form_of, is_divisible, select_expression
from datasources.mysql.types.decoders.key_texts import ValueForm

_DENSE: Final = 0.5
_CHANGED: Final = frozenset({1049, 1054, 1146, 1176})  # no such database, column, table, index


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsRequest:
    """A request for bounds.

    Attributes:
        database: The table's database.
        table: The table.
        key: The key by which it is divided.
        size: Rows of a chunk, at most.
        count: How many bounds, at most.
        rows: The estimated number of rows of the table.
        budget_bytes: The maximum length of all bounds; the first one is always returned.
    """

    database: str
    table: str
    key: TableKey
    size: int
    count: int
    rows: int = 0
    budget_bytes: int = 16_384


@dataclass(frozen=True, slots=True)
class BoundsPlan:
    """A plan of bounds.

    Attributes:
        bounds: Upper bounds, inclusive, in the key's order; empty if no row follows.
        is_end: Whether no row follows the last of them; the rest of the table is then one open range.
    """

    bounds: tuple[Bound, ...]
    is_end: bool


def next_bounds(connection: Any, wanted: BoundsRequest, after: Bound | None) -> BoundsPlan:
    """Return the bounds of the next chunks above a bound.

    The session must be in UTC. ``after`` is the upper bound of the last planned chunk; None at the beginning.

    Returns:
        Bounds; none for a table without a key, or with one that cannot be divided, which is one range.
    """
    key = wanted.key
    if not _is_divisible(key):
        return BoundsPlan((), is_end=True)
    with connection.cursor() as cursor:
        steps = _steps(cursor, wanted, after)
        found, is_end = _fitting(_walk(cursor, wanted, after) if steps is None else steps, wanted)
    return BoundsPlan(found, is_end=is_end)


def tables_of_one_chunk(connection: Any, wanted: Sequence[BoundsRequest]) -> frozenset[tuple[str, str]]:
    """Return which tables fit into one chunk, so that they need no bounds; by one statement for all.

    Tables without a key that can be divided are left out.

    Returns:
        Databases and tables; empty if one of them was dropped or lost its index meanwhile.
    """
    divisible = [each for each in wanted if _is_divisible(each.key)]
    if not divisible:
        return frozenset()
    queries = (
        f"(SELECT {number} FROM {_by_key(each)} LIMIT 1 OFFSET {each.size})"  # noqa: S608 - quoted
        for number, each in enumerate(divisible)
    )
    with connection.cursor() as cursor:
        try:
            cursor.execute(" UNION ALL ".join(queries))
        except pymysql.MySQLError as error:
            if is_table_change(error):
                return frozenset()
            raise
        larger = {int(row[0]) for row in cursor.fetchall()}
    return frozenset((each.database, each.table) for number, each in enumerate(divisible) if number not in larger)


def is_table_change(error: pymysql.MySQLError) -> bool:
    """Return whether a statement failed because a table was dropped, or its key changed, since it was described."""
    return error_number(error) in _CHANGED


def _is_divisible(key: TableKey) -> bool:
    return key.kind is not KeyKind.NONE and all(is_divisible(column) for column in key.columns)


def _steps(cursor: Any, wanted: BoundsRequest, after: Bound | None) -> Iterator[Bound] | None:
    """Return bounds by arithmetic, or None if the key is no single integer or its numbers are sparse."""
    columns = wanted.key.columns
    if len(columns) != 1 or form_of(columns[0]) is not ValueForm.NUMBER:
        return None
    last, first = _edge(cursor, wanted, after, "DESC"), _edge(cursor, wanted, after, "ASC")
    if first is None or last is None:
        return None
    numbers = range(int(first[0]) + wanted.size - 1, int(last[0]), wanted.size)
    # A wrong estimate costs time only: steps with few rows, or an unnecessary walk.
    is_dense = wanted.rows >= _DENSE * (int(last[0]) - int(first[0]) + 1)
    return chain(((str(number),) for number in numbers), (last,)) if is_dense else None


def _walk(cursor: Any, wanted: BoundsRequest, after: Bound | None) -> Iterator[Bound]:
    """Yield the key of every ``size``-th row, then the greatest key.

    That one is read last: no row can be inserted between it and the previous bound.
    """
    at = after
    while (found := _row(cursor, wanted, at, f"LIMIT 1 OFFSET {wanted.size - 1}")) is not None:
        yield found
        at = found
    last = _edge(cursor, wanted, at, "DESC")
    if last is not None:
        yield last


def _fitting(candidates: Iterator[Bound], wanted: BoundsRequest) -> tuple[tuple[Bound, ...], bool]:
    """Return as many bounds as the plan may hold, and whether there are no more."""
    found: list[Bound] = []
    size_bytes = 0
    for bound in candidates:
        size_bytes += sum(len(value.encode()) for value in bound)
        if len(found) == wanted.count or (found and size_bytes > wanted.budget_bytes):
            return tuple(found), False
        found.append(bound)
    return tuple(found), True


def _edge(cursor: Any, wanted: BoundsRequest, after: Bound | None, direction: str) -> Bound | None:
    """Return the smallest or greatest key above a bound."""
    return _row(cursor, wanted, after, "LIMIT 1", direction)


def _row(cursor: Any, wanted: BoundsRequest, after: Bound | None, limit: str, direction: str = "ASC") -> Bound | None:
    columns = wanted.key.columns
    values = ", ".join(select_expression(column) for column in columns)
    order = ", ".join(f"{quote_name(column.name)} {direction}" for column in columns)
    condition = range_condition(wanted.key, KeyRange(lower=after))
    cursor.execute(f"SELECT {values} FROM {_by_key(wanted)} WHERE {condition} ORDER BY {order} {limit}")  # noqa: S608 - quoted
    row = cursor.fetchone()
    return None if row is None else tuple(_text(value) for value in row)


def _by_key(wanted: BoundsRequest) -> str:
    return f"{table_name(wanted.database, wanted.table)} FORCE INDEX ({quote_name(wanted.key.name)})"


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
