"""Partial aggregates, combined again, are the aggregates of the rows, however the rows fall into chunks."""

from __future__ import annotations

import random
from collections import defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.arrow_types import BIGINT, DOUBLE, NTZ, STRING
from datasources.errors import RecordError
from datasources.expressions.compiler.compile import compile_expression, compile_filter, compile_rowtime
from datasources.source.api.aggregation import GroupKey, Panes, PartialAggregation, PartialCall, PartialFunction
from datasources.source.reading import partial_aggregates
from datasources.source.reading.partial_aggregates import PartialAggregator

SCHEMA = pa.schema(
    [("ts", NTZ), ("k", STRING), ("x", pa.int32()), ("b", BIGINT), ("d", pa.decimal128(5, 2)), ("f", DOUBLE)]
)
ZONE: dict[str, Any] = {"time_zone": "UTC", "ansi": True}
S = 1_000_000


def value(text: str) -> Any:
    return compile_expression(text, SCHEMA, **ZONE)


def call(name: str, function: str, argument: str | None = None, where: str | None = None) -> PartialCall:
    found = None if argument is None else value(argument)
    of_sum = {pa.int32(): BIGINT, BIGINT: BIGINT, DOUBLE: DOUBLE, pa.decimal128(5, 2): pa.decimal128(15, 2)}
    result = BIGINT if found is None or function == "count" else found.result_type
    return PartialCall(
        name=name,
        function=PartialFunction(function),
        argument=found,
        condition=None if where is None else compile_filter(where, SCHEMA, **ZONE),
        result_type=of_sum[result] if function == "sum" else result,
    )


CALLS = (
    call("n", "count"),
    call("nk", "count", "k"),
    call("nb", "count", where="x > 2"),
    call("sx", "sum", "x"),
    call("sb", "sum", "b"),
    call("sd", "sum", "d"),
    call("lo", "min", "k"),
    call("hi", "max", "b"),
    call("sf", "sum", "x", "k = 'a'"),
)


def aggregation(*, keys: tuple[str, ...] = ("k",), calls: tuple[PartialCall, ...] = CALLS, late: bool = False) -> Any:
    return PartialAggregation(
        panes=Panes(name="pane", rowtime=compile_rowtime("ts", SCHEMA), time_type=NTZ, length_us=4 * S, offset_us=S),
        keys=tuple(GroupKey(name=f"key_{at}", value=value(text)) for at, text in enumerate(keys)),
        calls=calls,
        keeps_row_watermarks=late,
    )


def rows(seed: int, count: int, *, distinct: int = 4) -> list[dict[str, Any]]:
    choose = random.Random(seed)
    made = [
        {
            "ts": choose.randint(-20, 40) * S + choose.randint(0, S),
            "k": chr(97 + choose.randrange(distinct)) if distinct < 20 else f"k{choose.randrange(distinct)}",
            "x": choose.randint(-9, 9),
            "b": choose.choice((1, -1, 2**62, -(2**62), 2**63 - 1)),
            "d": Decimal(choose.randint(-99999, 99999)).scaleb(-2),
            "f": choose.choice((0.5, float("nan"), -1.0)),
        }
        for _ in range(count)
    ]
    return [{name: v for name, v in row.items() if choose.random() > 0.05} for row in made]


def batch(some: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{name: row.get(name) for name in SCHEMA.names} for row in some], schema=SCHEMA)


def delivered(
    wanted: PartialAggregation, some: list[dict[str, Any]], size: int, watermarks: list[int] | None = None
) -> list[dict[str, Any]]:
    aggregator, found = PartialAggregator(wanted), []
    for first in range(0, len(some), size):
        chunk = batch(some[first : first + size])
        given = [0] * len(some) if watermarks is None else watermarks
        marks = np.array(given[first : first + size], np.int64)
        found += list(aggregator.add(chunk, marks, str))
    found += list(aggregator.flush())
    return [
        row | {"watermark": int(mark)}
        for each in found
        for row, mark in zip(each.columns.to_pylist(), each.row_watermarks_us, strict=True)
    ]


def pane_of(row: dict[str, Any]) -> int | None:
    return None if row.get("ts") is None else (row["ts"] - S) // (4 * S)


