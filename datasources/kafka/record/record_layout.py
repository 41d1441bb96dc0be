"""Where each column of a row comes from: the value, the key, or the record itself."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from datasources.kafka.record.raw_columns import RAW_COLUMNS
from datasources.kafka.record.record_options import KeyFormat, ValueFormat

__all__ = ["RecordLayout", "plain_layout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLayout:
    """Which part of a record holds which columns. A column may be in both key and value.

    Attributes:
        value_format: how values are decoded; ignored without value columns.
        value_columns: the columns in the value.
        key_format: how keys are decoded; None = they are not.
        key_columns: the columns in the key, each with its name there.
        raw_columns: the raw columns, as in Spark's source.
        metadata: the metadata columns, each with its key.
        is_upsert: whether a record without a value deletes the row of its key.
        has_schema: whether Debezium's events are wrapped in a schema.
    """

    value_format: ValueFormat = ValueFormat.RAW
    value_columns: tuple[str, ...] = ()
    key_format: KeyFormat | None = None
    key_columns: tuple[tuple[str, str], ...] = ()
    raw_columns: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    is_upsert: bool = False
    has_schema: bool = False

    @property
    def only_in_key(self) -> tuple[str, ...]:
        """The columns that the value does not hold."""
        return tuple(column for column, _ in self.key_columns if column not in self.value_columns)


def plain_layout(schema: pa.Schema, *, is_json: bool) -> RecordLayout:
    """Return the layout of records whose columns are all members of a JSON value, or all raw columns."""
    names = tuple(schema.names)
    if is_json:
        return RecordLayout(value_format=ValueFormat.JSON, value_columns=names)
    return RecordLayout(raw_columns=tuple(name for name in names if name in RAW_COLUMNS))
