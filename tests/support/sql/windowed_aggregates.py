"""Generated statements that aggregate over windows, and generated rows for them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

__all__ = ["COLUMNS", "WindowedAggregates", "generated_rows", "generated_statement"]

COLUMNS = (
    "k STRING, g INT, x INT, b BIGINT, d DECIMAL(5,2), w DECIMAL(38,3), f DOUBLE, r FLOAT, t BOOLEAN, day DATE, "
    "o STRUCT<i: INT, n: STRING>, ts TIMESTAMP(3), twice AS x * 2, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
)
_WINDOWS = (
    "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND)",
    "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '3' SECOND)",
    "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '8' SECOND)",
    "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '6' SECOND)",
    "CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '12' SECOND)",
)
_KEYS = ("k", "g", "g % 3", "t", "day", "twice", "o.n", "CONCAT(k, '-')", "d", "f", "k IS NULL")
_CALLS = (
    "COUNT(*)",
    "COUNT(k)",
    "COUNT(k, x)",
    "SUM(x)",
    "SUM(b)",
    "SUM(d)",
    "SUM(w)",
    "SUM(x + 1)",
    "SUM(o.i)",
    "SUM(twice)",
    "MIN(x)",
    "MAX(b)",
    "MIN(k)",
    "MAX(day)",
    "MIN(d)",
    "MAX(f)",
    "MIN(r)",
    "MAX(ts)",
    "AVG(x)",
    "AVG(b)",
    "bool_and(t)",
    "bool_or(x > 5)",
    "count_if(g = 1)",
    "SUM(x) FILTER (WHERE t)",
    "COUNT(*) FILTER (WHERE k IS NOT NULL AND x > 2)",
    "SUM(CASE WHEN t THEN x ELSE -x END)",
    "MAX(x) - MIN(x)",
    "SUM(x) * 2 + COUNT(*)",
    "SUM(f)",
    "AVG(r)",
)
_CONDITIONS = (
    "",
    "",
    "WHERE x > 3",
    "WHERE k <> 'b' AND t",
    "WHERE d > 0.5",
    "WHERE x * 2 > 4 AND window_end IS NOT NULL",
)


@dataclass(frozen=True, slots=True)
class WindowedAggregates:
    """A statement, and which of its columns are sums of doubles, which depend on the order of addition."""

    text: str
    doubles: frozenset[int]


def generated_statement(seed: int) -> WindowedAggregates:
    """Return a statement over the table `e`."""
    choose = random.Random(seed)
    keys = choose.sample(_KEYS, choose.randint(0, 2))
    calls = choose.sample(_CALLS, choose.randint(1, 5))
    named = [f"{key} AS key_{at}" for at, key in enumerate(keys)]
    selected = ["window_start", "window_end", *named, *(f"{call} AS c{at}" for at, call in enumerate(calls))]
    grouping = choose.choice(("plain", "plain", "plain", "rollup", "cube", "sets")) if keys else "plain"
    window = "window_start, window_end"
    listed = ", ".join(keys)
    by = {
        "plain": ", ".join((window, *keys)),
        "rollup": f"{window}, ROLLUP ({listed})",
        "cube": f"{window}, CUBE ({listed})",
        "sets": f"GROUPING SETS (({window}, {listed}), ({window}))",
    }[grouping]
    having = choose.choice(("", "", "HAVING COUNT(*) > 1"))
    condition = choose.choice(_CONDITIONS)
    text = f"SELECT {', '.join(selected)} FROM TABLE({choose.choice(_WINDOWS)}) {condition} GROUP BY {by} {having}"
    first = 2 + len(keys)
    return WindowedAggregates(
        text, frozenset(first + at for at, call in enumerate(calls) if call in {"SUM(f)", "AVG(r)"})
    )


def generated_rows(seed: int, count: int) -> list[dict[str, Any]]:
    """Return rows in the order of one split, some late, some without time."""
    choose = random.Random(seed)
    return [_row(choose, second * 0.4) for second in range(count)]


def _row(choose: random.Random, second: float) -> dict[str, Any]:
    at = max(0.0, second + choose.uniform(-6, 1))
    time = f"2024-01-01 00:{int(at // 60):02d}:{at % 60:06.3f}"
    row = {
        "k": choose.choice("abcde"),
        "g": choose.randint(0, 9),
        "x": choose.randint(-5, 12),
        "b": choose.choice((choose.randint(-9, 9), 2**40, -(2**41))),
        "d": f"{choose.randint(-99999, 99999) / 100:.2f}",
        "w": f"{choose.choice((1, 10**20, -(10**33)))}.125",
        "f": choose.choice((0.0, -0.0, 1.5, 1e300, -2.25, 0.1)),
        "r": choose.choice((0.5, -1.25, 3.0)),
        "t": choose.random() < 0.5,
        "day": f"2024-01-{choose.randint(1, 28):02d}",
        "o": {"i": choose.randint(0, 5), "n": choose.choice("pq")},
        "ts": time,
    }
    return {name: value for name, value in row.items() if choose.random() > 0.06}
