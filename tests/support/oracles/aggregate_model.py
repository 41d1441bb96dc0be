"""Aggregates of a whole table, row by row with Python's exact numbers: what an AggregateOperator must agree with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from tests.support.spark.change_bucket_run import canonical_value

Row = dict[str, Any]


def aggregate_model(rows: Iterable[Row], keys: Sequence[str], calls: Sequence[AggregateCall]) -> list[tuple[Any, ...]]:
    """Return the rows of SELECT keys, calls FROM rows GROUP BY keys, sorted; without keys there is one."""
    groups: dict[tuple[Any, ...], list[Row]] = {} if keys else {(): []}
    for row in rows:
        groups.setdefault(tuple(canonical_value(row[key]) for key in keys), []).append(row)
    found = [(*key, *(canonical_value(_result(call, members)) for call in calls)) for key, members in groups.items()]
    return sorted(found, key=repr)


def sort_key(value: Any) -> tuple[Any, ...]:
    """Order: NULL, then values, NaN last; structs and lists by their elements."""
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (2,) if math.isnan(value) else (1, value + 0.0)
    if isinstance(value, str):
        return (1, value.encode())
    if isinstance(value, dict):
        return (1, tuple(sort_key(field) for field in value.values()))
    if isinstance(value, list):
        return (1, tuple(map(sort_key, value)))
    return (1, value)


def _result(call: AggregateCall, rows: list[Row]) -> Any:
    rows = [row for row in rows if call.filter is None or row[call.filter]]
    if call.argument is None:
        return len(rows)
    keeps_nulls = call.function in {"first", "last"} and call.order and not call.ignore_nulls
    rows = [row for row in rows if keeps_nulls or row[call.argument] is not None]
    rows = sorted(rows, key=lambda row: sort_key(row[call.argument]))
    for column, is_ascending, is_nulls_first in reversed(call.order):
        rows = _sorted_by(rows, column, is_ascending=is_ascending, is_nulls_first=is_nulls_first)
    values = [row[call.argument] for row in rows]
    if call.is_distinct or call.function == "collect_set":
        values = list({canonical_value(value): value for value in values}.values())
    return _FUNCTIONS[call.function](call, values)


def _sorted_by(rows: list[Row], column: str, *, is_ascending: bool, is_nulls_first: bool) -> list[Row]:
    nulls = [row for row in rows if row[column] is None]
    others = [row for row in rows if row[column] is not None]
    ranks = sorted({sort_key(row[column]) for row in others})
    others.sort(key=lambda row: ranks.index(sort_key(row[column])) * (1 if is_ascending else -1))
    return [*nulls, *others] if is_nulls_first else [*others, *nulls]


def exact_double(values: Sequence[float], divisor: int = 1) -> float:
    """Return the exact sum, divided, as the nearest double."""
    infinite = {value for value in values if math.isinf(value)}
    if any(map(math.isnan, values)) or len(infinite) == 2:
        return math.nan
    if infinite:
        return infinite.pop()
    total = sum(map(Fraction, values), start=Fraction(0)) / divisor
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _exact_decimal(call: AggregateCall, values: Sequence[Decimal], divisor: int = 1) -> Decimal | None:
    with localcontext(prec=200):
        total = sum(map(Fraction, values), start=Fraction(0)) / divisor
        quotient = Decimal(abs(total.numerator)) / Decimal(total.denominator)
        rounded = quotient.quantize(Decimal(1).scaleb(-call.type.scale), rounding=ROUND_HALF_UP)
        if rounded >= Decimal(10) ** (call.type.precision - call.type.scale):
            return None
        return rounded if total >= 0 else -rounded


def _sum(call: AggregateCall, values: list[Any]) -> Any:
    if not values:
        return None
    if isinstance(values[0], float):
        return exact_double(values)
    if isinstance(values[0], Decimal):
        return _exact_decimal(call, values)
    total = sum(values)
    if -(1 << 63) <= total < 1 << 63:
        return total
    return None if call.overflow == "null" else (total + (1 << 63)) % (1 << 64) - (1 << 63)


def _avg(call: AggregateCall, values: list[Any]) -> Any:
    if not values:
        return None
    if isinstance(values[0], float):
        return exact_double(values, len(values))
    if isinstance(values[0], Decimal):
        return _exact_decimal(call, values, len(values))
    return sum(values) / len(values)


def _first(_: AggregateCall, values: list[Any]) -> Any:
    return values[0] if values else None


def _last(_: AggregateCall, values: list[Any]) -> Any:
    return values[-1] if values else None


def _list(_: AggregateCall, values: list[Any]) -> Any:
    return values


_FUNCTIONS: dict[str, Callable[[AggregateCall, list[Any]], Any]] = {
    "count": lambda _, values: len(values),
    "sum": _sum,
    "avg": _avg,
    "min": _first,
    "max": _last,
    "any_value": _first,
    "first": _first,
    "last": _last,
    "bool_and": lambda _, values: all(values) if values else None,
    "bool_or": lambda _, values: any(values) if values else None,
    "collect": _list,
    "collect_set": _list,
    "listagg": lambda call, values: call.separator.join(values) if values else None,
}
