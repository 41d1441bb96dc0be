"""The bucket operator as Spark's transformWithState calls it: packets of a bucket in, packed results out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import packets_of
from datasources.spark.operators.buckets.bucket_processor import BucketProcessor
from datasources.spark.operators.buckets.bucket_variables import ListedParts
from datasources.spark.operators.buckets.row_batches import from_blob, to_blob
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.sessions.session_bucket import Emitted, advance
from datasources.spark.operators.sessions.session_state import Brief, Sessions
from datasources.spark.operators.sessions.session_step import SessionRule

__all__ = ["COUNTS", "SessionProcessor"]

COUNTS: Final = ("late_rows", "null_rowtime_rows")
"""What is counted per batch; the fields of `Emitted` of these names."""

_BRIEF: Final = StructType(
    [
        StructField("settings", StringType()),
        *(StructField(name, LongType()) for name in Brief.__dataclass_fields__),
    ]
)
_SESSIONS: Final = StructType([StructField("sessions", BinaryType()), StructField("fragments", BinaryType())])


class SessionProcessor(BucketProcessor):
    """Runs the rule on every bucket of a partition.

    Args:
        rule: what a session is.
        settings: what the state was made with; another state is refused.
    """

    counts = COUNTS

    def __init__(self, rule: SessionRule, settings: StoredSettings) -> None:
        self._rule = rule
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkStore(handle, self._settings)

    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[Emitted, pa.Table | None]:  # noqa: ARG002
        """Take everything that a batch holds for a bucket."""
        emitted = advance(self._rule, self._store, list(packets_of(frames)))
        return emitted, _stamped(emitted)


def _stamped(emitted: Emitted) -> pa.Table | None:
    if emitted.rows is None:
        return None
    stamps = pa.repeat(pa.scalar(emitted.stamp_us), emitted.rows.num_rows)
    return emitted.rows.append_column(WATERMARK_COLUMN, stamps)


class _SparkStore:
    """A bucket's state in Spark's state store; Spark's handle points at the bucket that is being processed."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._settings = settings
        self._brief = handle.getValueState("brief", _BRIEF)
        self._sessions = handle.getValueState("sessions", _SESSIONS)
        self._parts = ListedParts(handle, "rows")

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
        return self._parts.read()

    def put_brief(self, brief: Brief) -> None:
        self._brief.update((self._settings.text, *map(int, astuple(brief))))

    def put_sessions(self, sessions: Sessions) -> None:
        self._sessions.update((to_blob(sessions.table), to_blob(sessions.fragments)))

    def append_part(self, part: pa.Table) -> None:
        self._parts.append(part)

    def replace_parts(self, parts: Sequence[pa.Table]) -> None:
        self._parts.replace(parts)
