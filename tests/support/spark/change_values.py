"""Values of all types for tables of generated changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

__all__ = ["TYPES", "batches", "shuffled_parts", "values"]

UTC = dt.UTC
TYPES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int64(), [0, 1, -1, 2**62]),
    (pa.int8(), [0, 1, -128]),
    (pa.float64(), [0.0, -0.0, float("nan"), 1.5, float("inf"), float("-inf")]),
    (pa.float32(), [0.0, -0.0, float("nan"), -1.5]),
    (pa.string(), ["", "a", "B", "é", "😀", "\uff41"]),
    (pa.binary(), [b"", b"\x00", b"\xff", b"a"]),
    (pa.decimal128(38, 2), [Decimal("0.00"), Decimal("-1.50"), Decimal("9" * 36 + ".99"), Decimal("1.00")]),
    (pa.date32(), [dt.date(1970, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    (pa.timestamp("us", "UTC"), [dt.datetime(1970, 1, 1, tzinfo=UTC), dt.datetime(1600, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]),
    (pa.timestamp("us"), [dt.datetime(2020, 2, 29), dt.datetime(1969, 12, 31, 23, 59, 59, 999999)]),
    (pa.bool_(), [False, True]),
]
"""Types with values among which some are equal, and some sort differently than their bytes."""


def values(pool: list[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.sampled_from(pool)


@st.composite
def batches(draw, rows: st.SearchStrategy[Any], tables: int = 1, min_weight: int = -2):
    """Micro-batches: for each table changes of any rows, also removals of rows that are not there."""
    pools = [draw(st.lists(rows_, min_size=1, max_size=6)) for rows_ in ([rows] * tables)]
    weight = st.sampled_from([each for each in (1, 1, 1, 2, -1, -1, -2) if each >= min_weight])
    change = [st.lists(st.tuples(st.sampled_from(pool), weight), max_size=6) for pool in pools]
    return draw(st.lists(st.tuples(*change), min_size=1, max_size=5))


def shuffled_parts(changes: list[Any], random: Any) -> Iterator[list[Any]]:
    """The changes in another order, cut into parts at random."""
    random.shuffle(changes)
    while changes:
        size = random.randint(1, len(changes))
        yield changes[:size]
        changes = changes[size:]
