"""A batch that was planned at one server, read at another one that took its place.

Theory of operation. Files and positions mean something at one server only, transactions at all. So the batch's begin
becomes the set of transactions before it, and its end the first place of the new server's log that has all transactions
of the set at the old end. That place follows from the two sets and the log, so whoever looks for it finds the same one:
tasks, the next planning, and a later process.
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
from datasources.mysql.server.continuity import KnownPlace, check_continuity
from datasources.mysql.server.reconciled_state import has_read, merged_gtids
from datasources.mysql.server.server_log import ServerLog
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.state.mysql_state import MySqlState

__all__ = ["at_other_server", "batch_here", "continued"]

_ROLE: Final = "switch"
_LARGEST: Final = 1 << 40
_NOWHERE: Final = BinlogPosition("", FIRST_POSITION)


def continued(reading: MySqlScanSettings, view: ServerView, state: MySqlState) -> MySqlState:
    """Return the state from which reading goes on at the server that answers now: the given one, or the same by GTIDs.

    Args:
        reading: of the scan; any server may answer it.
        view: the server.
        state: of a batch that was planned, or the rest after one.

    Raises:
        DataLossError: what comes next is gone.
        SourceUnavailable: the server lacks what was read and stays behind.
    """
    if state.position is None and view.server() == state.server:
        return state  # it goes on by GTIDs, and was checked when it began to
    known = KnownPlace(
        server_uuid=state.server,
        position=state.position or _NOWHERE,
        gtid=state.gtid,
        begun=state.to_gtid,
        epoch=state.epoch,
        settled=state.gtid_until,
    )
    with closing(connect(reading.connection, doing="looking for the place to go on from")) as connection:
        log = ServerLog(connection=connection, settings=reading.connection, version=view.version)
        found = check_continuity(log, known)
    moved = replace(state, server=found.server_uuid, epoch=found.epoch)
    return replace(moved, position=None, by_gtid=True, gtid_until=found.settled) if found.by_gtid else moved


def batch_here(reading: MySqlScanSettings, batch: MySqlState) -> MySqlState:
    """Return a batch as the server has it that answers now: the same for every task, and for the driver.

    Raises:
        DataLossError, SourceUnavailable: that server cannot read it.
    """
    anywhere = reading.at_server(None)
    with closing(ServerView(anywhere.connection)) as view:
        if view.server() == batch.server:
            return batch
        return at_other_server(anywhere, batch, continued(anywhere, view, batch), view.end().place)


def at_other_server(reading: MySqlScanSettings, batch: MySqlState, now: MySqlState, end: BinlogPosition) -> MySqlState:
    """Return a batch as another server has it.

    Args:
        reading: of the scan.
        batch: as it was planned.
        now: the state at its begin as that server has it: `StartupResolver.check`.
        end: the end of that server's log; it has all transactions of the batch.

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
        prepared={},  # where they begin at the other server is not where they begin here
    )
    if batch.to is None:
        return moved
    if batch.gtid is None or batch.to_gtid is None:
        raise DataLossError(
            f"the server is another one now ({now.server}, before {batch.server}), and a batch that was planned before "
            f"is known by positions only: gtid_mode was not ON, or the set of transactions is too long to keep. Start "
            f"with a new checkpoint."
        )
    to = _first_with(reading.at_server(now.server), batch, batch.gtid, batch.to_gtid, end)
    return replace(moved, to=to, to_gtid=None)  # `to` says it: what this server alone has may stand among them


def _first_with(
    reading: MySqlScanSettings, batch: MySqlState, begin: str, wanted: str, end: BinlogPosition
) -> BinlogPosition:
    """Return the first place at which the transactions behind `begin` hold all that are wanted."""
    low, high = 0, _LARGEST  # bytes: not enough, enough
    place = end
    while high - low > 1:
        middle = (low + high) // 2
        open_reader = reading.opener(_ROLE, batch.reader, lambda *_: None, decodes=False)
        found = scan(partial(open_reader, begin, StopRule(to=end, max_bytes=middle), frozenset()))
        if has_read(merged_gtids(begin, str(found.gtids or "")), wanted):
            place, high = found.position, min(middle, found.passed_bytes)
        else:
            low = max(middle, found.passed_bytes)
    return place
