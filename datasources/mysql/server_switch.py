"""A batch that was planned at one server, read at another one that took its place.

Theory of operation. Files and positions mean something at one server only, transactions at all. So the batch's begin
becomes the set of transactions before it, and its end the first place of the new server's log that has all transactions
of the set at the old end. That place follows from the two sets and the log, so whoever looks for it finds the same one:
tasks, the next planning, and a later process.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Final

from datasources.errors import DataLossError
from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.binlog.scan import scan_range
from datasources.mysql.reading import MySqlReading
from datasources.mysql.settled import has_read, merged_gtids
from datasources.mysql.state import MySqlState

__all__ = ["at_other_server"]

_ROLE: Final = "switch"
_LARGEST: Final = 1 << 40


def at_other_server(reading: MySqlReading, batch: MySqlState, now: MySqlState, end: BinlogPosition) -> MySqlState:
    """Return a batch as another server has it.

    Args:
        reading: of the scan.
        batch: as it was planned.
        now: the state at its begin as that server has it: `Launch.check`.
        end: the end of that server's log; it has all transactions of the batch.

    Raises:
        DataLossError: the transactions at the batch's end are not known.
    """
    moved = replace(batch, server=now.server, epoch=now.epoch, place=None, by_gtid=True, gtid_until=now.gtid_until)
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
    reading: MySqlReading, batch: MySqlState, begin: str, wanted: str, end: BinlogPosition
) -> BinlogPosition:
    """Return the first place at which the transactions behind `begin` hold all that are wanted."""
    low, high = 0, _LARGEST  # bytes: not enough, enough
    place = end
    while high - low > 1:
        middle = (low + high) // 2
        open_reader = reading.opener(_ROLE, batch.reader, lambda *_: None, decodes=False)
        with closing(open_reader(begin, StopRule(to=end, max_bytes=middle), frozenset())) as reader:
            found = scan_range(reader)
        if has_read(merged_gtids(begin, str(found.gtids or "")), wanted):
            place, high = found.position, min(middle, found.passed_bytes)
        else:
            low = max(middle, found.passed_bytes)
    return place
