"""The format `avro-confluent`: each record names the schema of its writer, which a registry has."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.api.decoder import Decoded
from datasources.formats.avro.avro_decoder import AvroDatumDecoder
from datasources.formats.avro.schema.avro_schema import AvroSchema, parse_avro_schema
from datasources.formats.registry.record_groups import RecordGroup, decode_groups
from datasources.formats.registry.registry_options import RegistrySettings
from datasources.formats.registry.schema_registry import RegisteredText, SchemaRegistry, UnknownSchemaError
from datasources.formats.registry.wire_format import HEADER_BYTES, headers_of, taken

KIND = "AVRO"


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroConfluentDecoder:
    """Decodes records of any number of schemas into the same columns.

    It is configuration until its first batch, and is pickled as such. A record whose schema is unknown, or does not fit
    the columns, is a bad one. Not thread-safe.

    Attributes:
        schema: the columns with their nullability as declared.
        registry: how the registry is reached.
        reader: the schema that is expected; see `AvroDatumDecoder`.
        columns: the columns to decode, the others are null; None = all.
    """

    schema: pa.Schema
    registry: RegistrySettings
    reader: AvroSchema | None = None
    columns: tuple[pa.Field, ...] | None = None
    _client: list[SchemaRegistry] = field(init=False, repr=False, compare=False, default_factory=list)
    _decoders: dict[int, AvroDatumDecoder | str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.schema, self.registry, self.reader, self.columns)

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`.

        Raises:
            SourceUnavailable: the registry does not answer, and one of the schemas was not asked before.
        """
        values = values.cast(pa.binary())
        headers = headers_of(values)
        single = headers.single_id()
        if single is not None and not isinstance(decoder := self._decoder(single), str):
            return decoder.decode(values)
        groups = [
            RecordGroup(self._decoder(schema_id), rows, taken(values, rows)) for schema_id, rows in headers.by_id()
        ]
        return decode_groups(self.schema, values, groups, headers.reasons)

    def _decoder(self, schema_id: int) -> AvroDatumDecoder | str:
        """Return what decodes the records of a schema, or why they are bad."""
        if schema_id not in self._decoders:
            self._decoders[schema_id] = self._opened(schema_id)
        return self._decoders[schema_id]

    def _opened(self, schema_id: int) -> AvroDatumDecoder | str:
        if not self._client:
            self._client.append(SchemaRegistry(self.registry))
        try:
            writer = parsed(self._client[0].schema(schema_id, KIND))
            return AvroDatumDecoder(writer, self.schema, self.reader, self.columns, HEADER_BYTES)
        except UnknownSchemaError as error:
            return str(error)
        except SchemaError as error:
            return f"its schema, which has the id {schema_id}, does not fit: {error.message}"


def parsed(registered: RegisteredText) -> AvroSchema:
    """Return a registered schema, which is a writer's: its defaults do not matter.

    Raises:
        SchemaError: it is no valid Avro schema.
    """
    references = [text for _, text in registered.references]
    return parse_avro_schema(registered.text, references, validate_defaults=False)


def _unpickled(
    schema: pa.Schema, registry: RegistrySettings, reader: AvroSchema | None, columns: tuple[pa.Field, ...] | None
) -> AvroConfluentDecoder:
    return AvroConfluentDecoder(schema=schema, registry=registry, reader=reader, columns=columns)
