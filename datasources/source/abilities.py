"""What a source can be asked to do for the planner, Flink's *abilities*."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from watermark import EmitStrategy

__all__ = [
    "Alignment",
    "EventTimeEvaluator",
    "EventTimeExpression",
    "LateRows",
    "NullRowtime",
    "ProcessingTime",
    "ScanStrategy",
    "SupportsWatermarkPushDown",
]


class NullRowtime(enum.Enum):
    """What happens to a row whose rowtime is null (`watermark.null-rowtime`). It never moves the watermark."""

    KEEP = "keep"
    DROP = "drop"
    FAIL = "fail"


class LateRows(enum.Enum):
    """What happens to a row whose rowtime is at or before its stamp (`watermark.late-rows`). It is always counted."""

    KEEP = "keep"
    """Spark's operators decide, by their own watermark: at most one batch later than exact, never earlier."""
    DROP = "drop"
    """It is not emitted."""
    MARK = "mark"
    """It is emitted with true in the column `_late`."""


class ProcessingTime(enum.Enum):
    """From where a source is in processing time (`watermark.processing-time`). There is no way back to event time."""

    NEVER = "never"
    AFTER_BACKLOG = "after-backlog"
    """From the end that each split had when the query began."""
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """How a source takes part in an alignment group.

    Attributes:
        group: sources that name the same one are aligned with each other.
        max_drift_ms: no record is read whose candidate is further than this beyond the slowest split's next one.
        update_interval_ms: at least how often the source asks for the group's bound.
        aligns_splits: False = only the source as a whole waits (allow-unaligned-source-splits).
    """

    group: str
    max_drift_ms: int
    update_interval_ms: int = 1_000
    aligns_splits: bool = True


class EventTimeEvaluator(Protocol):
    """An expression opened for evaluation in one process."""

    def event_time_us(self, batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Return the value per row, µs since the epoch, and which rows have one (None = all)."""
        ...


class EventTimeExpression(Protocol):
    """A compiled expression over the data columns: picklable, opened where it runs."""

    @property
    def text(self) -> str:
        """The expression as the user wrote it."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The top-level columns that it reads."""
        ...

    def evaluator(self) -> EventTimeEvaluator:
        """Open it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanStrategy:
    """The watermark strategy as a scan carries it: FLIP-296's options with the compiled expressions.

    Attributes:
        rowtime: the time attribute (`watermark.for`).
        watermark: the candidate per row (`watermark.as`), whole milliseconds; null = none.
        emit: when stamps move: at every row, or at the end of a batch.
        idle_timeout_ms: after how long a caught-up split is idle; 0 = never.
        null_rowtime: what happens to rows without a rowtime.
        max_ahead_ms: candidates later than the driver's clock by more than this are ignored; 0 = no bound.
        heartbeat_interval_ms: how often a batch without data may be planned to carry the watermark on.
        late_rows: what happens to late rows.
        alignment: the source's part in an alignment group; None = it is not aligned.
        advances_when_idle: whether the watermark goes on at the clock's pace while all splits are idle.
        processing_time: from where the source is in processing time.
    """

    rowtime: EventTimeExpression
    watermark: EventTimeExpression
    emit: EmitStrategy
    idle_timeout_ms: int
    null_rowtime: NullRowtime
    max_ahead_ms: int
    heartbeat_interval_ms: int
    late_rows: LateRows = LateRows.KEEP
    alignment: Alignment | None = None
    advances_when_idle: bool = False
    processing_time: ProcessingTime = ProcessingTime.NEVER


@runtime_checkable
class SupportsWatermarkPushDown(Protocol):
    """A source whose readers make the watermark. The one hook that options and the SQL planner both use.

    Source: Flink SupportsWatermarkPushDown.
    """

    def apply_watermark(self, strategy: ScanStrategy) -> Self:
        """Return a copy of the source that generates watermarks by `strategy`, split by split."""
        ...
