"""Where chunks of a table end: the next bounds after a frontier.

Theory of operation. A table is read in ranges of its key, each above the one before and all without gaps: the upper
bound of one is the lower bound of the next, whatever rows come and go meanwhile. Bounds are keys of rows that exist
when they are planned, at every ``size``-th row, found by walking the key's index. Integers that lie close together need
no walk: steps of ``size`` numbers hold at most that many rows. In both cases no chunk that is planned is larger than
``size`` at that moment.

The last bound is the greatest key at planning, so no chunk is open above while many rows can lie there. What is written
above it later, before the mark of the batch, belongs to the range that is open above and is read when a plan finds no
further key: that range holds what came since the plan, and ends the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from datasources.mysql.connection_names import quote_name, table_name
from datasources.mysql.snapshot.bounds_key import KeyKind, TableKey
from datasources.mysql.snapshot.bounds_range import Bound, KeyRange, range_condition
from datasources.mysql.snapshot.bounds_values import ValueForm, form_of, is_divisible, select_expression

__all__ = ["BoundsPlan", "BoundsRequest", "next_bounds", "ranges_of"]

_DENSE: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsRequest:
    """What is to be planned.

    Attributes:
        database: The table's database.
        table: The table.
        key: By what it is cut.
        size: Rows of a chunk, at most.
        count: How many bounds, at most.
        rows: About how many rows the table has.
        budget_bytes: How much text the bounds may be together; the first one is always given.
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
    """What was planned.

    Attributes:
        bounds: Upper bounds, inclusive, in the key's order; empty where no row lies above the frontier.
        is_end: Whether no row lies above the last of them; the rest of the table is then one range, open above.
    """

    bounds: tuple[Bound, ...]
    is_end: bool


def next_bounds(connection: Any, wanted: BoundsRequest, after: Bound | None) -> BoundsPlan:
    """Return the bounds of the next chunks above a frontier.

    Args:
        connection: A connection whose session is in UTC.
        wanted: The table and the size of the plan.
        after: The frontier: the upper bound of the last chunk that was planned; None at the beginning.

    Returns:
        Bounds; none at all for a table without a key, or with one that cannot be cut, which is one range.
    """
    key = wanted.key
    if key.kind is KeyKind.NONE or not all(is_divisible(column) for column in key.columns):
        return BoundsPlan((), is_end=True)
    with connection.cursor() as cursor:
        last = _edge(cursor, wanted, after, "DESC")
        if last is None:
            return BoundsPlan((), is_end=True)
        found = _fitting(_candidates(cursor, wanted, after, last), wanted)
    return BoundsPlan(found, is_end=found[-1] == last)


def ranges_of(plan: BoundsPlan, after: Bound | None) -> list[KeyRange]:
    """Return the ranges that a plan's bounds make above a frontier, in order, without the open one at the end."""
    lowers = (after, *plan.bounds)
    return [KeyRange(lower=lower, upper=upper) for lower, upper in zip(lowers, plan.bounds, strict=False)]


def _candidates(cursor: Any, wanted: BoundsRequest, after: Bound | None, last: Bound) -> Iterator[Bound]:
    """Yield bounds in order, the greatest key last."""
    first = _first_number(cursor, wanted, after)
    if first is not None and _is_dense(wanted, int(last[0]) - first + 1, is_from_start=after is None):
        yield from ((str(number),) for number in range(first + wanted.size - 1, int(last[0]), wanted.size))
    else:
        yield from _walk(cursor, wanted, after, last)
    yield last


def _first_number(cursor: Any, wanted: BoundsRequest, after: Bound | None) -> int | None:
    """Return the smallest integer that the next chunk may hold, or None where the key is no single integer."""
    columns = wanted.key.columns
    if len(columns) != 1 or form_of(columns[0]) is not ValueForm.NUMBER:
        return None
    if after is not None:
        return int(after[0]) + 1
    edge = _edge(cursor, wanted, None, "ASC")
    return None if edge is None else int(edge[0])


def _is_dense(wanted: BoundsRequest, numbers: int, *, is_from_start: bool) -> bool:
    """Return whether steps would hold a fair number of rows; a wrong estimate costs time only."""
    rows = wanted.rows if is_from_start else min(wanted.rows, numbers)
    return rows >= _DENSE * numbers


def _walk(cursor: Any, wanted: BoundsRequest, after: Bound | None, last: Bound) -> Iterator[Bound]:
    """Yield the key of every ``size``-th row, none above the greatest key of this plan."""
    at = after
    while True:
        above = KeyRange(lower=at, upper=last)
        found = _row(cursor, wanted, above, f"LIMIT 1 OFFSET {wanted.size - 1}")
        if found is None:
            return
        yield found
        at = found


def _fitting(candidates: Iterator[Bound], wanted: BoundsRequest) -> tuple[Bound, ...]:
    """Return as many bounds as the plan may hold; the walk's last may be the greatest key itself."""
    found: list[Bound] = []
    size_bytes = 0
    for bound in candidates:
        size_bytes += sum(len(value.encode()) for value in bound)
        is_full = len(found) == wanted.count or (found and size_bytes > wanted.budget_bytes)
        if is_full or bound in found[-1:]:
            break
        found.append(bound)
    return tuple(found)


def _edge(cursor: Any, wanted: BoundsRequest, after: Bound | None, direction: str) -> Bound | None:
    """Return the smallest or greatest key above a frontier."""
    return _row(cursor, wanted, KeyRange(lower=after), "LIMIT 1", direction)


def _row(cursor: Any, wanted: BoundsRequest, where: KeyRange, limit: str, direction: str = "ASC") -> Bound | None:
    columns = wanted.key.columns
    values = ", ".join(select_expression(column) for column in columns)
    order = ", ".join(f"{quote_name(column.name)} {direction}" for column in columns)
    index = f"FORCE INDEX ({quote_name(wanted.key.name)})"
    condition = range_condition(wanted.key, where)
    place = f"{table_name(wanted.database, wanted.table)} {index}"
    cursor.execute(f"SELECT {values} FROM {place} WHERE {condition} ORDER BY {order} {limit}")  # noqa: S608 - quoted
    row = cursor.fetchone()
    return None if row is None else tuple(_text(value) for value in row)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
