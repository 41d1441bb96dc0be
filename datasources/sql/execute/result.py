"""The result of a statement that is not a query."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
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
        if self._is_text:
            return "\n".join(str(row[0]) for row in self.rows)
        cells = [self.columns, *(tuple("" if v is None else str(v) for v in row) for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what notebooks show: a table, or the text of a result that is one."""
        if not self.columns or self._is_text:
            return f"<pre>{escape(str(self))}</pre>"
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        cells = (("" if value is None else str(value) for value in row) for row in self.rows)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in cells)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def _is_text(self) -> bool:
        return len(self.columns) == 1 and self.kind.startswith(("EXPLAIN", "SHOW CREATE"))
