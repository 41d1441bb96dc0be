"""The function for foreachBatch that applies the changes of each batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from datasources.changelog.net_actions import net_actions
from datasources.errors import InternalError
from datasources.sinks.change_sink import BatchNumber, ChangeSink, SinkTable

_QUERY_PROPERTY: Final = "sql.streaming.queryId"
"""Where Spark keeps the id of the query that runs in a thread; it is the id in the checkpoint."""


def batch_number(changes: DataFrame, number: int) -> BatchNumber:
    """Return the query and the number of a batch, as foreachBatch gets them."""
    query = changes.sparkSession.sparkContext.getLocalProperty(_QUERY_PROPERTY)
    if not query:
        raise InternalError(f"Spark does not report the query of batch {number}.")
    return BatchNumber(query=query, number=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWriter:
    """Writes batches into a table.

    Attributes:
        sink: applies them.
        table: the table.
    """

    sink: ChangeSink
    table: SinkTable

    def __call__(self, changes: DataFrame, number: int) -> None:
        """Write a batch of a stream: changes as `net_actions` takes them, or rows."""
        self._apply(changes, batch_number(changes, number))

    def write_rows(self, rows: DataFrame) -> None:
        """Write the rows of a query that is no stream."""
        self._apply(rows, None)

    def _apply(self, changes: DataFrame, batch: BatchNumber | None) -> None:
        actions = net_actions(changes, self.table.key, self.table.name) if self.table.key else changes
        self.sink.apply(actions, batch)