def expected(some: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Return the aggregates of each group, computed row by row with Python's own numbers."""
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in some:
        if pane_of(row) is not None:
            groups[pane_of(row), row.get("k")].append(row)

    def total(values: list[Any]) -> Any:
        return sum(values) if values else None

    def of(group: list[dict[str, Any]], name: str) -> list[Any]:
        return [row[name] for row in group if row.get(name) is not None]

    return {
        key: {
            "n": len(group),
            "nk": len(of(group, "k")),
            "nb": sum(each > 2 for each in of(group, "x")),
            "sx": total(of(group, "x")),
            "sb": total(of(group, "b")),
            "sd": total(of(group, "d")),
            "lo": min(of(group, "k"), default=None),
            "hi": max(of(group, "b"), default=None),
            "sf": total(of([row for row in group if row.get("k") == "a"], "x")),
        }
        for key, group in groups.items()
    }


def combined(partials: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in partials:
        begin = micros(row["pane"])
        assert (begin - S) % (4 * S) == 0
        groups[(begin - S) // (4 * S), row["key_0"]].append(row)

    def over(group: list[dict[str, Any]], each: PartialCall) -> Any:
        values = [row[each.name] for row in group if row[each.name] is not None]
        if each.function in (PartialFunction.MIN, PartialFunction.MAX):
            return (min if each.function is PartialFunction.MIN else max)(values, default=None)
        return sum(values) if values else None

    return {key: {each.name: over(group, each) for each in CALLS} for key, group in groups.items()}


def micros(moment: Any) -> int:
    return int(np.datetime64(moment, "us").astype(np.int64))


@pytest.mark.parametrize("size", [1, 70, 1_500, 9_000])
@pytest.mark.parametrize("seed", range(4))
def test_combined_partial_aggregates_are_those_of_the_rows(seed, size):
    some = rows(seed, 300 if size == 1 else 9_000, distinct=4 if seed % 2 else 3_000)
    assert combined(delivered(aggregation(), some, size)) == expected(some)


def test_rows_of_few_groups_leave_as_few_rows():
    some = [row | {"b": 1} for row in rows(1, 30_000)]
    assert len(delivered(aggregation(), some, 1_000)) == len(expected(some))


def test_more_groups_than_are_kept_are_delivered_early(monkeypatch):
    monkeypatch.setattr(partial_aggregates, "MAX_GROUPS", 100)
    some = [row | {"b": 1} for row in rows(3, 20_000, distinct=60)]
    aggregator, max_kept = PartialAggregator(aggregation()), 0
    for first in range(0, len(some), 2_000):
        list(aggregator.add(batch(some[first : first + 2_000]), np.zeros(2_000, np.int64), str))
        max_kept = max(max_kept, sum(table.num_rows for table in aggregator._kept))
    assert max_kept <= 100
    assert combined(delivered(aggregation(), some, 2_000)) == expected(some)


def test_a_sum_that_may_leave_its_type_stays_in_parts():
    some = [{"ts": S, "k": "a", "b": 2**62} for _ in range(5)]
    found = delivered(aggregation(calls=(call("sb", "sum", "b"),)), some, 5)
    assert [row["sb"] for row in found] == [2**62] * 5


def test_nan_is_left_to_spark():
    some = [{"ts": S, "k": "a", "f": value} for value in (1.0, float("nan"), 2.0)]
    assert len(delivered(aggregation(calls=(call("lo", "min", "f"),)), some, 3)) == 3


def test_mostly_distinct_rows_are_not_grouped_again_and_again(monkeypatch):
    some = [row | {"b": 1, "k": f"k{number}"} for number, row in enumerate(rows(5, 20_000))]  # ten chunks
    grouped: list[int] = []
    own = PartialAggregator._grouped

    def counting(self: Any, table: Any) -> Any:
        grouped.append(table.num_rows)
        return own(self, table)

    monkeypatch.setattr(PartialAggregator, "_grouped", counting)
    found = delivered(aggregation(), some, 2_000)
    assert combined(found) == expected(some)
    assert len(grouped) == 1


def test_rows_that_are_late_for_other_windows_are_other_groups():
    watermark = 30 * S
    some = [{"ts": 2 * S, "k": "a", "b": 1}] * 4
    marks = [0, 5 * S - 1_001, 5 * S - 1_000, watermark]
    found = delivered(aggregation(late=True), some, 4, marks)
    assert sorted((row["n"], row["watermark"]) for row in found) == [(1, 5 * S - 1_000), (1, watermark), (2, 0)]


def test_a_failing_argument_names_its_row_and_fails_for_counted_rows_only():
    some = [{"ts": S, "x": 1}, {"x": 5}, {"ts": S, "x": 0}]
    safe = call("q", "max", "CAST(10 % x AS INT)", "x > 0")
    assert [row["q"] for row in delivered(aggregation(keys=("k",), calls=(safe,)), some, 3)] == [0]
    with pytest.raises(RecordError, match="2: "):
        delivered(aggregation(keys=("k",), calls=(call("q", "max", "10 % x"),)), some, 3)
