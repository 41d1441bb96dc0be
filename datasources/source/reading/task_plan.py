"""What one task reads: everything an input partition carries to an executor."""

from __future__ import annotations

from dataclasses import dataclass

from datasources.source.api.connector_state import State
from datasources.source.api.split import LogIdentity, SplitId


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTask:
    """One split's part of a task. Watermarks in µs; `others_us` None = no other split is active.

    Attributes:
        attribute_watermarks_us: the watermark of each time attribute, where there are several; `watermark_us` is their
            minimum.
        log: which log is read; None = not known.
        piece: which piece of the split's range it is, from 0 on, and of how many.
    """

    split: SplitId
    known_at: int
    start: int
    end: int
    watermark_us: int
    others_us: int | None
    attribute_watermarks_us: tuple[int, ...] = ()
    log: LogIdentity | None = None
    piece: tuple[int, int] = (0, 1)

    @property
    def report_name(self) -> SplitId:
        """What its report is kept under."""
        index, count = self.piece
        return self.split if count == 1 else SplitId(f"{self.split} [{index + 1}/{count}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """Everything an input partition carries. Watermarks in µs.

    Attributes:
        sequence: number of the batch.
        splits: what to read, in order; empty for a task that only carries the heartbeat.
        combined_us: the source's combined watermark before the batch.
        ceiling_us: candidates beyond it are counted and ignored; None = no bound.
        allowed_us: a split stops before its first record with a larger candidate (alignment); None = no bound.
        is_processing: the source is in processing time: every row watermark is the combined one, no row is late.
        heartbeat: whether the task closes with a heartbeat row; False in a batch read.
        state: the connector's state for the batch, beside positions; None = it keeps none.
        dead_letters: the source's id for dead letters; None = none are written.
    """

    sequence: int
    splits: tuple[SplitTask, ...]
    combined_us: int
    ceiling_us: int | None
    allowed_us: int | None = None
    is_processing: bool = False
    heartbeat: bool = True
    state: State | None = None
    dead_letters: str | None = None
