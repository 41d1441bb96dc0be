"""What a bucket of a temporal join keeps between batches.

brief      one small row: both clocks, which parts there are, what was counted. Often nothing else is read.
versions   the build side's versions, in parts of changes (see `versions`)
pending    probe rows that wait for the watermark, in parts
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol, Self

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.bucket_segments import Part, PartStore
from datasources.spark.operators.buckets.row_batches import NO_STAMP

__all__ = ["NEVER", "JoinBrief", "JoinRule", "JoinStore"]

"""No watermark yet: nothing is late, nothing is released, nothing is purged."""
NEVER: Final = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRule:
    """The rule of the join.

    Attributes:
        keeps_unmatched: LEFT: a probe row without a version leaves with nulls. Else it does not leave.
        values: the build side's columns in the result.
        processing_time: each row meets the latest version as of its batch. Else the one that was valid at its time.
        follows_windows: probe rows are results of windows, and Spark's watermark is theirs. Else rows carry stamps.
        forget_deleted_us: how long after its time a deletion is still known, µs of event time; None = for ever.
    """

    keeps_unmatched: bool
    values: pa.Schema
    processing_time: bool = False
    follows_windows: bool = False
    forget_deleted_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinBrief:
    """The small part of a bucket's state.

    Attributes:
        probe_clock_us: the probe side's watermark, µs; NO_STAMP before the first one.
        build_clock_us: the build side's.
        versions: the parts with versions, in order.
        pending: the parts with waiting probe rows, in order.
        next_part: the first number that no part has had.
        next_arrival: the first number that no change and no probe row has had.
        late_probe_rows: probe rows that came too late, since the query's first batch.
        late_build_rows: changes that came too late; they are stored, rows that left before did not see them.
        null_rowtime_rows: rows of both sides without time; counted in bucket 0 only.
        null_key_build_rows: changes without a key.
    """

    probe_clock_us: int = NO_STAMP
    build_clock_us: int = NO_STAMP
    versions: tuple[Part, ...] = ()
    pending: tuple[Part, ...] = ()
    next_part: int = 0
    next_arrival: int = 0
    late_probe_rows: int = 0
    late_build_rows: int = 0
    null_rowtime_rows: int = 0
    null_key_build_rows: int = 0

    @property
    def clock_us(self) -> int:
        """The watermark of the join: the smaller one of both sides, µs."""
        return min(self.probe_clock_us, self.build_clock_us)

    @property
    def due_us(self) -> int:
        """The smallest watermark at which a waiting row leaves, µs; NEVER if none waits."""
        return min((part.low_us for part in self.pending), default=NEVER)

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` gave."""
        raw: dict[str, Any] = json.loads(text)
        versions, pending = (tuple(map(Part.from_json, raw.pop(name))) for name in ("versions", "pending"))
        return cls(versions=versions, pending=pending, **raw)


class JoinStore(Protocol):
    """Where a bucket's state is."""

    @property
    def versions(self) -> PartStore:
        """The parts with versions."""
        ...

    @property
    def pending(self) -> PartStore:
        """The parts with waiting probe rows."""
        ...

    def brief(self) -> JoinBrief:
        """Return the small part."""
        ...

    def put_brief(self, brief: JoinBrief) -> None:
        """Replace the small part."""
        ...
