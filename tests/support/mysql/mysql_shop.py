"""A small database, and queries over it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from datasources import read_stream
from datasources.mysql.state.mysql_state import MySqlState
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.spark.scripted_stream import Running, running

__all__ = ["Rows", "Shop", "states"]


@dataclass
class Rows:
    """What a query delivered.

    Attributes:
        batches: rows by batch, as dictionaries.
    """

    batches: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def __call__(self, df: Any, number: int) -> None:
        rows = df.collect()
        if rows:
            self.batches[number] = [row.asDict() for row in rows]

    @property
    def all(self) -> list[dict[str, Any]]:
        """All rows."""
        return [row for _, rows in sorted(self.batches.items()) for row in rows]

    def kinds(self, table: str) -> Counter[str]:
        """How many rows of each kind a table has."""
        return Counter(row["row_kind"] for row in self.all if row["table_name"] == table)

    def contents(self, table: str) -> dict[int, int]:
        """Return id and n of a table's rows, the changes applied in the order of `_seq`."""
        state: dict[int, int] = {}
        own = [row for row in self.all if row["table_name"] == table]
        for row in sorted(own, key=lambda row: tuple(row["_seq"])):
            if row["row_kind"] == "T":
                state = {}
            elif row["row_kind"] in ("+I", "+U"):
                state[row["id"]] = row["n"]
            else:
                assert state.pop(row["id"]) == row["n"], row
        return state


@dataclass(frozen=True)
class Shop:
    """A database.

    Attributes:
        server: where it is.
        database: its name.
    """

    server: MySqlServer
    database: str

    @classmethod
    def open(cls, server: MySqlServer, **tables: int) -> Self:
        """Create tables with columns id and n, and so many rows (0, 0), (1, 1), ..."""
        shop = cls(server, server.create_database("shop"))
        for table, rows in tables.items():
            shop.create(table, rows)
        return shop

    def create(self, table: str, rows: int = 0) -> None:
        """Create a table."""
        self.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT NOT NULL)")
        for number in range(0, rows, 100):
            self.execute(
                f"INSERT INTO {table} VALUES {', '.join(f'({n}, {n})' for n in range(number, min(rows, number + 100)))}"
            )

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements there."""
        return self.server.execute(f"USE {self.database}", *statements)

    def contents(self, table: str) -> dict[int, int]:
        """Return id and n of a table's rows."""
        return dict(self.execute(f"SELECT id, n FROM {table}"))

    def options(self, **more: Any) -> dict[str, str]:
        """Return options of a source; underlines in their names are dots."""
        login = self.server.reader
        own = {
            "hostname": login.host,
            "port": login.port,
            "username": login.user,
            "password": login.password,
            "database-name": self.database,
            "table-name": ".*",
            "scan.incremental.snapshot.chunk.size": 20,
        }
        return {
            key: str(value) for key, value in {**own, **{key.replace("__", "."): v for key, v in more.items()}}.items()
        }

    @contextmanager
    def following(
        self,
        spark: Any,
        checkpoint: Path,
        into: Callable[[Any, int], None],
        trigger: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Iterator[Running]:
        """Run a query while in the block."""
        df = read_stream(spark, "tidemark-mysql", self.options(**options))
        with running(df, checkpoint=checkpoint, for_each=into, trigger=trigger) as query:
            yield query

    def drain(self, spark: Any, checkpoint: Path, into: Callable[[Any, int], None], **options: Any) -> None:
        """Run a query with AvailableNow."""
        with self.following(spark, checkpoint, into, {"availableNow": True}, **options) as query:
            assert query.query.awaitTermination(120)


def states(checkpoint: Path) -> list[MySqlState]:
    """Return the states of all batches."""
    logs = sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda log: int(log.name))
    return [MySqlState.from_json(json.loads(log.read_text().splitlines()[2])["state"]) for log in logs]
