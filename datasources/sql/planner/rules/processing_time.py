"""Windows of processing time over a table that declares a watermark: the clock closes them, not the watermark."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from datasources.sql.query.block.relation import TableUse
from datasources.sql.resolve.resolve_expressions import PROCTIME
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedTable

_CLOCK: Final = ResolvedColumn(
    name="__tidemark_proctime", spark_type="TIMESTAMP", is_nullable=False, expression=PROCTIME, proctime=True
)


def with_processing_time(table: ResolvedTable, use: TableUse) -> tuple[ResolvedTable, TableUse]:
    """Return the table without its watermarks and with a time of its own, if a window is made of PROCTIME().

    The columns that the statement sees stay the same.
    """
    own = {column.name.lower() for column in table.columns if column.proctime}
    if not table.watermarks or not use.window_columns & (use.proctimes | own):
        return table, use
    named = use.columns or frozenset(column.name.lower() for column in table.columns)
    return replace(table, columns=(*table.columns, _CLOCK), watermarks=()), replace(use, columns=named)
