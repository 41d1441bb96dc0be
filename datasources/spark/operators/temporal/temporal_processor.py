"""The temporal join operators as processors of Spark's transformWithState."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessorHandle

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import RowBatch, row_batches_of
from datasources.spark.operators.buckets.bucket_processor import BucketProcessor
from datasources.spark.operators.buckets.bucket_variables import NumberedSegments, StoredText
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK, ROW_WATERMARK_COLUMN
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.temporal.temporal_bucket import Bucket, JoinEmitted, advance_join
from datasources.spark.operators.temporal.temporal_state import JoinRule, JoinStateHeader
from datasources.spark.operators.temporal.versions.version_cache import VersionCache
from datasources.spark.plans.plan_walk import SIDE_COLUMN

PROBE: Final = 0
BUILD: Final = 1
COUNTS: Final = ("late_probe_rows", "late_build_rows", "null_rowtime_rows", "null_key_build_rows")
"""Counted per micro-batch: the fields of `JoinEmitted` of these names."""

_US_PER_MS: Final = 1_000
_cache: Final = VersionCache()
"""One per process: a processor lives for one task only, but later tasks can reuse decoded versions."""


class TemporalJoinProcessor(BucketProcessor):
    """Runs the join on every bucket of a partition.

    State with other settings is refused; ``operator`` is unique across operators and runs.
    """

    counts = COUNTS

    def __init__(self, rule: JoinRule, settings: StoredSettings, *, operator: str) -> None:
        self._rule = rule
        self._settings = settings
        self._operator = operator
        self._probe_clock_us = NO_WATERMARK

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkJoinStore(handle, self._settings)

    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[JoinEmitted, pa.Table | None]:
        """Process the input of one micro-batch for one bucket."""
        bucket = Bucket(store=self._store, cache=_cache, name=self._name(key), token=_attempt())
        sides: tuple[list[RowBatch], list[RowBatch]] = ([], [])
        for frame in frames:
            for side, row_batch in zip(frame[SIDE_COLUMN], row_batches_of([frame]), strict=True):
                sides[int(side)].append(row_batch)
        joined = advance_join(self._rule, bucket, sides[PROBE], sides[BUILD], probe_clock_us=self._probe_clock_us)
        return joined, _with_watermark(joined)

    def _name(self, key: Any) -> tuple[str, str, int]:
        context = TaskContext.get()
        run = "" if context is None else str(context.getLocalProperty("spark.jobGroup.id"))
        return run, self._operator, int(key[0])


class WindowedJoinProcessor(TemporalJoinProcessor):
    """The join of window results, which carry no row watermarks: Spark emits them when its watermark passes.

    Spark passes the watermark of the operators upstream. All results at or below it have arrived with this micro-batch,
    those at or below the previous one arrived earlier.
    """

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803 - Spark's names
        """Yield the results of one batch for one bucket."""
        watermark_ms = int(timerValues.getCurrentWatermarkInMs())
        self._probe_clock_us = watermark_ms * _US_PER_MS if watermark_ms > 0 else NO_WATERMARK
        yield from super().handleInputRows(key, rows, timerValues)


def _attempt() -> str:
    """Return an id of this attempt at a micro-batch; task attempt ids are unique in an application."""
    context = TaskContext.get()
    if context is None:
        return ""
    return f"{context.getLocalProperty('streaming.sql.batchId')}-{context.taskAttemptId()}"


def _with_watermark(joined: JoinEmitted) -> pa.Table | None:
    """Return the rows with the row watermark as the last column; in processing time their own."""
    rows = joined.rows
    if rows is None:
        return None
    if ROW_WATERMARK_COLUMN not in rows.column_names:
        return rows.append_column(WATERMARK_COLUMN, pa.repeat(pa.scalar(joined.watermark_us), rows.num_rows))
    return rows.drop_columns([ROW_WATERMARK_COLUMN]).append_column(WATERMARK_COLUMN, rows.column(ROW_WATERMARK_COLUMN))


class _SparkJoinStore:
    """A bucket's state in Spark's state store; Spark's handle addresses the current bucket."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._header = StoredText(handle, settings)
        self.versions = NumberedSegments(handle, "versions")
        self.pending = NumberedSegments(handle, "pending")

    def header(self) -> JoinStateHeader:
        text = self._header.get()
        return JoinStateHeader() if text is None else JoinStateHeader.from_json(text)

    def put_header(self, header: JoinStateHeader) -> None:
        self._header.put(header.to_json())
