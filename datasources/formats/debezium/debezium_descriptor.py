"""The format `debezium-json` in the table of formats; the decoder is loaded when it is first needed."""

from __future__ import annotations

from typing import Final

from datasources.formats.api.decoder import Decoder
from datasources.formats.api.flink_options import IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD
from datasources.formats.api.format import DecoderSettings, Format, FormatOption
from datasources.formats.debezium.source_columns import DEBEZIUM_METADATA
from datasources.formats.json.json_types import check_json_types

_SCHEMA_INCLUDE: Final = FormatOption(
    key="schema-include",
    type=bool,
    description='Whether each record is `{"schema": ..., "payload": event}`, as Kafka Connect writes it with '
    "`value.converter.schemas.enable`. Default: false.",
)


def _check(settings: DecoderSettings) -> None:
    check_json_types(settings.schema)


def _decoder(settings: DecoderSettings) -> Decoder:
    from datasources.formats.debezium.debezium_json import DebeziumDecoder

    return DebeziumDecoder(
        settings.schema,
        metadata=settings.metadata,
        time_zone=settings.time_zone,
        has_schema=settings.options.get(_SCHEMA_INCLUDE.key, False),
        columns=settings.columns,
    )


DEBEZIUM_JSON = Format(
    name="debezium-json",
    description="`debezium-json`: the columns of `schema` as a changelog of Debezium's events.",
    check=_check,
    decoder=_decoder,
    options=(_SCHEMA_INCLUDE, IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD),
    supports_keys=False,
    metadata=DEBEZIUM_METADATA,
    is_changelog=True,
)
