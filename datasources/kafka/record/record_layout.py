"""Where each column of a row comes from: the value, the key, or the record itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from datasources.formats.api.compression import DEFAULT_MAX_BYTES, Compression
from datasources.formats.api.format import Format
from datasources.formats.format_table import DEFAULT_FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLayout:
    """Which part of a record holds which columns. A column may be in both key and value.

    Attributes:
        value_format: how values are decoded; ignored without value columns.
        value_columns: the columns in the value.
        key_format: how keys are decoded; None = they are not.
        key_columns: the columns in the key, each with its name there.
        raw_columns: the raw columns, as in Spark's source; beside value columns only the headers.
        metadata: the metadata columns, each with its key.
        is_upsert: whether a record without a value deletes the row of its key.
        value_options: those of the value format that its decoder needs, key and value.
        key_options: the same of the key format.
        compression: how values are compressed before they have their format.
        max_decompressed_bytes: of a value.
    """

    value_format: Format = DEFAULT_FORMAT
    value_columns: tuple[str, ...] = ()
    key_format: Format | None = None
    key_columns: tuple[tuple[str, str], ...] = ()
    raw_columns: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    is_upsert: bool = False
    value_options: tuple[tuple[str, Any], ...] = ()
    key_options: tuple[tuple[str, Any], ...] = ()
    compression: Compression = Compression.NONE
    max_decompressed_bytes: int = DEFAULT_MAX_BYTES

    @property
    def only_in_key(self) -> tuple[str, ...]:
        """The columns that the value does not hold."""
        return tuple(column for column, _ in self.key_columns if column not in self.value_columns)
