"""What readers of a MySQL source need: everything that options decided, and the state of the batch."""

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
from datasources.mysql.state.snapshot_scan import TableName
from datasources.mysql.types import ZeroDates
from datasources.source.api.connector_state import State
from datasources.source.api.split import SplitId

__all__ = ["BINLOG", "SNAPSHOT_READER", "MySqlScanSettings", "snapshot_reader_number"]

BINLOG: Final = SplitId("binlog")
"""The split that is the binlog; a position is a number of bytes since the query began."""

SNAPSHOT_READER: Final = "snapshot-"
"""Begin of the names of lanes: splits that read chunks of tables side by side; a position is a number of chunks."""


def snapshot_reader_number(split: SplitId) -> int | None:
    """Return the number of a lane; None for the binlog."""
    return int(split.removeprefix(SNAPSHOT_READER)) if split.startswith(SNAPSHOT_READER) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MySqlScanSettings:
    """Everything about a scan that options decided, and the state of the batch; picklable, holds no connection.

    Attributes:
        connection: where and who.
        captured: which tables.
        data: the declared columns.
        metadata: metadata columns behind them, name -> key.
        masked: columns that are never read.
        zero_dates: what becomes of dates that no calendar has.
        server_ids: the option server-id.
        locking: whether a table may be locked for a moment.
        no_key: what a table without a key means.
        snapshot_time: what op_ts is in rows of tables.
        rows_per_second: how fast tables are read at most, over all lanes; None = as fast as it goes.
        on_rewrite: what statements do that change rows without row events.
        accepts_cascades: whether changes that foreign keys make may be missing.
        skipped: where transactions begin that are passed over.
        again: the option scan.snapshot.again, and the tables that it names.
        needed: the columns that are looked at, metadata columns included; None = all.
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
        """Return a copy that reads one batch, at the server whose positions it holds ."""
        batch = MySqlState.from_json(state)
        return replace(self.at_server(batch.server), state=batch)

    def read_again_after(self, state: MySqlState) -> frozenset[TableName]:
        """Return the tables that are read again behind a batch: what becomes of them before does not matter."""
        return frozenset(self.again[1]) if self.again[0] != state.again else frozenset()

    def at_server(self, server: str | None) -> MySqlScanSettings:
        """Return a copy whose connections are refused where another server answers; None = any may answer."""
        return replace(self, connection=replace(self.connection, server=server))

    def opener(self, role: str, query: str, capture: CaptureRule, *, decodes: bool = True) -> OpenReader:
        """Return what opens readers of the binlog.

        Args:
            role: what the reader is for: each has a name of its own at the server.
            query: `MySqlState.reader`.
            capture: what is read of each table.
            decodes: whether rows are wanted.
        """
        name = reader_id(query, role, self.server_ids)
        return reader_opener(self.connection, capture, name, skipped=self.skipped, decodes=decodes)
