"""The format `protobuf-confluent`: each record names the schema of its writer, which a registry has, and a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.api.decoder import Decoded
from datasources.formats.protobuf.linking.link import LinkRules
from datasources.formats.protobuf.protobuf_decoder import ProtobufDecoder
from datasources.formats.protobuf.schema.message_indexes import Indexes, IndexGroups, message_at
from datasources.formats.protobuf.schema.message_type import MessageType, file_of, message_type
from datasources.formats.protobuf.schema.registered_files import MAIN_FILE, registered_files
from datasources.formats.registry.record_groups import RecordGroup, decode_groups
from datasources.formats.registry.registry_options import RegistrySettings
from datasources.formats.registry.schema_registry import RegisteredText, SchemaRegistry, UnknownSchemaError
from datasources.formats.registry.wire_format import headers_of, taken, without_headers

KIND = "PROTOBUF"
_MAX_CACHED: Final = 100
_SEVERAL = "name one by the option 'message-class-name'"


@dataclass(frozen=True, slots=True)
class RegisteredMessages:
    """The messages of a registered schema, of which one is expected.

    Attributes:
        files: the descriptors of its file and of those that it imports.
        expected: the message that records are.
    """

    files: bytes = field(repr=False)
    expected: MessageType


@lru_cache(maxsize=_MAX_CACHED)
def registered_messages(registered: RegisteredText, name: str | None) -> RegisteredMessages:
    """Return the messages of a schema, which are compiled once in a process.

    Args:
        registered: the schema.
        name: of the expected message or its Java class; None = the only one of the schema's file.

    Raises:
        SchemaError: the schema is not valid, or has not exactly this message.
    """
    files = registered_files(registered.text, registered.references)
    if name is None:
        messages = [each.full_name for each in file_of(files, MAIN_FILE).message_types_by_name.values()]
        if len(messages) != 1:
            listed = ", ".join(f"'{each}'" for each in messages)
            raise SchemaError(f"it has the messages {listed}; {_SEVERAL}" if messages else "it has no message")
        name = messages[0]
    return RegisteredMessages(files, message_type(files, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufConfluentDecoder:
    """Decodes records of any number of schemas into the same columns.

    It is configuration until its first batch, and is pickled as such. A record whose schema is unknown or does not fit
    the columns, or that is another message than the expected one, is a bad one. Not thread-safe.

    Attributes:
        schema: the columns with their nullability as declared.
        registry: how the registry is reached.
        message: the name of the message that records are; None = the only one of their schema.
        rules: how columns find their values.
        columns: the columns to decode, the others are null; None = all.
    """

    schema: pa.Schema
    registry: RegistrySettings
    message: str | None = None
    rules: LinkRules = field(default_factory=lambda: LinkRules(lacks_fields=True))
    columns: tuple[pa.Field, ...] | None = None
    _client: list[SchemaRegistry] = field(init=False, repr=False, compare=False, default_factory=list)
    _messages: dict[int, RegisteredMessages | str] = field(init=False, repr=False, compare=False, default_factory=dict)
    _decoders: dict[tuple[int, Indexes], ProtobufDecoder | str] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.schema, self.registry, self.message, self.rules, self.columns)

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`.

        Raises:
            SourceUnavailable: the registry does not answer, and one of the schemas was not asked before.
        """
        values = values.cast(pa.binary())
        headers = headers_of(values)
        reasons = dict(headers.reasons)
        groups = []
        for schema_id, rows in headers.by_id():
            indexed = IndexGroups(without_headers(taken(values, rows)))
            reasons |= {int(rows[at]): reason for at, reason in indexed.reasons.items()}
            for indexes, positions, payloads in indexed.groups:
                at = rows if len(positions) == len(rows) else np.asarray(rows[positions])
                groups.append(RecordGroup(self._decoder(schema_id, indexes), at, payloads))
        return decode_groups(self.schema, values, groups, reasons)

    def _decoder(self, schema_id: int, indexes: Indexes) -> ProtobufDecoder | str:
        """Return what decodes the records of a message of a schema, or why they are bad."""
        key = schema_id, indexes
        if key not in self._decoders:
            self._decoders[key] = self._opened(schema_id, indexes)
        return self._decoders[key]

    def _opened(self, schema_id: int, indexes: Indexes) -> ProtobufDecoder | str:
        messages = self._messages_of(schema_id)
        if isinstance(messages, str):
            return messages
        expected = messages.expected
        try:
            found = message_at(file_of(messages.files, MAIN_FILE), indexes, expected.name).full_name
            if found != expected.name:
                return f"it is the message '{found}' of the schema with the id {schema_id}, not '{expected.name}'"
            return ProtobufDecoder(expected, self.schema, self.rules, self.columns)
        except SchemaError as error:
            return _unfit(schema_id, error)

    def _messages_of(self, schema_id: int) -> RegisteredMessages | str:
        if schema_id not in self._messages:
            if not self._client:
                self._client.append(SchemaRegistry(self.registry))
            try:
                self._messages[schema_id] = registered_messages(self._client[0].schema(schema_id, KIND), self.message)
            except UnknownSchemaError as error:
                self._messages[schema_id] = str(error)
            except SchemaError as error:
                self._messages[schema_id] = _unfit(schema_id, error)
        return self._messages[schema_id]


def _unfit(schema_id: int, error: SchemaError) -> str:
    return f"its schema, which has the id {schema_id}, does not fit: {error.message}"


def _unpickled(
    schema: pa.Schema,
    registry: RegistrySettings,
    message: str | None,
    rules: LinkRules,
    columns: tuple[pa.Field, ...] | None,
) -> ProtobufConfluentDecoder:
    return ProtobufConfluentDecoder(schema=schema, registry=registry, message=message, rules=rules, columns=columns)
