"""DuckDB over Arrow tables in memory: one connection per process."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import duckdb
import pyarrow as pa

DuckDBError = duckdb.Error

# No extensions, no downloads, no spilling; a Spark task has one core.
_SETTINGS: Final = {
    "threads": "1",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
}


@cache
def _connection() -> Any:
    connection = duckdb.connect(":memory:", config=dict(_SETTINGS))
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def query(text: str, **tables: pa.Table) -> pa.Table:
    """Return the result of a query over the given tables, by argument name. Not thread-safe.

    Raises:
        DuckError: the text is wrong, or a value cannot be computed.
    """
    connection = _connection()
    for name, table in tables.items():
        connection.register(name, table)
    try:
        return connection.sql(text).to_arrow_table()
    finally:
        for name in tables:
            connection.unregister(name)
