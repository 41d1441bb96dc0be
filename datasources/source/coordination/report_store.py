"""Where the planner takes the tasks' reports from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from datasources.source.api.split import SplitId
from datasources.source.coordination.reports import SplitReport


class ReportStore(Protocol):
    """Holds the reports of one source run. Real: the coordinator over its channel. In tests: a dictionary."""

    def take(self, sequence: int) -> Mapping[SplitId, SplitReport]:
        """Return the reports of a batch; older ones may be forgotten. Missing ones are simply absent.

        Raises:
            NonDeterminismError: two tasks reported different results for one range.
        """
        ...

    def has_state(self) -> bool | None:
        """Return whether the query behind the source keeps rows in state; None = not known."""
        ...
