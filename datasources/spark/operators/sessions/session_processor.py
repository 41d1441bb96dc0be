"""The session window operator as a processor of Spark's transformWithState."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from datasources.source.reading.row_blobs import from_blob, rows_of, to_blob
from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import row_batches_of
from datasources.spark.operators.buckets.bucket_processor import BucketProcessor
from datasources.spark.operators.buckets.bucket_variables import ListedSegments
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.sessions.session_bucket import SessionEmitted, advance_sessions
from datasources.spark.operators.sessions.session_groups import SessionGroups
from datasources.spark.operators.sessions.session_state import Sessions, SessionStateHeader
from datasources.spark.operators.sessions.session_step import SessionRule

COUNTS: Final = ("late_rows", "null_rowtime_rows")
"""Counted per micro-batch: the fields of `SessionEmitted` of these names."""

_STORED_NAMES: Final = {"segments": "parts"}
"""Fields whose name in checkpoints differs."""

_HEADER: Final = StructType(
    [
        StructField("settings", StringType()),
        *(StructField(_STORED_NAMES.get(name, name), LongType()) for name in SessionStateHeader.__dataclass_fields__),
    ]
)
_SESSIONS: Final = StructType([StructField("sessions", BinaryType()), StructField("fragments", BinaryType())])


class SessionProcessor(BucketProcessor):
    """Runs the rule on every bucket of a partition.

    The settings are stored with the state; state with other settings is refused.
    """

    counts = COUNTS

    def __init__(self, rule: SessionRule, settings: StoredSettings) -> None:
        self._rule = rule
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._store = _SparkSessionStore(handle, self._settings, self._rule.groups)

    def advance(self, key: Any, frames: Iterator[Any]) -> tuple[SessionEmitted, pa.Table | None]:  # noqa: ARG002
        """Process the input of one micro-batch for one bucket."""
        emitted = advance_sessions(self._rule, self._store, list(row_batches_of(frames)))
        return emitted, _with_watermark(emitted)


def _with_watermark(emitted: SessionEmitted) -> pa.Table | None:
    if emitted.rows is None:
        return None
    watermarks = pa.repeat(pa.scalar(emitted.watermark_us), emitted.rows.num_rows)
    return emitted.rows.append_column(WATERMARK_COLUMN, watermarks)


class _SparkSessionStore:
    """A bucket's state in Spark's state store; Spark's handle addresses the current bucket."""

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings, groups: SessionGroups | None) -> None:
        self._settings = settings
        self._groups = groups
        self._header = handle.getValueState("brief", _HEADER)
        self._sessions = handle.getValueState("sessions", _SESSIONS)
        self._segments = ListedSegments(handle, "rows")

    def header(self) -> SessionStateHeader:
        if not self._header.exists():
            return SessionStateHeader()
        settings, *values = self._header.get()
        self._settings.require_same(settings)
        if self._groups is not None and self._settings.is_other(settings):
            self._segments.replace(list(map(self._groups.of_stored_rows, self._segments.read())))
        return SessionStateHeader(**dict(zip(SessionStateHeader.__dataclass_fields__, values, strict=True)))

    def sessions(self) -> Sessions | None:
        if not self._sessions.exists():
            return None
        sessions, fragments = self._sessions.get()
        return Sessions.from_tables(rows_of(sessions), from_blob(fragments))

    def segments(self) -> list[pa.Table]:
        return self._segments.read()

    def put_header(self, header: SessionStateHeader) -> None:
        self._header.update((self._settings.text, *map(int, astuple(header))))

    def put_sessions(self, sessions: Sessions) -> None:
        self._sessions.update((to_blob(sessions.table), to_blob(sessions.fragments)))

    def append_segment(self, segment: pa.Table) -> None:
        self._segments.append(segment)

    def replace_segments(self, segments: Sequence[pa.Table]) -> None:
        self._segments.replace(segments)
