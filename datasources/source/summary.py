"""The state of a source as people read it: in Spark's progress, on a terminal, in metrics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from datasources.source.offset import Offset
from datasources.source.reports import SplitReport

__all__ = ["Totals", "summarise"]

_MOST_SPLITS = 100


@dataclass(slots=True)
class Totals:
    """What tasks reported since this process began. Unit: records; `max_lateness_ms` in ms.

    A lost report's counts are lost with it; results never depend on them.
    """

    late_rows: int = 0
    max_lateness_ms: int = 0
    null_rowtime_rows: int = 0
    ahead_rows: int = 0
    bad_records: int = 0
    null_values: int = 0
    lost_positions: int = 0

    def add(self, reports: Iterable[SplitReport]) -> None:
        """Count the reports of one batch."""
        for report in reports:
            self.late_rows += report.late_rows
            self.max_lateness_ms = max(self.max_lateness_ms, report.max_lateness_ms)
            self.null_rowtime_rows += report.null_rowtime_rows
            self.ahead_rows += report.ahead_rows
            self.bad_records += report.bad
            self.null_values += report.null_value
            self.lost_positions += report.lost


def summarise(offset: Offset, totals: Totals) -> dict[str, Any]:
    """Return JSON primitives: the combined watermark, the counts, the first 100 splits with position and status.

    Units: ms since the epoch; None = none yet.
    """
    return {
        **asdict(totals),
        "batch": offset.sequence,
        "watermark": offset.combined_ms,
        "splits": [
            {
                "split": split.split,
                "position": split.end,
                "watermark": split.watermark_ms,
                "status": split.status.name.lower(),
            }
            for split in offset.splits[:_MOST_SPLITS]
        ],
        "split_count": len(offset.splits),
    }
