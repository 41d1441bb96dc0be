"""The format `debezium-json`: change events as Debezium writes them, decoded into the rows of a changelog.

An event is an envelope `{"before": row, "after": row, "op": "u", "ts_ms": ..., "source": {...}}`. What it gives:

| op | rows |
|---|---|
| c, r | `after` as +I |
| u | `before` as -U, then `after` as +U |
| d | `before` as -D |
| t | one row without values, T |

The envelope is a JSON object with a known schema, so the JSON decoder decodes it column by column; then rows are taken
from `before` and `after`. Source: Flink DebeziumJsonDeserializationSchema.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.debezium.change_events import Events, rows_of
from datasources.formats.debezium.schema_envelope import PayloadEngine
from datasources.formats.debezium.source_columns import (
    DEBEZIUM_METADATA,
    envelope_metadata,
    metadata_column,
)
from datasources.formats.json.json_engine import JsonEngine
from datasources.formats.json.json_types import check_json_types
from datasources.formats.values.session_zone import session_zone

__all__ = ["DEBEZIUM_METADATA", "DebeziumDecoder"]


@dataclass(frozen=True, slots=True)
class DebeziumDecoder:
    """Decodes Debezium's change events.

    It is configuration until its first batch, and is pickled as such. Not thread-safe.

    Attributes:
        row: the columns of the captured table, with their nullability: a null in a NOT NULL column makes an event bad
            in `after`. In `before` it does not, because databases send less of the row as it was.
        metadata: keys of `DEBEZIUM_METADATA` that are read.
        time_zone: of timestamps without a zone; None rejects them.
        has_schema: whether each record is `{"schema": ..., "payload": event}`.
        columns: the columns and keys to decode, the others are null; None decodes all. An event is bad or not
            regardless of it.

    Raises:
        SchemaError: the row has a type that JSON cannot carry.
        OptionError: there is no such time zone.
    """

    row: pa.Schema
    metadata: tuple[str, ...] = field(default=(), kw_only=True)
    time_zone: str | None = field(kw_only=True)
    has_schema: bool = field(default=False, kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True)
    _engine: list[JsonEngine | PayloadEngine] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        check_json_types(self.row)
        session_zone(self.time_zone)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.row, (self.metadata, self.time_zone, self.has_schema, self.columns))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the row, then the metadata, under their keys."""
        return pa.schema([*self.row, *(pa.field(key, DEBEZIUM_METADATA[key]) for key in self.metadata)])

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`. An update gives two rows."""
        envelope, wanted = self._envelope()
        if not self._engine:
            build = PayloadEngine if self.has_schema else JsonEngine
            self._engine.append(build(envelope, wanted, session_zone(self.time_zone)))
        found = self._engine[0].decode(values)
        parts = dict(zip((f.name for f in wanted), found.columns, strict=True))
        events = rows_of(parts["op"], parts["before"], parts["after"], found)
        return Decoded(
            columns=pa.RecordBatch.from_arrays(self._columns(parts, events), schema=self.schema),
            statuses=events.statuses,
            reasons=events.reasons,
            records=events.records,
            kinds=events.kinds,
        )

    def _columns(self, parts: dict[str, pa.Array], events: Events) -> list[pa.Array]:
        before, after = _fields(parts["before"]), _fields(parts["after"])
        arrays = []
        for column in self.row:
            if self._is_wanted(column.name):
                arrays.append(events.row_values(before[column.name], after[column.name]))
            else:
                arrays.append(pa.nulls(events.row_count, column.type))
        for key in self.metadata:
            if self._is_wanted(key):
                arrays.append(events.per_row(metadata_column(key, parts)))
            else:
                arrays.append(pa.nulls(events.row_count, DEBEZIUM_METADATA[key]))
        return arrays

    def _envelope(self) -> tuple[pa.Schema, list[pa.Field]]:
        """Return the schema that validates events, and the fields that are decoded."""
        before = pa.struct([f.with_nullable(True) for f in self.row])
        fields = [("before", before), ("after", pa.struct(list(self.row))), ("op", pa.string())]
        wanted = [f.name for f in self.row if self._is_wanted(f.name)] or self.row.names[:1]
        narrow = [pa.field(name, _narrowed(kind, wanted)) for name, kind in fields]
        checked = envelope_metadata(self.metadata)
        keys = [key for key in self.metadata if self._is_wanted(key)]
        needed = set(envelope_metadata(keys).names)
        schema = pa.schema([*(pa.field(name, kind) for name, kind in fields), *checked])
        return schema, [*narrow, *(f for f in checked if f.name in needed)]

    def _is_wanted(self, name: str) -> bool:
        return self.columns is None or name in self.columns


def _narrowed(kind: pa.DataType, wanted: Sequence[str]) -> pa.DataType:
    if not pa.types.is_struct(kind):
        return kind
    return pa.struct([f for f in kind if f.name in wanted])


def _fields(rows: pa.StructArray) -> dict[str, pa.Array]:
    return dict(zip((f.name for f in rows.type), rows.flatten(), strict=True))


def _unpickled(
    row: pa.Schema, state: tuple[tuple[str, ...], str | None, bool, tuple[str, ...] | None]
) -> DebeziumDecoder:
    metadata, time_zone, has_schema, columns = state
    return DebeziumDecoder(row, metadata=metadata, time_zone=time_zone, has_schema=has_schema, columns=columns)
