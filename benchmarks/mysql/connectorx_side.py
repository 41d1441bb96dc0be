"""connectorx beside Tidemark in `make bench-mysql`: a table into one Arrow table in memory, without Spark.

It is what two connections can read in Python at best: no sink, no positions, no changes afterwards. It returns DECIMAL
as DOUBLE, so only the number of rows is compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from benchmarks.mysql.sides import PARALLELISM, Ran
from benchmarks.mysql.tables import COLUMNS, DATABASE
from datasources.embedded import MySqlAddress

__all__ = ["CONNECTORX_SETTINGS", "connectorx_reader"]

CONNECTORX_SETTINGS: Final = {"partition_num": PARALLELISM, "protocol": "binary", "return_type": "arrow"}


def connectorx_reader(login: MySqlAddress, table: str, rows: int) -> Callable[[], Ran] | None:
    """Return what reads a table once; None if connectorx is not installed (`pip install '.[peers]'`)."""
    try:
        import connectorx
    except ImportError:
        return None
    reader: Any = connectorx
    url = f"mysql://{quote(login.user)}:{quote(login.password)}@{login.host}:{login.port}/{DATABASE}"
    query = f"SELECT {', '.join(f'`{name}`' for name in COLUMNS)} FROM `{table}`"

    def read() -> Ran:
        begin = time.perf_counter()
        found = reader.read_sql(url, query, partition_on="id", partition_range=(0, rows), **CONNECTORX_SETTINGS)
        return Ran(rows=found.num_rows, seconds=time.perf_counter() - begin)

    return read
