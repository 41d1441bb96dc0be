"""The adapter to Spark's batch reader: the same table, read once from its beginning to its end.

A batch has no watermark but the final one: there are no row watermarks, heartbeat rows or reports. Nor has it a
checkpoint: dead letters are written once for each planning, and Spark plans a DataFrame once that is loaded once.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from datasources.source.api.connector_state import BoundedPart, PlansBoundedRead
from datasources.source.api.split import SplitId
from datasources.source.reading.divided_ranges import divided
from datasources.source.reading.task import TaskReader
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.spark.adapter.partition import TaskPartition
from datasources.spark.boundary.errors import spark_entry, spark_errors
from datasources.spark.boundary.package_version import PackageVersion
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.scan.scan import Scan
from watermark import MIN_WATERMARK

_ID_BYTES: Final = 8


class TidemarkBatchReader(DataSourceReader):
    """Reads one scan as a bounded table."""

    def __init__(self, scan: Scan, output: pa.Schema) -> None:
        self._version = PackageVersion()  # the first field: an executor of another version stops at it
        self._scan = scan
        self._output = output

    @spark_entry
    def partitions(self) -> list[InputPartition]:
        """Return one partition per split that holds anything between the start and the end."""
        enumerator = self._scan.source.enumerator(is_batch=True)
        try:
            if isinstance(enumerator, PlansBoundedRead):
                return [TaskPartition(_plan_of(part)) for part in enumerator.bounded_parts()]
            starts = enumerator.start_positions()
            ends = enumerator.limits() or {}
        finally:
            enumerator.close()
        tasks = [_task(split, start, ends[split]) for split, start in starts.items() if start < ends[split]]
        division, dead_letters = self._scan.source.division, secrets.token_hex(_ID_BYTES)
        plans = map(_plan, tasks if division is None else divided(tasks, division))
        return [TaskPartition(replace(plan, dead_letters=dead_letters)) for plan in plans]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one partition's batches; an empty table has one partition without a plan."""
        if not isinstance(partition, TaskPartition):
            return
        with spark_errors():
            source = self._scan.source
            reader = TaskReader(
                factory=source.reader_factory(),
                strategy=source.strategy,
                output=OutputSchema(self._output),
                condition=self._scan.condition,
                replacement=self._scan.replacement,
            )
            yield from reader.run(partition.plan, lambda _: None)
            freeze_worker_heap()


def _task(split: SplitId, start: int, end: int) -> SplitTask:
    return SplitTask(
        split=split, known_at=start, start=start, end=end, watermark_us=MIN_WATERMARK, others_us=MIN_WATERMARK
    )


def _plan(task: SplitTask) -> TaskPlan:
    return TaskPlan(sequence=0, splits=(task,), combined_us=MIN_WATERMARK, ceiling_us=None, heartbeat=False)


def _plan_of(part: BoundedPart) -> TaskPlan:
    return replace(_plan(_task(part.split, part.start, part.end)), state=part.state)
