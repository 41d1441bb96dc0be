"""Applies the changes of a batch to a table of Iceberg."""

from __future__ import annotations

import threading
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from datasources.errors import SourceUnavailable
from datasources.sinks.change_sink import BatchNumber, SinkTable, is_written
from datasources.sinks.lake.iceberg_options import iceberg_target
from datasources.sinks.lake.iceberg_table import JVM_ERRORS, IcebergTable, first_line, is_conflict, open_table
from datasources.sinks.lake.lake_columns import require_columns
from datasources.sinks.lake.merge import merge_statement

_ATTEMPTS: Final = 5
_PAUSE_S: Final = 0.5


class IcebergSink:
    """A table of Iceberg, in a catalog of its own."""

    def __init__(self, spark: SparkSession, table: SinkTable) -> None:
        self._spark = spark
        self._table = table
        self._target = iceberg_target(table)
        self._found: IcebergTable | None = None

    def check(self) -> None:
        """Create the table if it is not there, and compare it."""
        fields = [StructField(each.name, each.dataType) for each in self._table.schema]
        found = open_table(self._spark, self._target, StructType(fields))
        found.require_spark()
        found.require_isolation()
        require_columns(found.schema, self._table, "Iceberg")
        self._found = found

    def apply(self, actions: DataFrame, batch: BatchNumber | None) -> None:
        """Apply a batch in one commit, unless the table has it.

        Raises:
            DataLossError: the table has later batches of the query.
            SourceUnavailable: other writers changed the same files during each attempt.
        """
        assert self._found is not None
        actions = actions.persist()
        try:
            if actions.count():
                with merge_statement(actions, "target", self._table.key) as text:
                    self._commit(self._found, actions.sparkSession, text, batch)
        finally:
            actions.unpersist()

    def _commit(self, found: IcebergTable, session: SparkSession, text: str, batch: BatchNumber | None) -> None:
        """Run a MERGE; begin again with the table's new state if others committed meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            if self._has(found, batch):
                return
            try:
                found.merge(session, text, batch)
            except JVM_ERRORS as error:
                if not is_conflict(error):
                    raise
                if attempt == _ATTEMPTS:
                    raise SourceUnavailable(
                        f"other writers changed the Iceberg table {self._target} during each of {_ATTEMPTS} attempts "
                        f"to commit a batch: {first_line(error)}. The query can be restarted."
                    ) from error
            else:
                return
            threading.Event().wait(_PAUSE_S * attempt)

    def _has(self, found: IcebergTable, batch: BatchNumber | None) -> bool:
        """Return whether the table has a batch; its newest state is the one that a MERGE changes then."""
        last = found.last_batch("" if batch is None else batch.query)
        return (
            batch is not None
            and last is not None
            and is_written(batch.number, last, f"the Iceberg table {self._target}")
        )
