"""The tables of TPC-C in a server, beside their copies in Delta Lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb
import pyarrow as pa

from benchmarks.tpcc.checksum import checksum_of, checksum_sql
from benchmarks.tpcc.consistency import broken_conditions
from benchmarks.tpcc.schema import TABLES
from tests.support.mysql.mysql_sync import SyncedDatabase

__all__ = ["TpccCopy", "duckdb_tables"]

_SHOWN: Final = 5
_Texts = Sequence[str | None]


def duckdb_tables(rows: Mapping[str, Iterable[_Texts]]) -> Any:
    """Return a database with the tables, from values as texts; columns have the types of MySQL."""
    database = duckdb.connect()
    for table in TABLES.values():
        columns = zip(*rows[table.name], strict=True) if rows[table.name] else [()] * len(table.columns)
        texts = pa.table([pa.array(column, pa.string()) for column in columns], names=table.names)
        database.register("texts", texts)
        listed = ", ".join(f"CAST({name} AS {kind.split(' NOT NULL')[0]}) AS {name}" for name, kind in table.columns)
        database.execute(f"CREATE TABLE {table.name} AS SELECT {listed} FROM texts")
    return database


@dataclass(frozen=True, slots=True, kw_only=True)
class TpccCopy:
    """A database of TPC-C and its copy."""

    database: SyncedDatabase

    def commits(self) -> int:
        """Return how many versions the copies have, together."""
        return sum(map(self.database.commits, TABLES))

    def wait_for_commits(self, count: int) -> None:
        """Wait until copies have so many versions more."""
        goal = self.commits() + count
        self.database.wait_until(f"{count} more commits", lambda: self.commits() >= goal)

    def require_equal(self) -> int:
        """Fail unless each copy has the rows of its table, and all together are consistent; return their number.

        The server computes its checksums from a SELECT. The copies are read by another process, and their checksums
        and the conditions of consistency are computed here.
        """
        copies = self.database.copies(list(TABLES))
        count = 0
        for name, copy in copies.items():
            assert list(copy.columns) == TABLES[name].names
            [expected] = self.database.execute(checksum_sql(TABLES[name], name))
            assert checksum_of(copy.rows) == expected, self._difference(name, copy.rows)
            count += expected[0]
        tables = duckdb_tables({name: copy.rows for name, copy in copies.items()})
        broken = broken_conditions(lambda select: tables.sql(select).fetchall())
        assert not broken, broken
        return count

    def _difference(self, name: str, rows: Sequence[_Texts]) -> str:
        listed = ", ".join(f"CAST({column} AS CHAR)" for column in TABLES[name].names)
        expected, found = Counter(self.database.execute(f"SELECT {listed} FROM {name}")), Counter(rows)
        return f"{name}: missing {_some(expected - found)}, too many {_some(found - expected)}"


def _some(rows: Counter[Any]) -> str:
    return f"{rows.total()} rows: {list(rows.elements())[:_SHOWN]}"
