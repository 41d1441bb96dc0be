"""The decoder of Protobuf's messages of one type."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.columns.record_engine import RecordEngine, wanted_fields
from datasources.formats.protobuf.linking.link import LinkRules, link
from datasources.formats.protobuf.linking.steps import Plan
from datasources.formats.protobuf.protobuf_engine import protobuf_engine
from datasources.formats.protobuf.schema.message_type import MessageType

_NO_RULES = LinkRules()


@dataclass(frozen=True, slots=True)
class ProtobufDecoder:
    """Decodes records each of which is a message, without a length or a header before it.

    It is configuration until its first batch, and is pickled as such. Not thread-safe.

    Attributes:
        message: the type of the messages.
        columns: the columns with their nullability as declared; `columns_of` derives them from a message.
        rules: how columns find their values.
        wanted: the columns to decode, the others are null; None decodes all. A record is bad or not regardless of it.
            The type of a STRUCT may have fewer fields than in `columns`.

    Raises:
        SchemaError: the columns cannot take the fields' values, or lack one of `wanted`.
    """

    message: MessageType
    columns: pa.Schema
    rules: LinkRules = _NO_RULES
    wanted: tuple[pa.Field, ...] | None = None
    _plan: Plan = field(init=False, repr=False, compare=False)
    _engine: list[RecordEngine] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        wanted_fields(self.columns, self.wanted)
        object.__setattr__(self, "_plan", link(self.message.descriptor, self.columns, self.rules))

    def __reduce__(self) -> tuple[object, ...]:
        return ProtobufDecoder, (self.message, self.columns, self.rules, self.wanted)

    @property
    def schema(self) -> pa.Schema:
        """The columns; see `Decoder.schema`."""
        return self.columns

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`.

        Raises:
            RecordError: a column of the batch would need more than 2 GiB, which only the names of enums can bring
                about.
        """
        if not self._engine:
            self._engine.append(protobuf_engine(self._plan, self.columns, wanted_fields(self.columns, self.wanted)))
        return self._engine[0].decode(values.cast(pa.binary()))
