"""The aggregates over the frames of a sorted table, by DuckDB, with Spark's result types.

Each aggregate is computed from *partials*: AVG from a sum and a count, all others from themselves. With UNBOUNDED
PRECEDING a key carries the partials of its earlier rows, which are combined with those of the current rows. FIRST_VALUE
and LAST_VALUE are positions in the table, so their values stay in Arrow. Decimals are summed as integers, because
DuckDB's AVG of a DECIMAL is floating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.errors import QueryError
from datasources.spark.operators.buckets.duckdb_tables import DuckDBError, query
from datasources.spark.operators.over.frames.frame_bounds import Frames
from datasources.spark.operators.over.frames.frame_spec import OverAggregate
from datasources.spark.operators.over.frames.running_sums import by_running_sums

_Ints = NDArray[np.int64]
_BY_POSITION: Final = frozenset({"FIRST_VALUE", "LAST_VALUE"})
_WIDE: Final = pa.decimal128(38, 0)
_LONG_DIGITS: Final = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """Results per chosen row, and the partials to carry.

    Attributes:
        results: one column per aggregate.
        carried: the partials after each chosen row, with `carried_schema`; None for bounded frames.
    """

    results: list[pa.ChunkedArray]
    carried: pa.Table | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedBefore:
    """Carried partials of keys, and per chosen row its row among them, -1 for none."""

    partials: pa.Table
    row: _Ints


def carried_schema(aggregates: Sequence[OverAggregate]) -> pa.Schema:
    """Return the columns of the partials that a key carries with UNBOUNDED PRECEDING."""
    return pa.schema(
        [pa.field(name, kind) for n, each in enumerate(aggregates) for name, kind in _partial_types(n, each)]
    )


def compute(
    aggregates: Sequence[OverAggregate],
    rows: pa.Table,
    frames: Frames,
    chosen: _Ints,
    before: CarriedBefore | None = None,
) -> Computed:
    """Return the aggregates of the chosen rows.

    The rows are sorted like the frames; ``chosen`` are the positions of the result rows, ascending; bounded frames
    carry no partials (None).

    Raises:
        QueryError: a sum does not fit its type.
    """
    numbered = list(enumerate(aggregates))
    known = {
        n: _by_position(n, each, rows, frames, chosen, before) for n, each in numbered if each.function in _BY_POSITION
    }
    if before is None:
        sums = {n: by_running_sums(each, rows, frames, chosen) for n, each in numbered if n not in known}
        known |= {n: column for n, column in sums.items() if column is not None}
    carried = None if before is None else before.partials.take(pa.array(before.row, mask=before.row < 0))
    answer = _answer([(n, each) for n, each in numbered if n not in known], rows, frames, chosen, carried)
    results = [known[n] if n in known else _typed(answer[f"result_{n}"], each) for n, each in numbered]
    if before is None:
        return Computed(results=results, carried=None)
    partials = [
        known[n] if n in known else _as_chunked(answer[name]).cast(kind)
        for n, each in numbered
        for name, kind in _partial_types(n, each)
    ]
    return Computed(results=results, carried=pa.table(partials, schema=carried_schema(aggregates)))


def _partial_types(number: int, each: OverAggregate) -> list[tuple[str, pa.DataType]]:
    is_float = pa.types.is_floating(each.argument_type)
    total = pa.float64() if is_float else _WIDE
    known = {"SUM": [total], "AVG": [total, pa.int64()], "COUNT": [pa.int64()], "ROW_NUMBER": [pa.int64()]}
    return [(f"part_{number}_{m}", kind) for m, kind in enumerate(known.get(each.function, [each.argument_type]))]


def _answer(
    asked: Sequence[tuple[int, OverAggregate]],
    rows: pa.Table,
    frames: Frames,
    chosen: _Ints,
    carried: pa.Table | None,
) -> dict[str, Any]:
    """Return the columns result_n and part_n_m per chosen row."""
    if not asked:
        return {}
    columns, windows, partials, results = _window_input(asked, rows, frames), [], [], []
    for number, each in asked:
        for (name, kind), aggregate in zip(_partial_types(number, each), _windows(number, each), strict=True):
            wide = kind == _WIDE
            windows.append(
                f"CAST({aggregate} OVER w AS DECIMAL(38, 0)) {name}" if wide else f"{aggregate} OVER w {name}"
            )
            both = name if carried is None else _combined(each, name)
            partials.append(f"CAST({both} AS HUGEINT) AS {name}" if wide else f"{both} AS {name}")
        results.append(f"{_result(number, each)} AS result_{number}")
    frame = "(ORDER BY position ROWS BETWEEN back PRECEDING AND ahead FOLLOWING)"
    try:
        framed = query(f"SELECT {', '.join(windows)} FROM window_input WINDOW w AS {frame}", window_input=columns)  # noqa: S608
        if len(chosen) < len(framed):
            framed = framed.take(pa.array(chosen))
        if carried is not None:
            for name in framed.column_names:
                framed = framed.append_column(f"before_{name}", carried.column(name))
        wanted = f"SELECT {', '.join(partials)} FROM framed"  # noqa: S608 - no user input
        stored = [_as_stored(name, kind) for number, each in asked for name, kind in _partial_types(number, each)]
        answer = query(f"SELECT {', '.join([*results, *stored])} FROM ({wanted})", framed=framed)  # noqa: S608
    except DuckDBError as error:
        raise _too_large(error, asked) from error
    return {name: answer.column(name) for name in answer.column_names}


def _as_stored(name: str, kind: pa.DataType) -> str:
    return f"CAST({name} AS DECIMAL(38, 0)) AS {name}" if kind == _WIDE else name


def _too_large(error: Exception, asked: Sequence[tuple[int, OverAggregate]]) -> Exception:
    text = str(error).lower()
    if not any(word in text for word in ("out of range", "overflow", "could not cast", "conversion error")):
        return error
    names = ", ".join(each.name for _, each in asked if each.function in {"SUM", "AVG"})
    return QueryError(f"a sum over the window does not fit its type ({names}): cast the argument to a wider one.")


def _window_input(asked: Sequence[tuple[int, OverAggregate]], rows: pa.Table, frames: Frames) -> pa.Table:
    positions = np.arange(rows.num_rows)
    columns: dict[str, Any] = {"position": positions, "back": positions - frames.low, "ahead": frames.high - positions}
    for number, each in asked:
        if each.argument is not None:
            column = rows.column(each.argument)
            is_total = each.function in {"SUM", "AVG"}
            columns[f"value_{number}"] = _unscaled(column) if is_total else column
    return pa.table(columns)


def _windows(number: int, each: OverAggregate) -> list[str]:
    """The window aggregates that give an aggregate's partials."""
    value, kind = f"value_{number}", each.argument_type
    if each.argument is None:
        return ["count(*)"]
    if pa.types.is_floating(kind):
        number_type = "DOUBLE"
    else:
        number_type = "HUGEINT" if pa.types.is_decimal(kind) and kind.precision > _LONG_DIGITS else "BIGINT"
    total, count = f"sum(CAST({value} AS {number_type}))", f"count({value})"
    simple = {"SUM": [total], "AVG": [total, count], "COUNT": [count]}
    return simple.get(each.function, [f"{each.function.lower()}({value})"])


