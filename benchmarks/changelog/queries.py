"""The queries of `make bench-changelog`, and how many rows they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["QUERIES", "WARM_UP_RUNS", "ChangeBench"]

WARM_UP_RUNS: Final = 2
"""How often a query runs over all rows before it is measured: the JVM's compilers take that long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBench:
    """A query over the tables `l` and, if it has one, `r`: id, k, amount.

    Attributes:
        sql: as Spark and Flink both take it.
        keys: keys are drawn from [0, keys); of a join each row has its own.
        rows: of each table.
        tables: their names.
    """

    sql: str
    keys: int
    rows: int
    tables: tuple[str, ...] = ("l",)

    @property
    def total(self) -> int:
        """The rows of all tables."""
        return self.rows * len(self.tables)

    @property
    def has_unique_keys(self) -> bool:
        """Whether each row of a table has a key of its own."""
        return len(self.tables) > 1


QUERIES: Final = {
    "plain": ChangeBench(sql="SELECT id, k, amount FROM l", keys=1_000_000, rows=4_000_000),
    "aggregate": ChangeBench(
        sql="SELECT k, COUNT(*) AS n, SUM(amount) AS total, MAX(amount) AS largest FROM l GROUP BY k",
        keys=1_000_000,
        rows=4_000_000,
    ),
    "top_3": ChangeBench(
        sql="SELECT k, id, amount FROM (SELECT id, k, amount, ROW_NUMBER() OVER "
        "(PARTITION BY k ORDER BY amount DESC, id) AS n FROM l) AS ranked WHERE n <= 3",
        keys=100_000,
        rows=4_000_000,
    ),
    "join": ChangeBench(
        sql="SELECT l.k, l.amount, r.amount AS other FROM l LEFT JOIN r ON l.k = r.k",
        keys=1_000_000,
        rows=1_000_000,
        tables=("l", "r"),
    ),
}
