"""The result of a statement that is not a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementResult:
    """The outcome of a statement.

    ``kind`` is the statement: `CREATE TABLE`, `SHOW TABLES`, `INSERT`, ...; a statement without rows has no columns;
    ``query`` is what an INSERT started; hints are remarks that are no errors.
    """

    kind: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    query: StreamingQuery | None = None
    hints: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text of a result with one column (EXPLAIN, SHOW CREATE), else a table of the rows."""
        if not self.columns:
            return f"{self.kind}: ok"
        if len(self.columns) == 1 and self.kind.startswith(("EXPLAIN", "SHOW CREATE")):
            return "\n".join(str(row[0]) for row in self.rows)
        cells = [self.columns, *(tuple("" if v is None else str(v) for v in row) for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        return "\n".join(lines)
