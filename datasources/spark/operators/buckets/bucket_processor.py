"""What all operators on buckets are to Spark: a stateful processor that takes packets and gives packed results."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor

from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.buckets.bucket_batches import result_frames

__all__ = ["BucketProcessor"]


class _Emitted(Protocol):
    """What a bucket gives for a batch; it has what is counted as well."""

    @property
    def clock_us(self) -> int:
        """The watermark after the batch, µs."""
        ...


class BucketProcessor(StatefulProcessor):
    """Runs an operator on every bucket of a partition.

    Attributes:
        counts: what is counted per batch: fields of what a bucket gives.
    """

    counts: ClassVar[tuple[str, ...]]

    @abstractmethod
    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[_Emitted, pa.Table | None]:
        """Take everything that a batch holds for a bucket.

        Args:
            key: the bucket.
            frames: packets, as Spark hands them over.

        Returns:
            What the bucket gives, and the rows that leave with the stamp of each last.
        """

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the results of one batch for one bucket, as pandas DataFrames of one row."""
        with spark_errors():
            emitted, leaving = self.advance(key, rows)
        yield from result_frames(emitted.clock_us, {name: getattr(emitted, name) for name in self.counts}, leaving)

    def close(self) -> None:
        """Nothing is held but the state."""
        freeze_worker_heap()
