"""A batch that was planned at one server, and is read at another one that replaced it.

Theory of operation. Files and positions are valid at one server only, GTIDs at all of them. So the batch's begin
becomes the set of transactions before it, and its end the first position of the new server's log that has all
transactions of the set at the old end. That position follows from the two sets and the log, so it is always the same:
for tasks, for the next planning, and for a later process.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Final

from datasources.errors import DataLossError
from datasources.mysql.binlog import FIRST_POSITION, BinlogPosition, StopRule
from datasources.mysql.binlog.reading.log_scan import scan
from datasources.mysql.connection.connection import connect
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.server.continuity import KnownPosition, check_continuity
from datasources.mysql.server.reconciled_state import has_read, merged_gtids
from datasources.mysql.server.server_log import ServerLog
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.state.mysql_state import MySqlState

_ROLE: Final = "switch"
_LARGEST: Final = 1 << 40
_NOWHERE: Final = BinlogPosition("", FIRST_POSITION)


def resume_state(reading: MySqlScanSettings, view: ServerView, state: MySqlState) -> MySqlState:
    """Return the state from which reading resumes at the current server: the given one, or the same by GTIDs.

    Args:
        reading: of the scan; for any server.
        view: the server.
        state: of a planned batch, or after one.

    Raises:
        DataLossError: the next transactions are gone.
        SourceUnavailable: the server lacks what was read and stays behind.
    """
    if state.position is None and view.server() == state.server:
        return state  # it resumes by GTIDs, which was checked when it began to
    known = KnownPosition(
        server_uuid=state.server,
        position=state.position or _NOWHERE,
        gtid=state.gtid,
        planned_gtid=state.to_gtid,
        epoch=state.epoch,
        gtid_until=state.gtid_until,
    )
    with closing(connect(reading.connection, doing="finding the position to resume from")) as connection:
        log = ServerLog(connection=connection, settings=reading.connection, version=view.version)
        found = check_continuity(log, known)
    moved = replace(state, server=found.server_uuid, epoch=found.epoch)
    return replace(moved, position=None, by_gtid=True, gtid_until=found.gtid_until) if found.by_gtid else moved


def batch_at_current_server(reading: MySqlScanSettings, batch: MySqlState) -> MySqlState:
    """Return a batch with the positions of the current server: the same for every task, and for the driver.

    Raises:
        DataLossError, SourceUnavailable: it cannot be read there.
    """
    anywhere = reading.at_server(None)
    with closing(ServerView(anywhere.connection)) as view:
        if view.server() == batch.server:
            return batch
        return batch_at_other_server(anywhere, batch, resume_state(anywhere, view, batch), view.end().position)


def batch_at_other_server(
    reading: MySqlScanSettings, batch: MySqlState, now: MySqlState, end: BinlogPosition
) -> MySqlState:
    """Return a batch with the positions of another server.

    Args:
        reading: of the scan.
        batch: as planned.
        now: the state at its begin, with that server's positions: `resume_state`.
        end: the end of that server's log, which has all transactions of the batch.

    Raises:
        DataLossError: the transactions at the batch's end are not known.
    """
    moved = replace(
        batch,
        server=now.server,
        epoch=now.epoch,
        position=None,
        by_gtid=True,
        gtid_until=now.gtid_until,
        prepared={},  # their begins differ between servers
    )
    if batch.to is None:
        return moved
    if batch.gtid is None or batch.to_gtid is None:
        raise DataLossError(
            f"the server is another one now ({now.server}, before {batch.server}), and a batch that was planned before "
            f"has positions only: gtid_mode was not ON, or the set of transactions is too long to store. Start "
            f"with a new checkpoint."
        )
    to = _first_with(reading.at_server(now.server), batch, batch.gtid, batch.to_gtid, end)
    return replace(moved, to=to, to_gtid=None)  # `to` decides: the range may include transactions of this server alone


def _first_with(
    reading: MySqlScanSettings, batch: MySqlState, begin: str, wanted: str, end: BinlogPosition
) -> BinlogPosition:
    """Return the first position at which the transactions behind `begin` include all wanted ones."""
    low, high = 0, _LARGEST  # bytes: not enough, enough
    found_at = end
    while high - low > 1:
        middle = (low + high) // 2
        open_reader = reading.opener(_ROLE, batch.reader, lambda *_: None, decodes=False)
        found = scan(partial(open_reader, begin, StopRule(to=end, max_bytes=middle), frozenset()))
        if has_read(merged_gtids(begin, str(found.gtids or "")), wanted):
            found_at, high = found.position, min(middle, found.passed_bytes)
        else:
            low = max(middle, found.passed_bytes)
    return found_at
