"""The envelope around a change event, whichever way it is written: its fields, and the rows that its values become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.debezium.change_events import Checked, Events, rows_of
from datasources.formats.debezium.source_columns import DEBEZIUM_METADATA, envelope_metadata, metadata_column


@dataclass(frozen=True, slots=True)
class Envelope:
    """The fields of events, and what is wanted of them.

    Attributes:
        row: the columns of the captured table, with their nullability: a null in a NOT NULL column makes an event bad
            in `after`. In `before` it does not, because databases send less of the row as it was.
        metadata: keys of `DEBEZIUM_METADATA` that are read.
        columns: the columns and keys to decode, the others are null; None decodes all. An event is bad or not
            regardless of it.
    """

    row: pa.Schema
    metadata: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None

    @property
    def decoded_schema(self) -> pa.Schema:
        """The columns of the row, then the metadata, under their keys."""
        return pa.schema([*self.row, *(pa.field(key, DEBEZIUM_METADATA[key]) for key in self.metadata)])

    @property
    def schema(self) -> pa.Schema:
        """The schema that validates events."""
        checked = envelope_metadata(self.metadata)
        return pa.schema([*(pa.field(name, kind) for name, kind in self._events().items()), *checked])

    @property
    def wanted(self) -> list[pa.Field]:
        """The fields that are decoded, in narrower types if columns are not wanted."""
        wanted = [f.name for f in self.row if self._is_wanted(f.name)] or self.row.names[:1]
        narrow = [pa.field(name, _narrowed(kind, wanted)) for name, kind in self._events().items()]
        needed = set(envelope_metadata([key for key in self.metadata if self._is_wanted(key)]).names)
        return [*narrow, *(f for f in envelope_metadata(self.metadata) if f.name in needed)]

    def rows(self, fields: Mapping[str, pa.Array], found: Checked, hint: str) -> Decoded:
        """Return the rows of events.

        Args:
            fields: of the events, at least those that are wanted.
            found: which events were decoded.
            hint: ends the reason of a record that is no event.
        """
        events = rows_of(fields["op"], fields["before"], fields["after"], found, hint)
        return Decoded(
            columns=pa.RecordBatch.from_arrays(self._columns(fields, events), schema=self.decoded_schema),
            statuses=events.statuses,
            reasons=events.reasons,
            records=events.records,
            kinds=events.kinds,
        )

    def _events(self) -> dict[str, pa.DataType]:
        before = pa.struct([f.with_nullable(True) for f in self.row])
        return {"before": before, "after": pa.struct(list(self.row)), "op": pa.string()}

    def _columns(self, fields: Mapping[str, pa.Array], events: Events) -> list[pa.Array]:
        before, after = _fields(fields["before"]), _fields(fields["after"])
        arrays = []
        for column in self.row:
            if self._is_wanted(column.name):
                arrays.append(events.row_values(before[column.name], after[column.name]))
            else:
                arrays.append(pa.nulls(events.row_count, column.type))
        for key in self.metadata:
            if self._is_wanted(key):
                arrays.append(events.per_row(metadata_column(key, fields)))
            else:
                arrays.append(pa.nulls(events.row_count, DEBEZIUM_METADATA[key]))
        return arrays

    def _is_wanted(self, name: str) -> bool:
        return self.columns is None or name in self.columns


def _narrowed(kind: pa.DataType, wanted: Sequence[str]) -> pa.DataType:
    if not pa.types.is_struct(kind):
        return kind
    return pa.struct([f for f in kind if f.name in wanted])


def _fields(rows: pa.StructArray) -> dict[str, pa.Array]:
    return dict(zip((f.name for f in rows.type), rows.flatten(), strict=True))
