"""Where a batch ends in the binlog.

Theory of operation. A failover may repeat a batch at another server, where the same transactions have other positions
and sizes. So with GTIDs a batch ends at a position and a GTID set that are fixed when it is planned, not after a number
of bytes. No row is decoded to find them, yet it takes about as long as a batch is read. So once a batch is planned that
is not the last one, a thread looks for the end of the next. If the process ends, only that work is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from datasources.errors import TidemarkError
from datasources.mysql.binlog import StopRule
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.reading.log_scan import BinlogRangeInfo, scan
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.server.reconciled_state import merged_gtids, storable_gtids
from datasources.mysql.server.server_view import LogEnd
from datasources.mysql.state.mysql_state import MySqlState

_logger: Final = logging.getLogger(__name__)
_ROLE: Final = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScanAhead:
    """A scan for the end of a batch that is not planned yet.

    Attributes:
        batch: where it begins, and where the log ended then.
        max_bytes: after how many bytes it ends.
        found: what the scan finds.
    """

    batch: MySqlState
    max_bytes: int
    found: Future[BinlogRangeInfo]

    def is_of(self, batch: MySqlState, max_bytes: int) -> bool:
        """Return whether the scan begins where a batch does, with the same bound."""
        own = self.batch
        return (own.server, own.start, own.reader, self.max_bytes) == (
            batch.server,
            batch.start,
            batch.reader,
            max_bytes,
        )


class BatchEnds:
    """Plans the ends of a query's batches.

    Args:
        settings: of the scan.
        on_found: called with the split position of an end and the commit time of the last transaction before it, µs
            since the epoch.
    """

    def __init__(self, settings: MySqlScanSettings, on_found: Callable[[int, int], None] = lambda *_: None) -> None:
        self._settings = settings
        self._on_found = on_found
        # One thread for all scans: the server ends a dump if another one begins under its name.
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tidemark-mysql-batch-end")
        self._ahead: _ScanAhead | None = None
        self._planned_end: BinlogPosition | None = None

    def change_batch(
        self, state: MySqlState, end: LogEnd, max_bytes: int, *, unread: Callable[[MySqlState], int]
    ) -> MySqlState:
        """Return a batch of changes.

        Args:
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
        if not state.by_gtid and unread(state) <= max_bytes:
            return batch
        ended = self._ended(batch, max_bytes)
        following = replace(batch, position=ended.to, gtid=ended.to_gtid)
        is_as_planned = self._planned_end in (None, state.position)  # else batches end after a number of rows
        self._planned_end = ended.to
        if is_as_planned and not state.by_gtid and unread(following) > max_bytes:
            self._ahead = _ScanAhead(
                batch=following, max_bytes=max_bytes, found=self._pool.submit(self._scan, following, max_bytes)
            )
        return ended

    def snapshot_batch(self, state: MySqlState, end: LogEnd, max_bytes: int) -> MySqlState:
        """Return the state of a batch with chunks of tables; its end is their snapshot position.

        Args:
            state: between two batches, with a position.
            end: of the log of the state's server. Its GTID set lacks transactions that are still being committed.
            max_bytes: see `change_batch`.
        """
        batch = replace(state, to=state.position, to_gtid=state.gtid, end_clock_us=end.clock_us)
        return batch if end.position == state.position else self._ended(replace(batch, to=end.position), max_bytes)

    def close(self) -> None:
        """Stop the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ended(self, batch: MySqlState, max_bytes: int) -> MySqlState:
        """Return a batch that ends at `to`, or at the first transaction boundary after so many bytes."""
        found = self._found_ahead(batch, max_bytes) or self._pool.submit(self._scan, batch, max_bytes).result()
        if found.last_commit_us:
            self._on_found(batch.at + found.passed_bytes, found.last_commit_us)
        return replace(batch, to=found.position, to_gtid=merged_gtids(batch.gtid, str(found.gtids or "")))

    def _found_ahead(self, batch: MySqlState, max_bytes: int) -> BinlogRangeInfo | None:
        """Return what the scan ahead found, if it is of this batch and did not end at the log's end of that time."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or not ahead.is_of(batch, max_bytes):
            return None
        try:
            found = ahead.found.result()
        except TidemarkError as error:  # the server may be back by now; if not, the scan that follows raises
            _logger.warning("batch_end_ahead failed=true error=%r", error)
            return None
        return found if found.passed_bytes >= max_bytes else None

    def _scan(self, batch: MySqlState, max_bytes: int) -> BinlogRangeInfo:
        stop = StopRule(to=batch.to, max_bytes=max_bytes)
        opener = self._settings.at_server(batch.server).opener(_ROLE, batch.reader, lambda *_: None, decodes=False)
        return scan(lambda: opener(batch.start, stop, frozenset()))
