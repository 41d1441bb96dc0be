"""Creates the tables and fills them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from benchmarks.tpcc.population import population
from benchmarks.tpcc.schema import TABLES, Scale

__all__ = ["load"]

_ROWS_PER_INSERT: Final = 1_000


def load(connection: Any, database: str, scale: Scale, seed: int = 1) -> None:
    """Create a database with the tables and their first rows.

    Args:
        connection: of PyMySQL, with a login that may create databases.
        database: name of the new one.
        scale: how many rows there are.
        seed: determines them.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {database}")
        cursor.execute(f"USE {database}")
        for table in TABLES.values():
            cursor.execute(table.ddl)
        for name, rows in population(scale, seed):
            _insert(connection, cursor, name, rows)


def _insert(connection: Any, cursor: Any, name: str, rows: Iterator[tuple[Any, ...]]) -> None:
    marks = ", ".join(["%s"] * len(TABLES[name].columns))
    while block := list(islice(rows, _ROWS_PER_INSERT)):
        cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", block)
        connection.commit()
