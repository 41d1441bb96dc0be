"""The format `protobuf` in the table of formats; decoders are loaded when they are first needed."""

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
    message_of,
    rules_of,
    with_descriptors,
)

_PROTOBUF: Final = "protobuf"


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


PROTOBUF = Format(
    name=_PROTOBUF,
    description="`protobuf`: Protobuf's binary encoding of messages, all of one type.",
    check=_decoder,
    decoder=_decoder,
    columns=_columns,
    driver_options=_driver_options,
    options=(MESSAGE, DESCRIPTOR_FILE, READ_DEFAULTS, NULL_LITERAL, IGNORE_PARSE_ERRORS),
)
