"""The temporal joins as Spark's transformWithState calls them: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from datasources.source.stamps import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.boundary import spark_errors
from datasources.spark.operators.packets import ROWS_OF_A_PACKET, STAMP_COLUMN, from_blob, to_blob
from datasources.spark.operators.session_bucket import Packet
from datasources.spark.operators.stored_settings import StoredSettings
from datasources.spark.operators.temporal_bucket import Bucket, Joined, advance
from datasources.spark.operators.temporal_state import JoinBrief, JoinRule
from datasources.spark.operators.version_cache import VersionCache
from datasources.spark.plan_walk import SIDE_COLUMN

__all__ = ["BUILD", "COUNTS", "JOIN_RESULT_SCHEMA", "PROBE", "TemporalJoinProcessor"]

PROBE: Final = 0
BUILD: Final = 1
COUNTS: Final = ("late_probe_rows", "late_build_rows", "null_rowtime_rows", "null_key_build_rows")
"""What is counted per batch; the fields of `Joined` of these names."""
JOIN_RESULT_SCHEMA: Final = f"clock_us BIGINT, {', '.join(f'{name} BIGINT' for name in COUNTS)}, rows BINARY"

_BRIEF: Final = StructType([StructField("settings", StringType()), StructField("brief", StringType())])
_NUMBER: Final = StructType([StructField("number", LongType())])
_PART: Final = StructType([StructField("part", BinaryType())])

_cache: Final = (
    VersionCache()
)  # of the process: a processor lives for one task, what it decoded is of use to later ones


class TemporalJoinProcessor(StatefulProcessor):
    """Runs the join on every bucket of a partition.

    Args:
        rule: what the join is.
        settings: what the state was made with; another state is refused.
        operator: names this operator, unlike every other of this and every other run.
    """

    def __init__(self, rule: JoinRule, settings: StoredSettings, *, operator: str) -> None:
        self._rule = rule
        self._settings = settings
        self._operator = operator

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkJoinStore(handle, self._settings)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the results of one batch for one bucket, as pandas DataFrames of one row."""
        bucket = Bucket(store=self._store, cache=_cache, name=self._name(key), token=_attempt())
        sides: tuple[list[Packet], list[Packet]] = ([], [])
        for side, packet in _packets(rows):
            sides[side].append(packet)
        with spark_errors():
            joined = advance(self._rule, bucket, sides[PROBE], sides[BUILD])
        for number, blob in enumerate(_packed(joined)):
            result = {
                "clock_us": [joined.clock_us],
                **{name: [0 if number else getattr(joined, name)] for name in COUNTS},
                "rows": pa.array([blob], type=pa.binary()),
            }
            yield pa.table(result).to_pandas()

    def close(self) -> None:
        """Nothing is held but the state."""

    def _name(self, key: Any) -> tuple[str, str, int]:
        context = TaskContext.get()
        run = "" if context is None else str(context.getLocalProperty("spark.jobGroup.id"))
        return run, self._operator, int(key[0])


def _attempt() -> str:
    """Name this attempt at a batch; in an application no two tasks have the same attempt id."""
    context = TaskContext.get()
    if context is None:
        return ""
    return f"{context.getLocalProperty('streaming.sql.batchId')}-{context.taskAttemptId()}"


def _packets(frames: Iterator[Any]) -> Iterator[tuple[int, Packet]]:
    for frame in frames:
        columns = (frame[name] for name in (SIDE_COLUMN, "task", "number", "stamp_us", "null_rowtimes", "rows"))
        for side, task, number, stamp_us, null_rowtimes, blob in zip(*columns, strict=True):
            packet = Packet(
                task=int(task),
                number=int(number),
                stamp_us=int(stamp_us),
                null_rowtimes=int(null_rowtimes),
                rows=None if blob is None else from_blob(blob),
            )
            yield int(side), packet


def _packed(joined: Joined) -> Iterator[bytes | None]:
    """Yield the rows in cells of bounded size; one empty cell if there are none."""
    if joined.rows is None:
        yield None
        return
    rows = joined.rows
    count = rows.num_rows
    if STAMP_COLUMN in rows.column_names:  # processing time: each row keeps its own
        stamps = rows.column(STAMP_COLUMN)
        rows = rows.drop_columns([STAMP_COLUMN])
    else:
        stamps = pa.repeat(pa.scalar(joined.stamp_us), count)
    stamped = rows.append_column(WATERMARK_COLUMN, stamps)
    stamped = stamped.append_column(HEARTBEAT_COLUMN, pa.repeat(pa.scalar(False), count))
    for begin in range(0, count, ROWS_OF_A_PACKET):
        yield to_blob(stamped.slice(begin, ROWS_OF_A_PACKET))


class _SparkParts:
    """Parts in a state variable that maps numbers to blobs."""

    def __init__(self, handle: StatefulProcessorHandle, name: str) -> None:
        self._parts = handle.getMapState(name, _NUMBER, _PART)

    def read(self, number: int) -> pa.Table:
        value = self._parts.getValue((number,))
        assert value is not None  # the brief names parts that are there
        return from_blob(value[0])

    def write(self, number: int, table: pa.Table) -> None:
        self._parts.updateValue((number,), (to_blob(table),))

    def drop(self, number: int) -> None:
        self._parts.removeKey((number,))


class _SparkJoinStore:
    """A bucket's state in Spark's state store; Spark's handle points at the bucket that is being processed."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._settings = settings
        self._brief = handle.getValueState("brief", _BRIEF)
        self.versions = _SparkParts(handle, "versions")
        self.pending = _SparkParts(handle, "pending")

    def brief(self) -> JoinBrief:
        if not self._brief.exists():
            return JoinBrief()
        settings, text = self._brief.get()
        self._settings.require_same(settings)
        return JoinBrief.from_json(text)

    def put_brief(self, brief: JoinBrief) -> None:
        self._brief.update((self._settings.text, brief.to_json()))
