"""The formats of Debezium in the table of formats; decoders are loaded when they are first needed."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from datasources.formats.api.decoder import Decoder
from datasources.formats.api.flink_options import IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD
from datasources.formats.api.format import ColumnsRequest, DecoderSettings, Format, FormatOption
from datasources.formats.avro.avro_options import READER_SCHEMA
from datasources.formats.debezium.source_columns import DEBEZIUM_METADATA, PROPERTIES
from datasources.formats.json.json_types import check_json_types
from datasources.formats.registry.registry_options import REGISTRY_OPTIONS, registry_settings

_AVRO: Final = "debezium-avro-confluent"
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
        columns=settings.names,
    )


def _check_avro(settings: DecoderSettings) -> None:
    """Require options that can be used; the schemas of records are known when they are read."""
    from datasources.formats.avro.avro_options import given_schema

    registry_settings(settings.options, _AVRO)
    given_schema(settings.options, _AVRO)


def _avro(settings: DecoderSettings) -> Decoder:
    from datasources.formats.avro.avro_options import given_schema
    from datasources.formats.debezium.debezium_avro import DebeziumAvroDecoder
    from datasources.formats.debezium.envelope import Envelope

    return DebeziumAvroDecoder(
        envelope=Envelope(settings.schema, settings.metadata, settings.names),
        registry=registry_settings(settings.options, _AVRO),
        reader=given_schema(settings.options, _AVRO),
    )


def _avro_columns(request: ColumnsRequest) -> pa.Schema:
    from datasources.formats.avro.avro_confluent import KIND, parsed
    from datasources.formats.avro.avro_options import given_schema
    from datasources.formats.debezium.debezium_avro import columns_of_row
    from datasources.formats.registry.registered_columns import registered_columns

    given = given_schema(request.options, _AVRO)
    if given is not None:
        return columns_of_row(given)
    return registered_columns(request, _AVRO, KIND, lambda newest: columns_of_row(parsed(newest)))


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
DEBEZIUM_AVRO_CONFLUENT = Format(
    name=_AVRO,
    description="`debezium-avro-confluent`: the same of events in Avro, whose schemas a registry has.",
    check=_check_avro,
    decoder=_avro,
    columns=_avro_columns,
    options=(*REGISTRY_OPTIONS, READER_SCHEMA, IGNORE_PARSE_ERRORS),
    supports_keys=False,
    metadata={key: arrow for key, arrow in DEBEZIUM_METADATA.items() if key != PROPERTIES},
    is_changelog=True,
)
