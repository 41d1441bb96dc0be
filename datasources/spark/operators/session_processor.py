"""The bucket operator as Spark's transformWithState calls it: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from datasources.source.stamps import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.boundary import spark_errors
from datasources.spark.operators.packets import ROWS_OF_A_PACKET, from_blob, to_blob
from datasources.spark.operators.session_bucket import Emitted, Packet, advance
from datasources.spark.operators.session_state import Brief, Sessions
from datasources.spark.operators.session_turn import SessionRule
from datasources.spark.operators.stored_settings import StoredSettings

__all__ = ["SessionProcessor", "packets_of"]

_BRIEF: Final = StructType(
    [
        StructField("settings", StringType()),
        *(StructField(name, LongType()) for name in Brief.__dataclass_fields__),
    ]
)
_SESSIONS: Final = StructType([StructField("sessions", BinaryType()), StructField("fragments", BinaryType())])
_PART: Final = StructType([StructField("part", BinaryType())])


class SessionProcessor(StatefulProcessor):
    """Runs the rule on every bucket of a partition.

    Args:
        rule: what a session is.
        settings: what the state was made with; another state is refused.
    """

    def __init__(self, rule: SessionRule, settings: StoredSettings) -> None:
        self._rule = rule
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkStore(handle, self._settings)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the results of one batch for one bucket, as pandas DataFrames of one row."""
        with spark_errors():
            emitted = advance(self._rule, self._store, list(packets_of(rows)))
        for number, blob in enumerate(_packed(emitted)):
            result = {
                "clock_us": [emitted.clock_us],
                "late_rows": [0 if number else emitted.late_rows],
                "null_rowtime_rows": [0 if number else emitted.null_rowtime_rows],
                "rows": pa.array([blob], type=pa.binary()),
            }
            yield pa.table(result).to_pandas()

    def close(self) -> None:
        """Nothing is held but the state."""


def packets_of(frames: Iterator[Any]) -> Iterator[Packet]:
    """Return the packets that Spark hands over as pandas DataFrames."""
    for frame in frames:
        columns = (frame[name] for name in ("task", "number", "stamp_us", "null_rowtimes", "rows"))
        for task, number, stamp_us, null_rowtimes, blob in zip(*columns, strict=True):
            yield Packet(
                task=int(task),
                number=int(number),
                stamp_us=int(stamp_us),
                null_rowtimes=int(null_rowtimes),
                rows=None if blob is None else from_blob(blob),
            )


def _packed(emitted: Emitted) -> Iterator[bytes | None]:
    """Yield the rows in cells of bounded size; one empty cell if there are none."""
    if emitted.rows is None:
        yield None
        return
    count = emitted.rows.num_rows
    stamped = emitted.rows.append_column(WATERMARK_COLUMN, pa.repeat(pa.scalar(emitted.stamp_us), count))
    stamped = stamped.append_column(HEARTBEAT_COLUMN, pa.repeat(pa.scalar(False), count))
    for begin in range(0, count, ROWS_OF_A_PACKET):
        yield to_blob(stamped.slice(begin, ROWS_OF_A_PACKET))


class _SparkStore:
    """A bucket's state in Spark's state store; Spark's handle points at the bucket that is being processed."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._settings = settings
        self._brief = handle.getValueState("brief", _BRIEF)
        self._sessions = handle.getValueState("sessions", _SESSIONS)
        self._parts = handle.getListState("rows", _PART)

    def brief(self) -> Brief:
        if not self._brief.exists():
            return Brief()
        settings, *values = self._brief.get()
        self._settings.require_same(settings)
        return Brief(**dict(zip(Brief.__dataclass_fields__, values, strict=True)))

    def sessions(self) -> Sessions | None:
        if not self._sessions.exists():
            return None
        sessions, fragments = self._sessions.get()
        return Sessions.from_tables(from_blob(sessions), from_blob(fragments))

    def parts(self) -> list[pa.Table]:
        return [from_blob(part) for (part,) in self._parts.get()]

    def put_brief(self, brief: Brief) -> None:
        self._brief.update((self._settings.text, *map(int, astuple(brief))))

    def put_sessions(self, sessions: Sessions) -> None:
        self._sessions.update((to_blob(sessions.table), to_blob(sessions.fragments)))

    def append_part(self, part: pa.Table) -> None:
        self._parts.appendValue((to_blob(part),))

    def replace_parts(self, parts: Sequence[pa.Table]) -> None:
        if parts:
            self._parts.put([(to_blob(part),) for part in parts])
        else:
            self._parts.clear()
