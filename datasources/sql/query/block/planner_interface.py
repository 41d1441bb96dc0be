"""The planner, as the query layer sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from datasources.sql.query.block.relation import OverRequest, QueryStep, Relation, TableRead, TableRows, TableUse
from datasources.sql.query.block.temporal_request import TableTraits, TemporalRequest
from datasources.sql.statements.catalog_objects import ViewDefinition


class Relations(Protocol):
    """What the query layer asks while it rewrites; the planner answers by making views."""

    def begin(self, reads: Sequence[TableRead], *, mentions_watermark: bool) -> None:
        """Look at all tables of a statement before the first is asked for.

        ``mentions_watermark``: CURRENT_WATERMARK is called.

        Raises:
            SqlError: the statement reads a table that changes in a way that has no meaning.
        """
        ...

    def table(self, use: TableUse) -> Relation | None:
        """Return the relation of a table of ours, or None: the name is Spark's."""
        ...

    def view(self, name: str) -> ViewDefinition | None:
        """Return a view of ours, or None."""
        ...

    def run(self, step: QueryStep) -> Relation:
        """Make the view of a step and return its relation, analysed by Spark.

        Raises:
            SqlError: Spark refuses the text; its message is kept.
        """
        ...

    def session_windows(self, source: TableRows, keys: tuple[str, ...], attribute: str, gap_ms: int) -> Relation:
        """Return rows of a table with their session windows: window_start, window_end, window_time added."""
        ...

    def over(self, source: TableUse, request: OverRequest) -> Relation:
        """Return a table's rows with the aggregates over their windows added."""
        ...

    def traits(self, use: TableUse) -> TableTraits:
        """Return a table of ours as a side of a join as of a time."""
        ...

    def temporal_join(self, request: TemporalRequest) -> Relation:
        """Return a table's rows with versions of other tables' rows: the names are the probe's and those asked for.

        Raises:
            QueryError: the tables cannot be joined like that.
        """
        ...

    def known_names(self) -> list[str]:
        """Return the names of our tables and views."""
        ...

    def known_columns(self) -> list[tuple[str, ...]]:
        """Return the columns of each table that was asked for, those that the statement does not name as well."""
        ...

    @property
    def is_streaming(self) -> bool:
        """Whether `execution.runtime-mode` is streaming."""
        ...

    @property
    def is_exact(self) -> bool:
        """Whether `table.exec.late-rows` is exact."""
        ...

    @property
    def time_zone(self) -> str:
        """The session's time zone."""
        ...
