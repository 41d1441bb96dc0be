"""The decoder of Avro's binary datums of one writer's schema."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.avro.avro_engine import avro_engine
from datasources.formats.avro.resolution.resolve import resolve
from datasources.formats.avro.resolution.steps import Plan
from datasources.formats.avro.schema.avro_schema import AvroSchema
from datasources.formats.columns.record_engine import RecordEngine, wanted_fields


@dataclass(frozen=True, slots=True)
class AvroDatumDecoder:
    """Decodes records that were written with one schema, without a container around them.

    It is configuration until its first batch, and is pickled as such. Not thread-safe.

    Attributes:
        writer: the schema that the records were written with.
        columns: the columns with their nullability as declared; `columns_of` derives them from a schema.
        reader: the schema that the user expects, by whose names, aliases and defaults fields are found; None = columns
            take the writer's fields of their names.
        wanted: the columns to decode, the others are null; None decodes all. A record is bad or not regardless of it.
            The type of a STRUCT may have fewer fields than in `columns`.
        skip: bytes at the head of each payload that are not the record's, such as the id of its schema.

    Raises:
        SchemaError: the columns cannot take the writer's values, or lack one of `wanted`.
    """

    writer: AvroSchema
    columns: pa.Schema
    reader: AvroSchema | None = None
    wanted: tuple[pa.Field, ...] | None = None
    skip: int = 0
    _plan: Plan = field(init=False, repr=False, compare=False)
    _engine: list[RecordEngine] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        wanted_fields(self.columns, self.wanted)
        object.__setattr__(self, "_plan", resolve(self.writer, self.columns, self.reader))

    def __reduce__(self) -> tuple[object, ...]:
        return AvroDatumDecoder, (self.writer, self.columns, self.reader, self.wanted, self.skip)

    @property
    def schema(self) -> pa.Schema:
        """The columns; see `Decoder.schema`."""
        return self.columns

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`.

        Raises:
            RecordError: a column of the batch would need more than 2 GiB, which only symbols and defaults can bring
                about.
        """
        if not self._engine:
            wanted = wanted_fields(self.columns, self.wanted)
            self._engine.append(avro_engine(self._plan, self.columns, wanted, self.skip))
        return self._engine[0].decode(values.cast(pa.binary()))
