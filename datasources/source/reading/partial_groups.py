"""Rows that are partial aggregates become fewer of them: one for each group, where that is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from datasources.source.api.aggregation import PartialFunction

_WIDEST_DECIMAL: Final = 38
_COMBINED_BY: Final = {
    PartialFunction.COUNT: "sum",
    PartialFunction.SUM: "sum",
    PartialFunction.MIN: "min",
    PartialFunction.MAX: "max",
}


def grouped_rows(rows: pa.Table, keys: Sequence[str], calls: Mapping[str, PartialFunction]) -> pa.Table | None:
    """Return one row for each group; None where one of the results would not be certain.

    Args:
        rows: with columns of these names only; each is a partial aggregate.
        keys: by what rows are grouped, at least one.
        calls: how the values of the other columns become one.
    """
    input_columns = {name: rows.column(name) for name in keys}
    for name, function in calls.items():
        column = rows.column(name)
        if not _is_certain(column, function):
            return None
        input_columns[name] = _widened(column) if _COMBINED_BY[function] == "sum" else column
    wanted = [(name, _COMBINED_BY[function]) for name, function in calls.items()]
    try:
        found = pa.table(input_columns).group_by(list(keys), use_threads=False).aggregate(wanted)
        columns = {name: found.column(name) for name in keys}
        for name, combined_by in wanted:
            columns[name] = found.column(f"{name}_{combined_by}").cast(rows.column(name).type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a sum with too many digits; an older Arrow
        return None
    return pa.table({name: columns[name] for name in rows.column_names})


def _widened(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return decimals with as many digits as there can be, so that Arrow's sum has room."""
    if not pa.types.is_decimal(column.type):
        return column
    return column.cast(pa.decimal128(_WIDEST_DECIMAL, column.type.scale))


def _is_certain(column: pa.ChunkedArray, function: PartialFunction) -> bool:
    """Return whether Arrow's aggregate of any of the values is the exact one, and Spark's."""
    if function is PartialFunction.SUM and not pa.types.is_floating(column.type):
        scale = column.type.scale if pa.types.is_decimal(column.type) else 0
        digits = 10 ** (_WIDEST_DECIMAL - scale) if pa.types.is_decimal(column.type) else 2**63
        return bool(_largest(column) * len(column) < digits)
    if function in (PartialFunction.MIN, PartialFunction.MAX) and pa.types.is_floating(column.type):
        return not bool(pc.any(pc.is_nan(column)).as_py())
    return True


def _largest(column: pa.ChunkedArray) -> int | Decimal:
    found = pc.min_max(column)
    values = [found["min"].as_py(), found["max"].as_py()]
    return max((abs(value) for value in values if value is not None), default=0)
