"""A bucket's state in Spark's state store. Spark's handle points at the bucket that is being processed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from datasources.source.reading.row_blobs import from_blob, rows_of, to_blob
from datasources.spark.operators.buckets.stored_settings import StoredSettings

_TEXT: Final = StructType([StructField("settings", StringType()), StructField("brief", StringType())])
_NUMBER: Final = StructType([StructField("number", LongType())])
_SEGMENT: Final = StructType([StructField("part", BinaryType())])


class StoredText:
    """The state header as text, stored with the settings of the query.

    Text that was written with other settings is refused.
    """

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._settings = settings
        self._value = handle.getValueState("brief", _TEXT)

    def get(self) -> str | None:
        """Return the text; None if there is none.

        Raises:
            OffsetError: it was written with other settings.
        """
        if not self._value.exists():
            return None
        settings, text = self._value.get()
        self._settings.require_same(settings)
        return str(text)

    def put(self, text: str) -> None:
        """Replace it."""
        self._value.update((self._settings.text, text))


class ListedSegments:
    """A list of segments: appended one by one, or replaced as a whole."""

    def __init__(self, handle: StatefulProcessorHandle, name: str) -> None:
        self._segments = handle.getListState(name, _SEGMENT)

    def read(self) -> list[pa.Table]:
        """Return all of them."""
        return [rows_of(segment) for (segment,) in self._segments.get()]

    def append(self, segment: pa.Table) -> None:
        """Add one."""
        self._segments.appendValue((to_blob(segment),))

    def replace(self, segments: Sequence[pa.Table]) -> None:
        """Replace all of them."""
        if segments:
            self._segments.put([(to_blob(segment),) for segment in segments])
        else:
            self._segments.clear()


class _NumberedBlobs:
    """Binary values by number."""

    def __init__(self, handle: StatefulProcessorHandle, name: str) -> None:
        self._segments = handle.getMapState(name, _NUMBER, _SEGMENT)

    def _get(self, number: int) -> bytes:
        value = self._segments.getValue((number,))
        assert value is not None  # the state header names existing segments only
        blob: bytes = value[0]
        return blob

    def _put(self, number: int, segment: pa.Table) -> bytes:
        blob = to_blob(segment)
        self._segments.updateValue((number,), (blob,))
        return blob

    def drop(self, number: int) -> None:
        """Remove one."""
        self._segments.removeKey((number,))


class NumberedSegments(_NumberedBlobs):
    """Segments by number, read in the one form of rows that may come from anywhere."""

    def read(self, number: int) -> pa.Table:
        """Return one."""
        return rows_of(self._get(number))

    def write(self, number: int, segment: pa.Table) -> None:
        """Add or replace one."""
        self._put(number, segment)


class NumberedTables(_NumberedBlobs):
    """Tables by number, read as they were written."""

    def read(self, number: int) -> pa.Table:
        """Return one."""
        return from_blob(self._get(number))

    def write(self, number: int, table: pa.Table) -> pa.Table:
        """Add or replace one; return it as `read` does."""
        return from_blob(self._put(number, table))
