"""A bucket's state in Spark's state store. Spark's handle points at the bucket that is being processed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from datasources.spark.operators.buckets.row_batches import from_blob, to_blob
from datasources.spark.operators.buckets.stored_settings import StoredSettings

__all__ = ["ListedParts", "NumberedParts", "StoredText"]

_TEXT: Final = StructType([StructField("settings", StringType()), StructField("brief", StringType())])
_NUMBER: Final = StructType([StructField("number", LongType())])
_PART: Final = StructType([StructField("part", BinaryType())])


class StoredText:
    """A small text, the brief, and the settings with which the state was made.

    Args:
        handle: Spark's.
        settings: those of the query; a text that was written with others is refused.
    """

    def __init__(self, handle: StatefulProcessorHandle, settings: StoredSettings) -> None:
        self._settings = settings
        self._value = handle.getValueState("brief", _TEXT)

    def get(self) -> str | None:
        """Return the text; None if none was ever put.

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


class ListedParts:
    """Parts in a row, which are appended, or replaced all at once.

    Args:
        handle: Spark's.
        name: of the state variable.
    """

    def __init__(self, handle: StatefulProcessorHandle, name: str) -> None:
        self._parts = handle.getListState(name, _PART)

    def read(self) -> list[pa.Table]:
        """Return all of them."""
        return [from_blob(part) for (part,) in self._parts.get()]

    def append(self, part: pa.Table) -> None:
        """Add one."""
        self._parts.appendValue((to_blob(part),))

    def replace(self, parts: Sequence[pa.Table]) -> None:
        """Replace all of them."""
        if parts:
            self._parts.put([(to_blob(part),) for part in parts])
        else:
            self._parts.clear()


class NumberedParts:
    """Parts by number, each of which is read, written and dropped by itself.

    Args:
        handle: Spark's.
        name: of the state variable.
    """

    def __init__(self, handle: StatefulProcessorHandle, name: str) -> None:
        self._parts = handle.getMapState(name, _NUMBER, _PART)

    def read(self, number: int) -> pa.Table:
        """Return one."""
        value = self._parts.getValue((number,))
        assert value is not None  # the brief names parts that are there
        return from_blob(value[0])

    def write(self, number: int, part: pa.Table) -> None:
        """Add or replace one."""
        self._parts.updateValue((number,), (to_blob(part),))

    def drop(self, number: int) -> None:
        """Remove one."""
        self._parts.removeKey((number,))
