"""Which tables a source reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

SYSTEM_DATABASES: Final = ("information_schema", "mysql", "performance_schema", "sys")


@dataclass(frozen=True, slots=True)
class CapturedTables:
    """The options database-name and table-name: regular expressions that must match whole names."""

    databases: str
    tables: str

    def __call__(self, database: str, table: str) -> bool:
        """Return whether a table is captured; those of the server itself never are."""
        return self.names(database) and _matches(self.tables, table)

    def names(self, database: str) -> bool:
        """Return whether tables of a database may be captured."""
        return database.lower() not in SYSTEM_DATABASES and _matches(self.databases, database)

    def __str__(self) -> str:
        return f"{self.databases}.{self.tables}"


@lru_cache(maxsize=10_000)
def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name) is not None
