"""XA transactions that were prepared before a range of the binlog, by name where each begins.

The offset lists those that were prepared since the query began. An earlier one is looked up in the log before the range
when it is committed: its rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

from datasources.errors import DataLossError, OffsetError, RecordError
from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.binlog.rows.changes import XaChange, XaOutcome
from datasources.mysql.reader.log_before import ranges_before
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.state.mysql_state import MySqlState

_UNREADABLE = (DataLossError, OffsetError, RecordError)


class PreparedBefore(Mapping[str, BinlogPosition]):
    """Lists the transactions of the offset, and finds others by name.

    A state without a position cannot find others.
    """

    def __init__(self, settings: MySqlScanSettings, state: MySqlState, role: str) -> None:
        self._settings, self._state, self._role = settings, state, role
        self._found: dict[str, BinlogPosition | None] = {}
        position = None if state.by_gtid else state.position
        self._ranges = iter(()) if position is None else ranges_before(settings.connection, position)

    def __getitem__(self, xid: str) -> BinlogPosition:
        begin = self._state.prepared.get(xid) or self._looked_up(xid)
        if begin is None:
            raise KeyError(xid)
        return begin

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.prepared)

    def __len__(self) -> int:
        return len(self._state.prepared)

    def _looked_up(self, xid: str) -> BinlogPosition | None:
        """Return where a transaction begins, reading only as far back as needed; None if it was decided."""
        for start, end in self._ranges if xid not in self._found else ():
            try:
                self._found = {**self._last_mentioned(start, end), **self._found}
            except _UNREADABLE:
                return None
            if xid in self._found:
                break
        return self._found.get(xid)

    def _last_mentioned(self, start: BinlogPosition, end: BinlogPosition) -> dict[str, BinlogPosition | None]:
        opener = self._settings.opener(self._role, self._state.reader, lambda *_: None, decodes=False)
        found: dict[str, BinlogPosition | None] = {}
        with closing(opener(start, StopRule(to=end), frozenset())) as reader:
            for change in reader:
                if isinstance(change, XaChange):
                    found[change.xid] = change.position if change.outcome is XaOutcome.PREPARED else None
        return found
