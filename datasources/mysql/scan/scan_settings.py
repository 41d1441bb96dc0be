"""The settings of the readers of a MySQL source: what options define, and the state of the batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.binlog.reading.committed import OpenReader
from datasources.mysql.binlog.reading.opening import reader_opener
from datasources.mysql.binlog.rows.changes import CaptureRule
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.config.metadata_columns import METADATA_TYPES
from datasources.mysql.config.mysql_options import NoKeyPolicy, SnapshotLocking, SnapshotTime
from datasources.mysql.connection.connection import ConnectionSettings
from datasources.mysql.scan.reader_ids import reader_id
from datasources.mysql.scan.row_options import RewritePolicy
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.tables.chunk_key import TableName
from datasources.mysql.types import ZeroDates
from datasources.source.api.connector_state import State
from datasources.source.api.split import SplitId

BINLOG: Final = SplitId("binlog")
"""The split that is the binlog; a position is a number of bytes since the query began."""

SNAPSHOT_READER: Final = "snapshot-"
"""Prefix of the splits that read chunks of tables in parallel; a position is a number of chunks."""


def snapshot_reader_number(split: SplitId) -> int | None:
    """Return the number of a snapshot reader; None for the binlog."""
    return int(split.removeprefix(SNAPSHOT_READER)) if split.startswith(SNAPSHOT_READER) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlScanSettings:
    """The settings of a scan, and the state of the batch; picklable, without connections.

    Attributes:
        connection: server and login.
        captured: which tables.
        data: the declared columns.
        metadata: metadata columns behind them, name -> key.
        masked: columns that are never read.
        zero_dates: how invalid dates are handled.
        server_ids: the option server-id.
        locking: whether a table may be locked for milliseconds.
        no_key: how a table without a key is handled.
        snapshot_time: what op_ts is in snapshot rows.
        rows_per_second: the maximum rate of snapshot rows, over all readers; None = no limit.
        on_rewrite: how statements are handled that change rows without row events.
        stops_at_new_columns: whether a column that is not declared stops the query.
        accepts_cascades: whether changes made by foreign keys may be missing.
        skipped: where skipped transactions begin.
        again: the option scan.snapshot.again, and the tables that it names.
        needed: the columns that are used, metadata columns included; None = all.
        state: of the batch.
    """

    connection: ConnectionSettings
    captured: CapturedTables
    data: pa.Schema
    metadata: Mapping[str, str] = field(default_factory=dict)
    masked: frozenset[str] = frozenset()
    zero_dates: ZeroDates = ZeroDates.FAIL
    server_ids: str | None = None
    locking: SnapshotLocking = SnapshotLocking.NONE
    no_key: NoKeyPolicy = NoKeyPolicy.FAIL
    snapshot_time: SnapshotTime = SnapshotTime.EPOCH
    rows_per_second: int | None = None
    on_rewrite: RewritePolicy = RewritePolicy.FAIL
    stops_at_new_columns: bool = False
    accepts_cascades: bool = False
    skipped: frozenset[BinlogPosition] = frozenset()
    again: tuple[str, tuple[TableName, ...]] = ("", ())
    needed: frozenset[str] | None = None
    state: MySqlState | None = None

    @property
    def schema(self) -> pa.Schema:
        """The data columns, then the metadata columns."""
        metadata = [pa.field(name, METADATA_TYPES[key]) for name, key in self.metadata.items()]
        return pa.schema([*self.data, *metadata])

    def for_batch(self, state: State) -> MySqlScanSettings:
        """Return a copy that reads one batch, at the server whose positions it holds."""
        batch = MySqlState.from_json(state)
        return replace(self.at_server(batch.server), state=batch)

    def read_again_after(self, state: MySqlState) -> frozenset[TableName]:
        """Return the tables that are read again after a batch: earlier changes of them do not matter."""
        return frozenset(self.again[1]) if self.again[0] != state.again else frozenset()

    def at_server(self, server: str | None) -> MySqlScanSettings:
        """Return a copy whose connections fail if another server answers; None = any server may answer."""
        return replace(self, connection=replace(self.connection, server=server))

    def opener(self, role: str, query: str, capture: CaptureRule, *, decodes: bool = True) -> OpenReader:
        """Return the function that opens readers of the binlog.

        Args:
            role: the reader's purpose: each has its own name at the server.
            query: `MySqlState.reader`.
            capture: the columns to read of each table.
            decodes: whether rows are decoded.
        """
        name = reader_id(query, role, self.server_ids)
        return reader_opener(self.connection, capture, name, skipped=self.skipped, decodes=decodes)
