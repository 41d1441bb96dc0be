"""Generated tables that change, queries over them on Spark, and DuckDB's answer after every batch."""

from __future__ import annotations

import math
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["TABLES", "ChangingTable", "QueryRun", "generated", "require_equal"]

Row = tuple[Any, ...]
Event = tuple[str, Row]


@dataclass(frozen=True, slots=True)
class TableKind:
    """The columns of a table, the first one its primary key, and its values."""

    ddl: str
    schema: pa.Schema
    values: tuple[Sequence[Any], ...]

    @property
    def names(self) -> list[str]:
        return self.schema.names

    def row(self, key: int, rng: random.Random) -> Row:
        return (key, *(None if rng.random() < 0.1 else rng.choice(pool) for pool in self.values))


TABLES: Final = {
    "t": TableKind(
        "id INT, k STRING, v INT, d DOUBLE, p DECIMAL(10,2), seen TIMESTAMP_NTZ",
        pa.schema(
            [
                ("id", pa.int32()),
                ("k", pa.string()),
                ("v", pa.int32()),
                ("d", pa.float64()),
                ("p", pa.decimal128(10, 2)),
                ("seen", pa.timestamp("us")),
            ]
        ),
        (
            "abcd",
            range(-5, 6),
            (0.0, -0.0, 1.5, math.nan, -2.25, 1e300, -1e300, 0.1),
            [Decimal(n) / 100 for n in range(-500, 500, 37)],
            [datetime(2026, 1, 1) + timedelta(seconds=7 * n) for n in range(30)],
        ),
    ),
    "u": TableKind(
        "uid INT, k STRING, w INT, name STRING",
        pa.schema([("uid", pa.int32()), ("k", pa.string()), ("w", pa.int32()), ("name", pa.string())]),
        ("abcde", range(-5, 6), ("x", "y", "zz", "")),
    ),
}


@dataclass(slots=True)
class ChangingTable:
    """A table's events batch by batch, and its rows after each."""

    kind: TableKind
    batches: list[list[Event]] = field(default_factory=list)
    rows: list[list[Row]] = field(default_factory=list)

    def write(self, directory: Path) -> None:
        """Write a file of events per batch, in the order in which Spark reads them."""
        directory.mkdir(parents=True)
        schema = pa.schema([("row_kind", pa.string()), *self.kind.schema])
        for number, events in enumerate(self.batches):
            rows = [(kind, *row) for kind, row in events]
            columns = [pa.array([row[at] for row in rows], type=each.type) for at, each in enumerate(schema)]
            path = directory / f"{number:04}.parquet"
            pq.write_table(pa.Table.from_arrays(columns, schema=schema), path)
            os.utime(path, (1e9 + number, 1e9 + number))

    def table(self, number: int) -> pa.Table:
        """Return the table after a batch."""
        rows, schema = self.rows[number], self.kind.schema
        columns = [pa.array([row[at] for row in rows], type=each.type) for at, each in enumerate(schema)]
        return pa.Table.from_arrays(columns, schema=schema)


def generated(kind: TableKind, seed: int, batches: int, *, inserts_only: bool = False) -> ChangingTable:
    """Return a table with random changes: keys come back, rows change twice in a batch, batches are empty.

    It has rows after the first batch.
    """
    rng, rows, table = random.Random(seed), dict[int, Row](), ChangingTable(kind)
    for number in range(batches):
        events: list[Event] = []
        for _ in range(rng.randrange(14)):
            events += _change(kind, rows, rng, may_change=not inserts_only)
        while number == 0 and not rows:
            events += _change(kind, rows, rng, may_change=False)
        table.batches.append(events)
        table.rows.append(list(rows.values()))
    return table


def _change(kind: TableKind, rows: dict[int, Row], rng: random.Random, *, may_change: bool) -> Iterator[Event]:
    action = rng.random() if may_change and rows else 0.0
    if action < 0.5:
        key = rng.randrange(30 if may_change else 1_000)
        if key not in rows:
            rows[key] = kind.row(key, rng)
            yield "+I", rows[key]
        return
    key = rng.choice(list(rows))
    yield ("-U" if action < 0.8 else "-D"), rows.pop(key)
    if action < 0.8:
        rows[key] = kind.row(key, rng)
        yield "+U", rows[key]


