"""The information available to rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from datasources.sql.planner.tree import TableScan


class TrialScan(Protocol):
    """Builds the scan that a node describes, without running it."""

    def __call__(self, scan: TableScan) -> None:
        """Do it.

        Raises:
            ExpressionError: an expression cannot be evaluated in the reader with Spark's own result.
            OptionError, SchemaError: an option is wrong.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningContext:
    """Information about one statement.

    Attributes:
        try_scan: checks whether the connector supports a scan.
        needed: lower-case names that the statement mentions; None = every column.
        filter: a condition that all rows of the answer satisfy; None = none is known.
    """

    try_scan: TrialScan
    needed: frozenset[str] | None = None
    filter: str | None = None

    def needs(self, name: str) -> bool:
        """Whether the statement may name a column."""
        return self.needed is None or name.lower() in self.needed
