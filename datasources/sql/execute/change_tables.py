"""The tables of a statement that is a query over tables that change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from datasources.changelog.change_query import ChangeQuery, change_query, empty_tables
from datasources.errors import SqlError
from datasources.sql.planner.change_tables import TableTtl, changes_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from datasources.changelog.translator import TableChanges
    from datasources.sql.planner.table_planner import PlannedTable, TablePlanner
    from datasources.sql.query.block.relation import TableRead, TableUse
    from datasources.sql.statements.catalog_objects import TableDefinition


class ChangeTables:
    """The tables as streams of changes, and as the empty tables over which Spark analyses the statement.

    Args:
        planner: plans the tables.
        statement: what the result depends on besides the tables: a checkpoint belongs to it.
        ttl_ms: for how long states with the rows of a table are kept, by its use, None for ever; None: no state has a
            TTL.
    """

    def __init__(
        self, planner: TablePlanner, statement: str, ttl_ms: Callable[[TableUse], int | None] | None = None
    ) -> None:
        self._planner = planner
        self._statement = statement
        self._ttl_ms = ttl_ms
        self._tables: dict[int, TableChanges] = {}

    def add(self, table: TableDefinition, use: TableUse) -> tuple[PlannedTable, DataFrame]:
        """Return the table for EXPLAIN, and the empty table that stands for it."""
        ttl = None if self._ttl_ms is None else TableTtl(ttl_ms=self._ttl_ms(use))
        found = changes_of(self._planner, table, use, self._statement, ttl)
        empty, by_id = empty_tables({table.name: found.table})
        self._tables |= by_id
        return found.planned, empty[table.name]

    def query(self, frame: DataFrame) -> ChangeQuery:
        """Return the query over the empty tables as a stream of changes.

        Raises:
            QueryError: naming what cannot be kept up to date.
        """
        return change_query(frame, self._tables)


def require_one_meaning(reads: Sequence[TableRead]) -> None:
    """Refuse a table of which one statement reads the rows and also the changes.

    Raises:
        SqlError: naming it.
    """
    both = next((each.use.name for each in reads if each.use.is_changelog and each.is_read_otherwise), None)
    if both is not None:
        raise SqlError(
            f"the statement reads the changes of '{both}' by TO_CHANGELOG, and also its rows: a table is read once per "
            f"statement. Create another table with the same options for one of them."
        )


def require_plain_reads(changing: str, reads: Sequence[TableRead], *, mentions_watermark: bool) -> None:
    """Refuse what has no meaning in a query over a table that changes.

    Raises:
        SqlError: saying what to write instead.
    """
    instead = (
        f"Read the changes of '{changing}' as rows instead: TO_CHANGELOG(input => TABLE {changing}), or a column "
        f"METADATA FROM 'row_kind'."
    )
    versioned = next((each.use.name for each in reads if each.reads_versions), None)
    if versioned is not None:
        raise SqlError(
            f"'{changing}' is a table that changes, and the statement joins '{versioned}' as of a time: the rows of "
            f"'{changing}' would have to be joined anew whenever they change. Join the current rows of '{versioned}' "
            f"with an ordinary JOIN. {instead}"
        )
    if mentions_watermark:
        raise SqlError(
            f"'{changing}' is a table that changes, and CURRENT_WATERMARK is of rows that are only added. {instead}"
        )
