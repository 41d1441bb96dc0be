"""The bucket operator of OVER as Spark's transformWithState calls it: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessorHandle

from datasources.spark.operators.buckets.bucket_batches import packets_of
from datasources.spark.operators.buckets.bucket_processor import BucketProcessor
from datasources.spark.operators.buckets.bucket_variables import ListedParts, NumberedParts, StoredText
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.over_bucket import OverEmitted, advance_over
from datasources.spark.operators.over.over_state import Brief

__all__ = ["COUNTS", "OverProcessor"]

COUNTS: Final = ("late_rows", "null_rowtime_rows", "state_keys")
"""What is counted per batch; the fields of `OverEmitted` of these names."""


class OverProcessor(BucketProcessor):
    """Runs the rule on every bucket of a partition.

    Args:
        rule: the window and its aggregates.
        settings: what the state was made with; another state is refused.
    """

    counts = COUNTS

    def __init__(self, rule: OverRule, settings: StoredSettings) -> None:
        self._rule = rule
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkStore(handle, self._settings)

    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[OverEmitted, pa.Table | None]:  # noqa: ARG002
        """Take everything that a batch holds for a bucket."""
        emitted = advance_over(self._rule, self._store, list(packets_of(frames)))
        return emitted, emitted.rows


class _SparkStore:
    """A bucket's state in Spark's state store; Spark's handle points at the bucket that is being processed."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._brief = StoredText(handle, settings)
        self._lists = {name: ListedParts(handle, name) for name in ("keys", "retained")}
        self._waiting = NumberedParts(handle, "waiting")

    def brief(self) -> Brief:
        text = self._brief.get()
        return Brief() if text is None else Brief.from_json(text)

    def put_brief(self, brief: Brief) -> None:
        self._brief.put(brief.to_json())

    def read(self, what: str) -> list[pa.Table]:
        return self._lists[what].read()

    def append(self, what: str, part: pa.Table) -> None:
        self._lists[what].append(part)

    def replace(self, what: str, parts: Sequence[pa.Table]) -> None:
        self._lists[what].replace(parts)

    def waiting(self, number: int) -> pa.Table:
        return self._waiting.read(number)

    def put_waiting(self, number: int, part: pa.Table) -> None:
        self._waiting.write(number, part)

    def remove_waiting(self, number: int) -> None:
        self._waiting.drop(number)
