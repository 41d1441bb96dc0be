"""Base of the stateful processors of bucket operators: row batches in, packed results out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor

from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.buckets.bucket_batches import result_frames


class _Counts(Protocol):
    """The output of a bucket for one micro-batch; its fields include the counts."""

    @property
    def clock_us(self) -> int:
        """The watermark after the batch, µs."""
        ...


class BucketProcessor(StatefulProcessor):
    """Runs an operator on every bucket of a partition."""

    counts: ClassVar[tuple[str, ...]]

    @abstractmethod
    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[_Counts, pa.Table | None]:
        """Process the input of one micro-batch for one bucket.

        Returns:
            The output, and the emitted rows with the row watermark as the last column.
        """

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the results of one micro-batch for one bucket, as pandas DataFrames of one row."""
        with spark_errors():
            emitted, leaving = self.advance(key, rows)
        yield from result_frames(emitted.clock_us, {name: getattr(emitted, name) for name in self.counts}, leaving)

    def close(self) -> None:
        """Close: only the state store holds resources."""
        freeze_worker_heap()
