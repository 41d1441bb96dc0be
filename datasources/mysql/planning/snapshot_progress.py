"""Progress of the snapshot: for the terminal, for metrics and for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, Final

from datasources.mysql.scan.scan_settings import snapshot_reader_number
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import SnapshotScan
from datasources.mysql.tables.table_schema import table_sizes
from datasources.source.api.connector_state import RangeInfo
from datasources.source.api.split import SplitId
from watermark import Clock

_NS_PER_S: Final = 1_000_000_000


class SnapshotProgress:
    """Counts since this process began; the total number of rows is the server's estimate."""

    def __init__(
        self, connect: Callable[[str], Any], captured: Callable[[str, str], bool], clock: Clock, *, chunk_size: int
    ) -> None:
        self._connect = connect
        self._captured = captured
        self._clock = clock
        self._chunk_size = chunk_size
        self._rows_left: int | None = None
        self._chunks_left = 0
        self._began_ns = 0
        self._chunks = 0
        self._rows = 0

    def resume(self, snapshot: SnapshotScan | None) -> None:
        """Start counting at the position of a scan."""
        self._began_ns = self._clock.monotonic_ns()
        if snapshot is None:
            return
        with closing(self._connect("counting rows")) as connection:
            sizes = table_sizes(connection, self._captured)
        left = [rows for name, rows in sizes.items() if name >= snapshot.table and snapshot.includes(name)]
        self._rows_left = sum(left)
        self._chunks_left = sum(max(1, -(-rows // self._chunk_size)) for rows in left)

    def add(self, batch: MySqlState, ranges: Mapping[SplitId, RangeInfo]) -> None:
        """Count a batch."""
        self._chunks += sum(batch.chunks_per_reader)
        self._rows += sum(
            found.rows or 0 for split, found in ranges.items() if snapshot_reader_number(split) is not None
        )

    def to_json(self, state: MySqlState | None) -> Mapping[str, Any]:
        """Return JSON primitives; nothing if there was no snapshot."""
        if self._rows_left is None or state is None:
            return {}
        seconds = (self._clock.monotonic_ns() - self._began_ns) / _NS_PER_S
        rate = int(self._rows / seconds) if seconds > 0 else 0
        left = max(0, self._rows_left - self._rows)
        is_done = state.snapshot is None
        return {
            "snapshot": {
                "status": "done" if is_done else "running",
                "table": None if state.snapshot is None else ".".join(state.snapshot.table),
                "chunks": self._chunks,
                "chunks_estimated": self._chunks if is_done else max(self._chunks_left, self._chunks),
                "rows": self._rows,
                "rows_estimated": self._rows if is_done else max(self._rows_left, self._rows),
                "rows_per_second": rate,
                "seconds_left": 0 if is_done else (left // rate if rate else None),
            }
        }
