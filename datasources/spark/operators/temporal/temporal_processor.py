"""The temporal joins as Spark's transformWithState calls them: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessorHandle

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import Packet, packets_of
from datasources.spark.operators.buckets.bucket_processor import BucketProcessor
from datasources.spark.operators.buckets.bucket_variables import NumberedParts, StoredText
from datasources.spark.operators.buckets.row_batches import NO_STAMP, STAMP_COLUMN
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.temporal.temporal_bucket import Bucket, Joined, advance
from datasources.spark.operators.temporal.temporal_state import JoinBrief, JoinRule
from datasources.spark.operators.temporal.versions.version_cache import VersionCache
from datasources.spark.plans.plan_walk import SIDE_COLUMN

__all__ = ["BUILD", "COUNTS", "PROBE", "TemporalJoinProcessor", "WindowedJoinProcessor"]

PROBE: Final = 0
BUILD: Final = 1
COUNTS: Final = ("late_probe_rows", "late_build_rows", "null_rowtime_rows", "null_key_build_rows")
"""What is counted per batch; the fields of `Joined` of these names."""

_US_PER_MS: Final = 1_000
_cache: Final = VersionCache()
"""Of the process: a processor lives for one task, what it decoded is of use to later ones."""


class TemporalJoinProcessor(BucketProcessor):
    """Runs the join on every bucket of a partition.

    Args:
        rule: what the join is.
        settings: what the state was made with; another state is refused.
        operator: names this operator, unlike every other of this and every other run.
    """

    counts = COUNTS

    def __init__(self, rule: JoinRule, settings: StoredSettings, *, operator: str) -> None:
        self._rule = rule
        self._settings = settings
        self._operator = operator
        self._probe_clock_us = NO_STAMP

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkJoinStore(handle, self._settings)

    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[Joined, pa.Table | None]:
        """Take everything that a batch holds for a bucket."""
        bucket = Bucket(store=self._store, cache=_cache, name=self._name(key), token=_attempt())
        sides: tuple[list[Packet], list[Packet]] = ([], [])
        for frame in frames:
            for side, packet in zip(frame[SIDE_COLUMN], packets_of([frame]), strict=True):
                sides[int(side)].append(packet)
        joined = advance(self._rule, bucket, sides[PROBE], sides[BUILD], probe_clock_us=self._probe_clock_us)
        return joined, _stamped(joined)

    def _name(self, key: Any) -> tuple[str, str, int]:
        context = TaskContext.get()
        run = "" if context is None else str(context.getLocalProperty("spark.jobGroup.id"))
        return run, self._operator, int(key[0])


class WindowedJoinProcessor(TemporalJoinProcessor):
    """The join of results of windows, which carry no stamps: they come when Spark's watermark has passed their time.

    Spark tells an operator the watermark of what lies below it. All results at or below it have come with this batch,
    those at or below the one before came earlier.
    """

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803 - Spark's names
        """Yield the results of one batch for one bucket."""
        watermark_ms = int(timerValues.getCurrentWatermarkInMs())
        self._probe_clock_us = watermark_ms * _US_PER_MS if watermark_ms > 0 else NO_STAMP
        yield from super().handleInputRows(key, rows, timerValues)


def _attempt() -> str:
    """Name this attempt at a batch; in an application no two tasks have the same attempt id."""
    context = TaskContext.get()
    if context is None:
        return ""
    return f"{context.getLocalProperty('streaming.sql.batchId')}-{context.taskAttemptId()}"


def _stamped(joined: Joined) -> pa.Table | None:
    """Return the rows with the stamp of each last: in processing time their own."""
    rows = joined.rows
    if rows is None:
        return None
    if STAMP_COLUMN not in rows.column_names:
        return rows.append_column(WATERMARK_COLUMN, pa.repeat(pa.scalar(joined.stamp_us), rows.num_rows))
    return rows.drop_columns([STAMP_COLUMN]).append_column(WATERMARK_COLUMN, rows.column(STAMP_COLUMN))


class _SparkJoinStore:
    """A bucket's state in Spark's state store; Spark's handle points at the bucket that is being processed."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._brief = StoredText(handle, settings)
        self.versions = NumberedParts(handle, "versions")
        self.pending = NumberedParts(handle, "pending")

    def brief(self) -> JoinBrief:
        text = self._brief.get()
        return JoinBrief() if text is None else JoinBrief.from_json(text)

    def put_brief(self, brief: JoinBrief) -> None:
        self._brief.put(brief.to_json())
