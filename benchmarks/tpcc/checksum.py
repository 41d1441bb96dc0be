"""Number and checksum of a table's rows: computed by the server, by Spark, or here from values as texts.

The checksum is the sum of a number for each row, the first 60 bits of the SHA-256 of its values as texts. So the order
of rows does not count, and a row that is there twice does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from benchmarks.tpcc.schema import Table

__all__ = ["checksum_of", "checksum_sql"]

_SEPARATOR: Final = "|"
_NULL: Final = "<null>"
_HEX_DIGITS: Final = 15


def checksum_sql(table: Table, source: str, *, text: str = "CHAR") -> str:
    """Return a SELECT of a table's number of rows and checksum.

    Args:
        table: the table.
        source: what is selected from.
        text: the type of texts: `CHAR` in MySQL, `STRING` in Spark.
    """
    values = ", ".join(f"COALESCE(CAST({name} AS {text}), '{_NULL}')" for name in table.names)
    digest = f"CONV(LEFT(SHA2(CONCAT_WS('{_SEPARATOR}', {values}), 256), {_HEX_DIGITS}), 16, 10)"
    return f"SELECT COUNT(*), COALESCE(SUM(CAST({digest} AS DECIMAL(38,0))), 0) FROM {source}"


def checksum_of(rows: Iterable[Sequence[str | None]]) -> tuple[int, int]:
    """Return the same of rows whose values are texts, in the order of the table's columns."""
    count = total = 0
    for row in rows:
        text = _SEPARATOR.join(_NULL if value is None else value for value in row)
        digest = hashlib.sha256(text.encode()).hexdigest()
        count, total = count + 1, total + int(digest[:_HEX_DIGITS], 16)
    return count, total