@dataclass(slots=True)
class QueryRun:
    """Runs queries over tables, one batch of each table per micro-batch.

    `query` makes the changelog of a statement from the streams of the tables, by name.
    """

    spark: Any
    directory: Path
    tables: dict[str, ChangingTable]
    query: Callable[..., Any]

    def streams(self) -> dict[str, Any]:
        """Return the tables as streams of events."""
        from pyspark.sql.types import StructType

        found = {}
        for name, table in self.tables.items():
            path = self.directory / name
            if not path.exists():
                table.write(path)
            schema = StructType.fromDDL(f"row_kind STRING, {table.kind.ddl}")
            found[name] = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(path))
        return found

    def extend(self) -> None:
        """Write the last batch of each table once more, for the next run of a query."""
        for name, table in self.tables.items():
            path = self.directory / name / f"{len(table.batches):04}.parquet"
            shutil.copy(self.directory / name / f"{len(table.batches) - 1:04}.parquet", path)
            os.utime(path, (2e9, 2e9))

    def changes(self, statement: Any) -> list[list[Row]]:
        """Return the rows of the result, micro-batch by micro-batch."""
        result, batches = self.query(statement, **self.streams()), dict[int, list[Row]]()

        def collect(batch: Any, number: int) -> None:
            batches[number] = [tuple(row) for row in batch.collect()]

        stream = result.writeStream.foreachBatch(collect).trigger(availableNow=True)
        stream.option("checkpointLocation", str(self.directory / "checkpoint")).start().awaitTermination()
        count = max(len(table.batches) for table in self.tables.values())
        return [batches.get(number, []) for number in range(count)]

    def truths(self, statement: str) -> list[Counter[Row]]:
        """Return DuckDB's answer on the tables after each micro-batch."""
        answers = []
        for tables in self._tables():
            with duckdb.connect() as connection:
                connection.execute("SET TimeZone = 'UTC'")
                for name, table in tables.items():
                    connection.register(name, table)
                answers.append(Counter(map(_comparable, connection.execute(statement).fetchall())))
        return answers

    def spark_truths(self, statement: str) -> list[Counter[Row]]:
        """Return the answer of Spark's batch engine on the tables after each micro-batch."""
        answers = []
        for tables in self._tables():
            frames = {
                name: self.spark.createDataFrame(table.to_pylist(), self.tables[name].kind.ddl)
                for name, table in tables.items()
            }
            named = re.sub(r"\b(FROM|JOIN) (\w+)", r"\1 {\2} AS \2", statement)
            answers.append(Counter(map(_comparable, self.spark.sql(named, **frames).collect())))
        return answers

    def _tables(self) -> Iterator[dict[str, pa.Table]]:
        for number in range(max(len(table.batches) for table in self.tables.values())):
            yield {name: table.table(number) for name, table in self.tables.items()}


def require_equal(batches: Sequence[Sequence[Row]], truths: Sequence[Counter[Row]], *, has_kinds: bool = True) -> None:
    """Raise an AssertionError unless the changes of each batch lead to the truth after it, one by one.

    Only rows that are there are removed, and each row before an update has one after it.
    """
    table = Counter[Row]()
    for number, (changes, truth) in enumerate(zip(batches, truths, strict=True)):
        kinds = Counter[str]()
        for change in changes:
            kind, row = (change[0], _comparable(change[1:])) if has_kinds else ("+I", _comparable(change))
            kinds[kind] += 1
            table[row] += 1 if kind.startswith("+") else -1
            assert table[row] >= 0, f"batch {number}: {row} is removed, and is not there"
        table = +table
        assert table == truth, f"batch {number}: missing {dict(truth - table)}, surplus {dict(table - truth)}"
        assert kinds["-U"] == kinds["+U"], f"batch {number}: {dict(kinds)}"


def _comparable(row: Sequence[Any]) -> Row:
    return tuple(map(_value, row))


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, bytearray):
        return bytes(value)
    return tuple(map(_value, value)) if isinstance(value, (list, tuple)) else value
