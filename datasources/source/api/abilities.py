"""Optional capabilities of a source that the planner uses, Flink's *abilities*."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.arrow_types import Path
from watermark import EmitStrategy


class NullRowtime(enum.Enum):
    """What happens to a row whose rowtime is null (`watermark.null-rowtime`). It never moves the watermark."""

    KEEP = "keep"
    DROP = "drop"
    FAIL = "fail"


class LateRows(enum.Enum):
    """What happens to a row whose rowtime is at or before its watermark (`watermark.late-rows`); it is counted."""

    KEEP = "keep"
    """Spark's operators decide, by their own watermark: at most one batch later than exact, never earlier."""
    DROP = "drop"
    """It is not emitted."""
    MARK = "mark"
    """It is emitted with true in the column `_late`."""
    DEAD_LETTER = "dead-letter"
    """It is not emitted, and its record is written to the dead letter topic."""

    @property
    def are_dropped(self) -> bool:
        """Whether late rows are not emitted."""
        return self in (LateRows.DROP, LateRows.DEAD_LETTER)


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
        max_drift_ms: no record is read whose candidate is more than this beyond the slowest split's next one.
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
    def paths(self) -> tuple[Path, ...]:
        """The columns that it reads, or the fields inside of them."""
        ...

    def evaluator(self) -> EventTimeEvaluator:
        """Open it."""
        ...


class ConditionEvaluator(Protocol):
    """A condition opened for evaluation in one process."""

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return true, false or null for every row."""
        ...


class RowCondition(Protocol):
    """A compiled condition over the scan's columns: picklable, opened where it runs."""

    @property
    def text(self) -> str:
        """The condition as it was pushed down."""
        ...

    @property
    def paths(self) -> tuple[Path, ...]:
        """The columns that it reads, or the fields inside of them."""
        ...

    def evaluator(self) -> ConditionEvaluator:
        """Open it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditionalAttribute:
    """A second time attribute of a scan, or a third.

    ``watermark`` is the candidate per row.
    """

    name: str
    rowtime: EventTimeExpression
    watermark: EventTimeExpression


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkParams:
    """The watermark options apart from the expressions: one value, handed from the options to planner and task.

    Source: Flink's WatermarkParams (FLIP-296).

    Attributes:
        emit: when row watermarks advance: at every row, or at the end of a batch.
        idle_timeout_ms: after how long a caught-up split is idle; 0 = never.
        null_rowtime: what happens to rows without a rowtime.
        max_ahead_ms: candidates later than the driver's clock by more than this are ignored; 0 = no bound.
        heartbeat_interval_ms: at most how often a batch without data is planned to carry the watermark on.
        late_rows: what happens to late rows.
        alignment: the source's part in an alignment group; None = it is not aligned.
        advances_when_idle: whether the watermark advances at the clock's pace while all splits are idle.
        processing_time: from where the source is in processing time.
    """

    emit: EmitStrategy = EmitStrategy.ON_PERIODIC
    idle_timeout_ms: int = 0
    null_rowtime: NullRowtime = NullRowtime.KEEP
    max_ahead_ms: int = 0
    heartbeat_interval_ms: int = 1_000
    late_rows: LateRows = LateRows.KEEP
    alignment: Alignment | None = None
    advances_when_idle: bool = False
    processing_time: ProcessingTime = ProcessingTime.NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanStrategy:
    """The watermark strategy as a scan carries it: the options with the compiled expressions.

    Attributes:
        rowtime: the value of the time attribute.
        watermark: the candidate per row (`watermark.as`), whole milliseconds; null = none.
        params: the other watermark options.
        attribute: the attribute's name (`watermark.for`); None = the text of `rowtime`, which is the name itself.
        additional: more time attributes: a split's watermark is the minimum over the running watermarks of all.
    """

    rowtime: EventTimeExpression
    watermark: EventTimeExpression
    params: WatermarkParams
    attribute: str | None = None
    additional: tuple[AdditionalAttribute, ...] = ()

    @property
    def attribute_name(self) -> str:
        """The time attribute, nested ones with dots."""
        return self.rowtime.text if self.attribute is None else self.attribute

    @property
    def paths(self) -> frozenset[Path]:
        """The columns that event time needs, or the fields inside of them."""
        additional = [path for each in self.additional for path in (*each.watermark.paths, *each.rowtime.paths)]
        return frozenset((*self.watermark.paths, *self.rowtime.paths, *additional))

    @property
    def columns(self) -> frozenset[str]:
        """The columns that event time needs."""
        return frozenset(path[0] for path in self.paths)


@runtime_checkable
class SupportsWatermarkPushDown(Protocol):
    """A source whose readers make the watermark. The one hook that options and the SQL planner both use.

    Source: Flink SupportsWatermarkPushDown.
    """

    def apply_watermark(self, strategy: ScanStrategy) -> Self:
        """Return a copy of the source that generates watermarks by `strategy`, split by split."""
        ...


@runtime_checkable
class SupportsColumnPruning(Protocol):
    """A source whose readers can leave columns undecoded. Source: Flink SupportsProjectionPushDown.

    Without it all columns are decoded, and cut afterwards.
    """

    def with_columns(self, decode: pa.Schema) -> Self:
        """Return a copy whose readers decode only the columns `decode`, metadata columns included.

        `schema` stays whole: it is the checkpoint's identity. In a reader's chunks the other columns are left out or
        null; columns are taken from them by name. Which records are bad does not depend on it, nor do positions and
        counts.

        Args:
            decode: columns of `schema`, in its order: those that are delivered, and those that the strategy and the
                filter need. May be empty: chunks then still have their number of rows. A STRUCT may have fewer fields
                than in `schema`: the others may be null, too.
        """
        ...


@runtime_checkable
class SupportsReadingMetadata(Protocol):
    """A source that provides metadata of a record as columns. Source: Flink SupportsReadingMetadata.

    The class lists the keys: `ScanSource.metadata_types`.
    """

    def with_metadata(self, columns: Mapping[str, str]) -> Self:
        """Return a copy whose `schema` ends with these columns, in this order, nullable.

        Args:
            columns: name -> key. The framework has checked that every key exists and that no name is taken.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWatermarkSpec:
    """The watermark that a source brings along: `SYSTEM_ROWTIME()` and `SYSTEM_WATERMARK()`.

    Attributes:
        metadata: columns that the expressions read, name -> key; added to the scan, not delivered unless asked for.
        rowtime: the rowtime as an expression over them.
        watermark: the candidate per row as an expression over them.
    """

    metadata: Mapping[str, str]
    rowtime: str
    watermark: str


@runtime_checkable
class SupportsSourceWatermark(Protocol):
    """A source whose records carry a time that it knows how to make watermarks of. Flink: SupportsSourceWatermark."""

    @classmethod
    def source_watermark(cls) -> SourceWatermarkSpec | None:
        """Return how, or None if there is none. Asked of the class, before there is a scan."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DelaySettings:
    """The options of delayed batches.

    Attributes:
        min_rows: a batch with fewer rows waits.
        max_delay_ms: how long after the last batch with rows it waits at most.
    """

    min_rows: int
    max_delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DivisionSettings:
    """How the ranges of a batch are divided among more tasks than splits.

    Attributes:
        min_tasks: large ranges are divided until there are about so many; None = as many as there are splits.
        max_rows: a range of more positions is divided; None = of any size.
    """

    min_tasks: int | None = None
    max_rows: int | None = None
