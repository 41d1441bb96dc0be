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
    "EventTimeEvaluator",
    "EventTimeExpression",
    "NullRowtime",
    "ScanStrategy",
    "SupportsWatermarkPushDown",
]


class NullRowtime(enum.Enum):
    """What happens to a row whose rowtime is null (`watermark.null-rowtime`). It never moves the watermark."""

    KEEP = "keep"
    DROP = "drop"
    FAIL = "fail"


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
    """

    rowtime: EventTimeExpression
    watermark: EventTimeExpression
    emit: EmitStrategy
    idle_timeout_ms: int
    null_rowtime: NullRowtime
    max_ahead_ms: int
    heartbeat_interval_ms: int


@runtime_checkable
class SupportsWatermarkPushDown(Protocol):
    """A source whose readers make the watermark. The one hook that options and the SQL planner both use.

    Source: Flink SupportsWatermarkPushDown.
    """

    def apply_watermark(self, strategy: ScanStrategy) -> Self:
        """Return a copy of the source that generates watermarks by `strategy`, split by split."""
        ...
