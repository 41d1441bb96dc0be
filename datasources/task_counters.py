"""What tasks count: one table for the report, the progress, the page, the terminal and the metrics.

A new counter is a row here, a field of `SplitReport`, and the place in a task that counts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCounter:
    """One count that tasks report for each split and batch. Unit: records.

    Attributes:
        field: of `SplitReport`.
        key: in the progress and in the tables of the page.
        label: what the page and the terminal call it, in the plural; shown where the count is not 0.
        metric: name of the metric behind `tidemark_source_`.
        help: what it means.
    """

    field: str
    key: str
    label: str
    metric: str
    help: str


TASK_COUNTERS: Final = (
    TaskCounter(
        field="null_rowtime_rows",
        key="null_rowtime_rows",
        label="null rowtimes",
        metric="null_rowtime_records",
        help="Rows whose time attribute is null.",
    ),
    TaskCounter(
        field="ahead_rows",
        key="ahead_rows",
        label="rows ahead of the clock",
        metric="ahead_records",
        help="Rows further ahead of the clock than watermark.max-ahead; they do not move the watermark.",
    ),
    TaskCounter(
        field="bad",
        key="bad_records",
        label="bad records",
        metric="bad_records",
        help="Records that could not be decoded and were skipped or made null.",
    ),
    TaskCounter(
        field="dead_letters",
        key="dead_letters",
        label="dead letters",
        metric="dead_letters",
        help="Records that were left out and written to the dead letter topic: bad ones, and those of late rows.",
    ),
    TaskCounter(
        field="null_value",
        key="null_values",
        label="null values",
        metric="null_values",
        help="Records without a value.",
    ),
    TaskCounter(
        field="lost",
        key="lost_positions",
        label="lost positions",
        metric="lost_positions",
        help="Positions that were gone before they were read.",
    ),
)
"""The counters, in the order of display. Late rows are not among them: they have a lateness and a split."""