def _combined(each: OverAggregate, name: str) -> str:
    """The partial of the carried and the current rows together."""
    if each.function in {"MIN", "MAX"}:
        return f"{'least' if each.function == 'MIN' else 'greatest'}({name}, before_{name})"
    return f"coalesce({name} + before_{name}, {name}, before_{name})"


def _result(number: int, each: OverAggregate) -> str:
    first, count = f"part_{number}_0", f"part_{number}_1"
    if each.function == "SUM" and pa.types.is_integer(each.argument_type):
        return f"CAST({first} AS BIGINT)"
    if each.function == "SUM" and pa.types.is_decimal(each.argument_type):
        return f"CAST({first} AS DECIMAL(38, 0))"
    if each.function != "AVG":
        return first
    if not pa.types.is_decimal(each.argument_type):
        return f"CASE WHEN {count} > 0 THEN CAST({first} AS DOUBLE) / {count} END"
    shift = 10 ** (each.result_type.scale - each.argument_type.scale)
    rounded = f"(2 * abs({first}) * {shift} + {count}) // (2 * {count})"  # half up, away from zero
    return f"CAST(CASE WHEN {count} > 0 THEN sign({first}) * ({rounded}) END AS DECIMAL(38, 0))"


def _typed(column: Any, each: OverAggregate) -> pa.ChunkedArray:
    if not pa.types.is_decimal(each.result_type) or each.function not in {"SUM", "AVG"}:
        return _as_chunked(column).cast(each.result_type)
    highest = pc.max(pc.abs(column)).as_py()
    if highest is not None and highest >= 10**each.result_type.precision:
        raise QueryError(
            f"the {each.function} '{each.name}' over the window does not fit {each.result_type}: cast the argument "
            f"to a narrower decimal, or to DOUBLE."
        )
    return _reinterpreted(_as_chunked(column), each.result_type)


def _unscaled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A decimal as the integer of its digits; any other column as it is."""
    if not pa.types.is_decimal(column.type):
        return column
    return _reinterpreted(column, pa.decimal128(column.type.precision, 0))


def _reinterpreted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    chunks = [
        pa.Array.from_buffers(kind, len(chunk), chunk.buffers(), null_count=chunk.null_count, offset=chunk.offset)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, type=kind)


def _as_chunked(column: Any) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _by_position(  # noqa: PLR0913, PLR0917 - columns of one table
    number: int, each: OverAggregate, rows: pa.Table, frames: Frames, chosen: _Ints, before: CarriedBefore | None
) -> pa.ChunkedArray:
    """FIRST_VALUE and LAST_VALUE of the chosen rows: positions in the carried values followed by the current rows."""
    assert each.argument is not None  # both have one
    is_first, column = each.function == "FIRST_VALUE", rows.column(each.argument)
    low, high = frames.low[chosen], frames.high[chosen]
    if each.ignores_nulls:
        position, is_there = _not_null_position(column, low, high, is_first=is_first)
    else:
        position, is_there = (low if is_first else high), np.ones(len(chosen), dtype=np.bool_)
    if before is None:
        return column.take(pa.array(position, mask=~is_there))
    partials = before.partials.column(f"part_{number}_0")
    has_before = before.row >= 0
    if each.ignores_nulls:
        valid = np.append(pc.is_valid(partials).to_numpy(), False)
        has_before &= valid[before.row]
    takes_before = has_before & (is_first | ~is_there)
    at = np.where(takes_before, before.row, position + len(partials))
    both = pa.chunked_array([*partials.chunks, *column.chunks], type=column.type)
    return both.take(pa.array(at, mask=~(takes_before | is_there)))


def _not_null_position(
    column: pa.ChunkedArray, low: _Ints, high: _Ints, *, is_first: bool
) -> tuple[_Ints, NDArray[np.bool_]]:
    valid = np.flatnonzero(pc.is_valid(column).to_numpy())
    if not len(valid):
        return np.zeros(len(low), dtype=np.int64), np.zeros(len(low), dtype=np.bool_)
    found = np.searchsorted(valid, low, side="left") if is_first else np.searchsorted(valid, high, side="right") - 1
    position = valid[np.clip(found, 0, len(valid) - 1)]
    return position, (found >= 0) & (found < len(valid)) & (position >= low) & (position <= high)
