"""The formats `protobuf` and `protobuf-confluent` in the table of formats; decoders are loaded when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from datasources.formats.api.decoder import Decoder
from datasources.formats.api.flink_options import IGNORE_PARSE_ERRORS
from datasources.formats.api.format import ColumnsRequest, DecoderSettings, Format
from datasources.formats.protobuf.protobuf_options import (
    DESCRIPTOR_FILE,
    MESSAGE,
    NULL_LITERAL,
    READ_DEFAULTS,
    REGISTERED_MESSAGE,
    message_of,
    rules_of,
    with_descriptors,
)
from datasources.formats.registry.registry_options import REGISTRY_OPTIONS, registry_settings

_PROTOBUF: Final = "protobuf"
_CONFLUENT: Final = "protobuf-confluent"


def _driver_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    return with_descriptors(options, _PROTOBUF)


def _decoder(settings: DecoderSettings) -> Decoder:
    from datasources.formats.protobuf.protobuf_decoder import ProtobufDecoder

    message = message_of(settings.options, _PROTOBUF)
    return ProtobufDecoder(message, settings.schema, rules_of(settings.options), settings.columns)


def _columns(request: ColumnsRequest) -> pa.Schema:
    from datasources.formats.protobuf.schema.protobuf_columns import columns_of

    message = message_of(request.options, _PROTOBUF)
    return columns_of(message.descriptor, reads_defaults=rules_of(request.options).reads_defaults)


def _confluent(settings: DecoderSettings) -> Decoder:
    from datasources.formats.protobuf.linking.link import LinkRules
    from datasources.formats.protobuf.protobuf_confluent import ProtobufConfluentDecoder

    return ProtobufConfluentDecoder(
        schema=settings.schema,
        registry=registry_settings(settings.options, _CONFLUENT),
        message=settings.options.get(REGISTERED_MESSAGE.key),
        rules=LinkRules(reads_defaults=rules_of(settings.options).reads_defaults, lacks_fields=True),
        columns=settings.columns,
    )


def _confluent_columns(request: ColumnsRequest) -> pa.Schema:
    from datasources.formats.protobuf.protobuf_confluent import KIND, registered_messages
    from datasources.formats.protobuf.schema.protobuf_columns import columns_of
    from datasources.formats.registry.registered_columns import registered_columns

    name, reads_defaults = request.options.get(REGISTERED_MESSAGE.key), rules_of(request.options).reads_defaults
    return registered_columns(
        request,
        _CONFLUENT,
        KIND,
        lambda found: columns_of(registered_messages(found, name).expected.descriptor, reads_defaults=reads_defaults),
    )


def _check_confluent(settings: DecoderSettings) -> None:
    """Require options that can be used; the schemas of records are known when they are read."""
    registry_settings(settings.options, _CONFLUENT)


PROTOBUF = Format(
    name=_PROTOBUF,
    description="`protobuf`: Protobuf's binary encoding of messages, all of one type.",
    check=_decoder,
    decoder=_decoder,
    columns=_columns,
    driver_options=_driver_options,
    options=(MESSAGE, DESCRIPTOR_FILE, READ_DEFAULTS, NULL_LITERAL, IGNORE_PARSE_ERRORS),
)
PROTOBUF_CONFLUENT = Format(
    name=_CONFLUENT,
    description="`protobuf-confluent`: Protobuf behind the id of a schema, which a registry has.",
    check=_check_confluent,
    decoder=_confluent,
    columns=_confluent_columns,
    options=(*REGISTRY_OPTIONS, REGISTERED_MESSAGE, READ_DEFAULTS, NULL_LITERAL, IGNORE_PARSE_ERRORS),
)
