"""What a query's result must be: DuckDB's, from the Parquet files of the events."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any, Final

import duckdb

from benchmarks.nexmark.query_list import NexmarkQuery

__all__ = ["CANDIDATES", "EXPECTED", "ExpectedResults"]

EXPECTED: Final = "expected"
"""The table of the rows."""
CANDIDATES: Final = "candidates"
"""The table of the rows that may be there, of a query with tied rows."""
_TEXTS: Final = Path(__file__).parent / "sql"
_RANKING: Final = re.compile(r"\bROW_NUMBER\(\)")
_TABLES: Final = ("person", "auction", "bid")


class ExpectedResults:
    """Results of queries, as tables of a DuckDB.

    Args:
        directory: of the Parquet files.
    """

    def __init__(self, directory: Path) -> None:
        self.database = duckdb.connect()
        self.database.execute("SET TimeZone = 'UTC'; SET preserve_insertion_order = false")
        for table in _TABLES:
            self.database.execute(f"CREATE VIEW {table} AS FROM read_parquet('{directory}/{table}-*.parquet')")

    def compute(self, query: NexmarkQuery, until: dt.datetime | None) -> None:
        """Fill the tables `EXPECTED` and, if rows are tied, `CANDIDATES`.

        Args:
            query: which.
            until: windows that end later are left out; None = no window is.
        """
        moment = "infinity" if until is None else until.strftime("%Y-%m-%d %H:%M:%S.%f")
        self.database.execute(f"SET VARIABLE until = TIMESTAMP '{moment}'")
        text = (_TEXTS / f"{query.name}.sql").read_text(encoding="utf-8")
        columns = ", ".join(f'"{name}"' for name in query.columns()[: self._width(text)])
        self._fill(EXPECTED, text, columns)
        if query.free:
            self._fill(CANDIDATES, _RANKING.sub("RANK()", text), columns)

    def _width(self, text: str) -> int:
        return len(self.rows(f"DESCRIBE {text}"))

    def _fill(self, table: str, text: str, columns: str) -> None:
        self.database.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM ({text}\n) AS t({columns})")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        found: list[tuple[Any, ...]] = self.database.execute(statement).fetchall()
        return found
