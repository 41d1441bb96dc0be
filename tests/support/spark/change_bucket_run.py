"""One bucket of an operator over changes in memory, and tables as bags of rows."""

from __future__ import annotations

import functools
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.changes import (
    HASH_COLUMN,
    WEIGHT_COLUMN,
    consolidated,
    weights,
    with_change_columns,
)
from datasources.spark.operators.changelog.pages.page_directory import PageDirectory
from datasources.spark.operators.changelog.pages.state_pages import StatePages
from datasources.spark.operators.changelog.pages.stored_integers import widened

__all__ = [
    "BucketRun",
    "MemoryState",
    "bag",
    "bag_of",
    "canonical_row",
    "canonical_value",
    "change_table",
    "duckdb_bag",
    "hash_of",
]

Row = tuple[Any, ...]
Bag = Counter[Row]
FEW_HASHES = 3


def canonical_value(value: Any) -> Any:
    """One representation per equal value."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple(map(canonical_value, value.values()))
    return tuple(map(canonical_value, value)) if isinstance(value, list) else value


def canonical_row(row: Iterable[Any]) -> Row:
    return tuple(map(canonical_value, row))


def hash_of(key: Iterable[Any]) -> int:
    """Equal for equal keys; with few values, so that different keys share them."""
    return zlib.crc32(repr(canonical_row(key)).encode()) % FEW_HASHES


def bag(rows: Iterable[tuple[Row, int]]) -> Bag:
    """The rows of a table with these changes: how often each is in it; none has a debt."""
    sums: Bag = Counter()
    for row, weight in rows:
        sums[canonical_row(row)] += weight
    return +sums


def bag_of(table: pa.Table) -> Bag:
    """The sum of changes; a negative number stays."""
    sums: Bag = Counter()
    names = [name for name in table.column_names if name != WEIGHT_COLUMN]
    columns = [table.column(name).to_pylist() for name in names]
    for row, weight in zip(zip(*columns, strict=True), weights(table).tolist(), strict=True):
        sums[canonical_row(row)] += weight
    return Counter({row: number for row, number in sums.items() if number})


def table_of(schema: pa.Schema, rows: Sequence[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def change_table(
    schema: pa.Schema, changes: Sequence[tuple[Row, int]], keys: Sequence[str], hashing=hash_of
) -> pa.Table:
    """Changes as an operator gets them."""
    table = table_of(schema, [row for row, _ in changes])
    positions = [schema.get_field_index(key) for key in keys]
    hashes = [hashing([row[at] for at in positions]) for row, _ in changes]
    table = table.append_column(HASH_COLUMN, pa.array(hashes, type=pa.int64()))
    return consolidated(table.append_column(WEIGHT_COLUMN, pa.array([w for _, w in changes], type=pa.int64())))


def duckdb_bag(query: str, tables: Mapping[str, tuple[pa.Schema, Bag]]) -> Bag:
    """The answer of DuckDB to a query on tables."""
    connection = _connection()
    for name, (schema, rows) in tables.items():
        values = [tuple(math.nan if v == "NaN" else v for v in row) for row in rows.elements()]
        connection.register(name, table_of(schema, values))
    found = connection.sql(query).to_arrow_table()
    return bag_of(found.append_column(WEIGHT_COLUMN, pa.array([1] * found.num_rows, type=pa.int64())))


@functools.cache
def _connection() -> Any:
    return duckdb.connect(config={"threads": 1})


class MemoryPages:
    """The tables of one name of a state; all rows have one schema, and no number is used twice."""

    def __init__(self) -> None:
        self.pages: dict[int, pa.Table] = {}
        self._schema: pa.Schema | None = None
        self.used: set[int] = set()

    def read(self, number: int) -> pa.Table:
        return self.pages[number]

    def write(self, number: int, page: pa.Table) -> pa.Table:
        assert page.num_rows
        assert number not in self.used
        self.used.add(number)
        if page.column_names != [HASH_COLUMN]:
            schema = widened([page]).schema
            self._schema = self._schema or schema
            assert schema.equals(self._schema)
        self.pages[number] = page
        return page

    def drop(self, number: int) -> None:
        del self.pages[number]


class MemoryState:
    """The state of a bucket; what was read is forgotten at the end of a micro-batch."""

    def __init__(self) -> None:
        self.stores: dict[str, MemoryPages] = {}
        self.counts: Counter[str] = Counter()
        self._opened: dict[str, StatePages] = {}

    def pages(self, name: str) -> StatePages:
        if name not in self._opened:
            self._opened[name] = StatePages(self.stores.setdefault(name, MemoryPages()), PageDirectory())
        return self._opened[name]

    def add_count(self, name: str, number: int) -> None:
        self.counts[name] += number

    def close_batch(self) -> None:
        for name, pages in self._opened.items():
            self._opened[name] = StatePages(self.stores[name], PageDirectory.from_json(pages.directory.to_json()))

    def stored(self, name: str) -> pa.Table | None:
        """What is stored under a name; None if there is nothing."""
        return self.pages(name).read_all()

    def rows(self, name: str) -> int:
        stored = self.stored(name)
        return 0 if stored is None else stored.num_rows


class BucketRun:
    """An operator with its state; `result` is the sum of its results."""

    def __init__(
        self, operator: ChangeOperator, inputs: Sequence[tuple[pa.Schema, Sequence[str]]], hashing=hash_of
    ) -> None:
        self.operator, self.inputs, self.hashing = operator, inputs, hashing
        self.state = MemoryState()
        self.result: Bag = Counter()

    def advance(self, *changes: Sequence[tuple[Row, int]]) -> Bag:
        """Process a micro-batch; return its result's sum."""
        tables = [
            change_table(schema, each, keys, self.hashing)
            for (schema, keys), each in zip(self.inputs, changes, strict=True)
        ]
        table = self.operator.advance(self.state, tables)
        self.state.close_batch()
        expected = with_change_columns(self.operator.output)
        assert table.schema.equals(expected), (table.schema, expected)
        found = bag_of(table.drop_columns([HASH_COLUMN]))
        self.result.update(found)
        self.result = Counter({row: number for row, number in self.result.items() if number})
        return found
