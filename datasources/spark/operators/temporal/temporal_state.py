"""State of a bucket of a temporal join between micro-batches.

header     one small value: both watermarks, the segments, counts. Often nothing else is read.
versions   the build side's versions, in segments of changes (see `versions`)
pending    probe rows that wait for the watermark, in segments
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol, Self

import numpy as np
import pyarrow as pa

from datasources.spark.operators.buckets.bucket_segments import SegmentStore, StateSegment
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK

NEVER: Final = int(np.iinfo(np.int64).max)
"""A watermark that no row waits for."""
_STORED_NAMES: Final = {"next_segment": "next_part"}
"""Fields whose name in checkpoints differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRule:
    """The rule of the join.

    Attributes:
        keeps_unmatched: LEFT: a probe row without a version is emitted with nulls. Otherwise it is dropped.
        values: the build side's columns in the result.
        processing_time: join the latest version as of the micro-batch; otherwise the version valid at the row's time.
        follows_windows: probe rows are window results under Spark's watermark; otherwise they carry row watermarks.
        forget_deleted_us: retention of a deletion after its time, µs of event time; None = unlimited.
    """

    keeps_unmatched: bool
    values: pa.Schema
    processing_time: bool = False
    follows_windows: bool = False
    forget_deleted_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinStateHeader:
    """The state header: the small part of a bucket's state.

    Attributes:
        probe_clock_us: the probe side's watermark, µs; NO_WATERMARK before the first one.
        build_clock_us: the build side's watermark, µs.
        versions: the segments with versions, in order.
        pending: the segments with pending probe rows, in order.
        next_segment: the first unused segment number.
        next_arrival: the first unused arrival number of changes and probe rows.
        late_probe_rows: late probe rows since the query's first batch.
        late_build_rows: late changes; they are stored, but rows emitted earlier did not see them.
        null_rowtime_rows: rows of both sides without rowtime; counted in bucket 0 only.
        null_key_build_rows: changes without a key.
    """

    probe_clock_us: int = NO_WATERMARK
    build_clock_us: int = NO_WATERMARK
    versions: tuple[StateSegment, ...] = ()
    pending: tuple[StateSegment, ...] = ()
    next_segment: int = 0
    next_arrival: int = 0
    late_probe_rows: int = 0
    late_build_rows: int = 0
    null_rowtime_rows: int = 0
    null_key_build_rows: int = 0

    @property
    def clock_us(self) -> int:
        """The watermark of the join, µs: the minimum of both sides."""
        return min(self.probe_clock_us, self.build_clock_us)

    @property
    def due_us(self) -> int:
        """The smallest watermark at which a pending row is emitted, µs; NEVER if there is none."""
        return min((segment.low_us for segment in self.pending), default=NEVER)

    def to_json(self) -> str:
        """Return it as text."""
        values = {_STORED_NAMES.get(name, name): value for name, value in asdict(self).items()}
        return json.dumps(values, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the value that `to_json` wrote."""
        raw: dict[str, Any] = json.loads(text)
        values = {name: raw[_STORED_NAMES.get(name, name)] for name in cls.__dataclass_fields__}
        segments = {name: tuple(map(StateSegment.from_json, values[name])) for name in ("versions", "pending")}
        return cls(**values | segments)


class JoinStore(Protocol):
    """The store of a bucket's state."""

    @property
    def versions(self) -> SegmentStore:
        """The segments with versions."""
        ...

    @property
    def pending(self) -> SegmentStore:
        """The segments with pending probe rows."""
        ...

    def header(self) -> JoinStateHeader:
        """Return the state header."""
        ...

    def put_header(self, header: JoinStateHeader) -> None:
        """Replace the state header."""
        ...
