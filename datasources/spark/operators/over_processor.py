"""The bucket operator of OVER as Spark's transformWithState calls it: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from datasources.spark.boundary import spark_errors
from datasources.spark.operators.bucket_packets import packets_of, result_frames
from datasources.spark.operators.bucket_variables import ListedParts, NumberedParts, StoredText
from datasources.spark.operators.over_bucket import advance_over
from datasources.spark.operators.over_rule import OverRule
from datasources.spark.operators.over_state import Brief
from datasources.spark.operators.stored_settings import StoredSettings

__all__ = ["COUNTS", "OverProcessor"]

COUNTS: Final = ("late_rows", "null_rowtime_rows", "state_keys")
"""What is counted per batch; the fields of `OverEmitted` of these names."""


class OverProcessor(StatefulProcessor):
    """Runs the rule on every bucket of a partition.

    Args:
        rule: the window and its aggregates.
        settings: what the state was made with; another state is refused.
    """

    def __init__(self, rule: OverRule, settings: StoredSettings) -> None:
        self._rule = rule
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkStore(handle, self._settings)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the results of one batch for one bucket, as pandas DataFrames of one row."""
        with spark_errors():
            emitted = advance_over(self._rule, self._store, list(packets_of(rows)))
        counts = {name: getattr(emitted, name) for name in COUNTS}
        yield from result_frames(emitted.clock_us, counts, emitted.rows)

    def close(self) -> None:
        """Nothing is held but the state."""


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
