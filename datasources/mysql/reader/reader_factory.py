"""The factory of a batch's readers, which is sent to the executors."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from datasources.mysql.reader.mysql_reader import MySqlReader
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.source.api.connector_state import State


@dataclass(frozen=True, slots=True)
class MySqlReaderFactory:
    """Opens readers (SplitReaderFactory); picklable, holds no connection."""

    settings: MySqlScanSettings

    @property
    def schema(self) -> pa.Schema:
        """The data columns, then the metadata columns."""
        return self.settings.schema

    def for_batch(self, state: State) -> MySqlReaderFactory:
        """Return a copy that reads one batch, at the server whose positions it holds (SupportsBatchState)."""
        return MySqlReaderFactory(self.settings.for_batch(state))

    def open(self, *, only: frozenset[str] | None = None) -> MySqlReader:
        """Return a reader; with `only`, chunks of tables have no rows: they do not contribute to watermarks."""
        return MySqlReader(self.settings, only)
