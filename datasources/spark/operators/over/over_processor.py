"""The OVER operator as a processor of Spark's transformWithState."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessorHandle

from datasources.spark.operators.buckets.bucket_batches import row_batches_of
from datasources.spark.operators.buckets.bucket_processor import BucketProcessor
from datasources.spark.operators.buckets.bucket_variables import ListedSegments, NumberedSegments, StoredText
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.over_bucket import OverEmitted, advance_over
from datasources.spark.operators.over.over_state import OverStateHeader

COUNTS: Final = ("late_rows", "null_rowtime_rows", "state_keys")
"""Counted per micro-batch: the fields of `OverEmitted` of these names."""


class OverProcessor(BucketProcessor):
    """Runs the rule on every bucket of a partition.

    The settings are stored with the state; state with other settings is refused.
    """

    counts = COUNTS

    def __init__(self, rule: OverRule, settings: StoredSettings) -> None:
        self._rule = rule
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkOverStore(handle, self._settings)

    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[OverEmitted, pa.Table | None]:  # noqa: ARG002
        """Process the input of one micro-batch for one bucket."""
        emitted = advance_over(self._rule, self._store, list(row_batches_of(frames)))
        return emitted, emitted.rows


class _SparkOverStore:
    """A bucket's state in Spark's state store; Spark's handle addresses the current bucket."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._header = StoredText(handle, settings)
        self._lists = {name: ListedSegments(handle, name) for name in ("keys", "retained")}
        self._waiting = NumberedSegments(handle, "waiting")

    def header(self) -> OverStateHeader:
        text = self._header.get()
        return OverStateHeader() if text is None else OverStateHeader.from_json(text)

    def put_header(self, header: OverStateHeader) -> None:
        self._header.put(header.to_json())

    def read(self, what: str) -> list[pa.Table]:
        return self._lists[what].read()

    def append(self, what: str, segment: pa.Table) -> None:
        self._lists[what].append(segment)

    def replace(self, what: str, segments: Sequence[pa.Table]) -> None:
        self._lists[what].replace(segments)

    def waiting(self, number: int) -> pa.Table:
        return self._waiting.read(number)

    def put_waiting(self, number: int, segment: pa.Table) -> None:
        self._waiting.write(number, segment)

    def remove_waiting(self, number: int) -> None:
        self._waiting.drop(number)
