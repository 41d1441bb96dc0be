"""Skips ranges of the binlog without captured changes, without a batch.

A server also logs changes of other tables. After a batch without captured changes, the driver scans the log itself: a
range without them is skipped and the position advances in memory; the next batch, or a batch without data every
heartbeat.interval, persists it. The split's integer position does not advance: to the planner the split was silent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from datasources.mysql.binlog import BinlogPosition, Capture, StopRule
from datasources.mysql.binlog.reading.log_scan import scan
from datasources.mysql.ddl import concerns
from datasources.mysql.scan.scan_settings import MySqlScanSettings

_ROLE: Final = "quiet"
_NOTHING: Final = Capture(columns=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class IrrelevantRange:
    """A range of the binlog without captured changes.

    ``gtids`` are its transactions, as the text of a set.
    """

    position: BinlogPosition
    gtids: str


def find_irrelevant_range(
    settings: MySqlScanSettings, query: str, start: BinlogPosition, end: BinlogPosition
) -> IrrelevantRange | None:
    """Return the range if it holds no change, statement or XA transaction of a captured table.

    Raises:
        DataLossError, SourceUnavailable: the range cannot be read.
    """

    def capture(database: str, table: str) -> Capture | None:
        return _NOTHING if settings.captured(database, table) else None

    stop = StopRule(to=end)
    open_reader = settings.opener(_ROLE, query, capture, decodes=False)
    found = scan(lambda: open_reader(start, stop, frozenset()))
    captured = settings.captured
    if found.changed_rows or found.xa or any(concerns(each, captured.names, captured) for each in found.statements):
        return None
    return IrrelevantRange(position=found.position, gtids=str(found.gtids or ""))
