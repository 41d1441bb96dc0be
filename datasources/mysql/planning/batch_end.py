"""Where a batch ends in the binlog.

Theory of operation. A failover may repeat a batch at another server, where the same transactions have other positions
and sizes. So with GTIDs a batch ends at a position and a GTID set that are fixed when it is planned, not after a number
of bytes. Finding them is cheap: no row is decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from datasources.mysql.binlog import StopRule
from datasources.mysql.binlog.reading.log_scan import scan
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.server.reconciled_state import merged_gtids, storable_gtids
from datasources.mysql.server.server_view import LogEnd
from datasources.mysql.state.mysql_state import MySqlState

_ROLE: Final = "mark"


def change_batch(
    settings: MySqlScanSettings, state: MySqlState, end: LogEnd, max_bytes: int, *, unread: Callable[[MySqlState], int]
) -> MySqlState:
    """Return a batch of changes.

    Args:
        settings: of the scan.
        state: between two batches.
        end: of the log of the state's server.
        max_bytes: the batch ends at the first transaction boundary after so many bytes.
        unread: returns the number of bytes between a state with a position and the end.
    """
    batch = replace(
        state, to=end.position, to_gtid=storable_gtids(end.gtid), max_bytes=max_bytes, end_clock_us=end.clock_us
    )
    if batch.gtid is None or batch.to_gtid is None:
        return batch  # no other server can read it
    batch = replace(batch, max_bytes=None)
    return _ended(settings, batch, max_bytes) if state.by_gtid or unread(state) > max_bytes else batch


def snapshot_batch(settings: MySqlScanSettings, state: MySqlState, end: LogEnd, max_bytes: int) -> MySqlState:
    """Return the state of a batch with chunks of tables; its end is their snapshot position.

    Args:
        settings: of the scan.
        state: between two batches, with a position.
        end: of the log of the state's server. Its GTID set lacks transactions that are still being committed.
        max_bytes: see `change_batch`.
    """
    batch = replace(state, to=state.position, to_gtid=state.gtid, end_clock_us=end.clock_us)
    return batch if end.position == state.position else _ended(settings, replace(batch, to=end.position), max_bytes)


def _ended(settings: MySqlScanSettings, batch: MySqlState, max_bytes: int) -> MySqlState:
    """Return a batch that ends at `to`, or at the first transaction boundary after so many bytes."""
    stop = StopRule(to=batch.to, max_bytes=max_bytes)
    open_reader = settings.at_server(batch.server).opener(_ROLE, batch.reader, lambda *_: None, decodes=False)
    found = scan(lambda: open_reader(batch.start, stop, frozenset()))
    return replace(batch, to=found.position, to_gtid=merged_gtids(batch.gtid, str(found.gtids or "")))
