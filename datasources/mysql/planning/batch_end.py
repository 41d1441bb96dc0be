"""Where a batch ends in the binlog.

Theory of operation. A batch may be read again at another server, where the same transactions have other positions and
other sizes. So where transactions have GTIDs, a batch ends at a place and a set of transactions that are known when it
is planned, not at so many bytes. Looking the place up costs little: no row is decoded.
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

__all__ = ["change_batch", "marked"]

_ROLE: Final = "mark"


def change_batch(
    reading: MySqlScanSettings, state: MySqlState, end: LogEnd, max_bytes: int, *, unread: Callable[[MySqlState], int]
) -> MySqlState:
    """Return a batch of changes.

    Args:
        reading: of the scan.
        state: at rest.
        end: of the log of the state's server.
        max_bytes: the batch ends at the first place between two transactions behind so many bytes.
        unread: returns how many bytes lie between a state whose place is known and the end.
    """
    batch = replace(state, to=end.position, to_gtid=storable_gtids(end.gtid), max_bytes=max_bytes, mark_us=end.clock_us)
    if batch.gtid is None or batch.to_gtid is None:
        return batch  # no other server can read it
    batch = replace(batch, max_bytes=None)
    return _ended(reading, batch, max_bytes) if state.by_gtid or unread(state) > max_bytes else batch


def marked(reading: MySqlScanSettings, state: MySqlState, end: LogEnd, max_bytes: int) -> MySqlState:
    """Return the state of a batch with chunks of tables, which are as of its end.

    Args:
        reading: of the scan.
        state: at rest; its place is known.
        end: of the log of the state's server. Its set of transactions lacks those that are being committed.
        max_bytes: see `change_batch`.
    """
    batch = replace(state, to=state.place, to_gtid=state.gtid, mark_us=end.clock_us)
    return batch if end.position == state.place else _ended(reading, replace(batch, to=end.position), max_bytes)


def _ended(reading: MySqlScanSettings, batch: MySqlState, max_bytes: int) -> MySqlState:
    """Return a batch that ends at its end, or before at the first place behind so many bytes."""
    stop = StopRule(to=batch.to, max_bytes=max_bytes)
    open_reader = reading.at_server(batch.server).opener(_ROLE, batch.reader, lambda *_: None, decodes=False)
    found = scan(lambda: open_reader(batch.start, stop, frozenset()))
    return replace(batch, to=found.position, to_gtid=merged_gtids(batch.gtid, str(found.gtids or "")))
