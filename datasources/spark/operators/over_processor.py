"""The bucket operator of OVER as Spark's transformWithState calls it: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from datasources.source.stamps import HEARTBEAT_COLUMN
from datasources.spark.boundary import spark_errors
from datasources.spark.operators.over_bucket import OverEmitted, advance_over
from datasources.spark.operators.over_rule import OverRule
from datasources.spark.operators.over_state import Brief
from datasources.spark.operators.packets import ROWS_OF_A_PACKET, from_blob, to_blob
from datasources.spark.operators.session_processor import packets_of
from datasources.spark.operators.stored_settings import StoredSettings

__all__ = ["OVER_RESULT_SCHEMA", "OverProcessor"]

OVER_RESULT_SCHEMA: Final = (
    "clock_us BIGINT, late_rows BIGINT, null_rowtime_rows BIGINT, state_keys BIGINT, rows BINARY"
)
_BRIEF: Final = StructType([StructField("settings", StringType()), StructField("brief", StringType())])
_PART: Final = StructType([StructField("part", BinaryType())])
_NUMBER: Final = StructType([StructField("number", IntegerType())])


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
        for number, blob in enumerate(_packed(emitted)):
            result = {
                "clock_us": [emitted.clock_us],
                "late_rows": [0 if number else emitted.late_rows],
                "null_rowtime_rows": [0 if number else emitted.null_rowtime_rows],
                "state_keys": [0 if number else emitted.state_keys],
                "rows": pa.array([blob], type=pa.binary()),
            }
            yield pa.table(result).to_pandas()

    def close(self) -> None:
        """Nothing is held but the state."""


def _packed(emitted: OverEmitted) -> Iterator[bytes | None]:
    """Yield the rows in cells of bounded size; one empty cell if there are none."""
    if emitted.rows is None:
        yield None
        return
    count = emitted.rows.num_rows
    marked = emitted.rows.append_column(HEARTBEAT_COLUMN, pa.repeat(pa.scalar(False), count))
    for begin in range(0, count, ROWS_OF_A_PACKET):
        yield to_blob(marked.slice(begin, ROWS_OF_A_PACKET))


class _SparkStore:
    """A bucket's state in Spark's state store; Spark's handle points at the bucket that is being processed."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._settings = settings
        self._brief = handle.getValueState("brief", _BRIEF)
        self._lists = {name: handle.getListState(name, _PART) for name in ("keys", "retained")}
        self._waiting = handle.getMapState("waiting", _NUMBER, _PART)

    def brief(self) -> Brief:
        if not self._brief.exists():
            return Brief()
        settings, text = self._brief.get()
        self._settings.require_same(settings)
        return Brief.from_json(text)

    def put_brief(self, brief: Brief) -> None:
        self._brief.update((self._settings.text, brief.to_json()))

    def read(self, what: str) -> list[pa.Table]:
        return [from_blob(part) for (part,) in self._lists[what].get()]

    def append(self, what: str, part: pa.Table) -> None:
        self._lists[what].appendValue((to_blob(part),))

    def replace(self, what: str, parts: Sequence[pa.Table]) -> None:
        if parts:
            self._lists[what].put([(to_blob(part),) for part in parts])
        else:
            self._lists[what].clear()

    def waiting(self, number: int) -> pa.Table:
        (part,) = self._waiting.getValue((number,))
        return from_blob(part)

    def put_waiting(self, number: int, part: pa.Table) -> None:
        self._waiting.updateValue((number,), (to_blob(part),))

    def remove_waiting(self, number: int) -> None:
        self._waiting.removeKey((number,))
