"""The format `debezium-avro-confluent`: change events in Avro, whose schemas a registry has.

The envelope is an Avro record, so Avro's decoder decodes it column by column; the rules of rows and metadata are those
of `debezium-json`. Source: Flink DebeziumAvroDeserializationSchema.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.api.decoder import Decoded
from datasources.formats.avro.avro_confluent import AvroConfluentDecoder
from datasources.formats.avro.schema.avro_columns import columns_of
from datasources.formats.avro.schema.avro_schema import AvroSchema
from datasources.formats.avro.schema.avro_types import AvroKind
from datasources.formats.debezium.envelope import Envelope
from datasources.formats.registry.registry_options import RegistrySettings

_AFTER: Final = "after"
_HINT: Final = "; records that are rows and no events have the format 'avro-confluent'"


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumAvroDecoder:
    """Decodes Debezium's change events of any number of schemas.

    It is configuration until its first batch, and is pickled as such. Not thread-safe.

    Attributes:
        envelope: what is decoded.
        registry: how the registry is reached.
        reader: the schema of events that is expected; see `AvroDatumDecoder`.
    """

    envelope: Envelope
    registry: RegistrySettings
    reader: AvroSchema | None = None
    _events: list[AvroConfluentDecoder] = field(init=False, repr=False, compare=False, default_factory=list)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.envelope, self.registry, self.reader)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the row, then the metadata, under their keys."""
        return self.envelope.decoded_schema

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`. An update gives two rows.

        Raises:
            SourceUnavailable: the registry does not answer, and one of the schemas was not asked before.
        """
        if not self._events:
            wanted = tuple(self.envelope.wanted)
            self._events.append(
                AvroConfluentDecoder(
                    schema=self.envelope.schema, registry=self.registry, reader=self.reader, columns=wanted
                )
            )
        found = self._events[0].decode(values)
        fields = dict(zip(found.columns.schema.names, found.columns.columns, strict=True))
        return self.envelope.rows(fields, found, _HINT)


def columns_of_row(schema: AvroSchema) -> pa.Schema:
    """Return the columns of the captured table: those of the record `after` in the schema of its events.

    Raises:
        SchemaError: it is no schema of events, or a field has a type that no column holds.
    """
    for each in schema.type.fields:
        records = [branch for branch in each.type.branches if branch.kind is AvroKind.RECORD]
        if each.name == _AFTER and len(records) == 1:
            return columns_of(replace(schema, type=records[0]))
    raise SchemaError(f"it is no schema of Debezium's events: it has no field '{_AFTER}' that is a record")


def _unpickled(envelope: Envelope, registry: RegistrySettings, reader: AvroSchema | None) -> DebeziumAvroDecoder:
    return DebeziumAvroDecoder(envelope=envelope, registry=registry, reader=reader)
