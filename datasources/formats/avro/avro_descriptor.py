"""The formats `avro` and `avro-confluent` in the table of formats; decoders are loaded when they are first needed."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from datasources.errors import OptionError
from datasources.formats.api.decoder import Decoder
from datasources.formats.api.flink_options import IGNORE_PARSE_ERRORS
from datasources.formats.api.format import ColumnsRequest, DecoderSettings, Format
from datasources.formats.avro.avro_options import READER_SCHEMA, SCHEMA
from datasources.formats.registry.registry_options import REGISTRY_OPTIONS, registry_settings

_AVRO: Final = "avro"
_CONFLUENT: Final = "avro-confluent"


def _avro(settings: DecoderSettings) -> Decoder:
    from datasources.formats.avro.avro_decoder import AvroDatumDecoder
    from datasources.formats.avro.avro_options import writers_schema

    writer = writers_schema(settings.options, settings.schema, _AVRO)
    return AvroDatumDecoder(writer, settings.schema, None, settings.columns)


def _avro_columns(request: ColumnsRequest) -> pa.Schema:
    from datasources.formats.avro.avro_options import given_schema
    from datasources.formats.avro.schema.avro_columns import columns_of

    schema = given_schema(request.options, _AVRO)
    if schema is None:
        raise OptionError(f"option 'format' = '{_AVRO}' needs 'schema', the columns as Spark DDL, or 'avro.schema'.")
    return columns_of(schema)


def _confluent(settings: DecoderSettings) -> Decoder:
    from datasources.formats.avro.avro_confluent import AvroConfluentDecoder
    from datasources.formats.avro.avro_options import given_schema

    return AvroConfluentDecoder(
        schema=settings.schema,
        registry=registry_settings(settings.options, _CONFLUENT),
        reader=given_schema(settings.options, _CONFLUENT),
        columns=settings.columns,
    )


def _confluent_columns(request: ColumnsRequest) -> pa.Schema:
    from datasources.formats.avro.avro_confluent import KIND, parsed
    from datasources.formats.avro.avro_options import given_schema
    from datasources.formats.avro.schema.avro_columns import columns_of
    from datasources.formats.registry.registered_columns import registered_columns

    given = given_schema(request.options, _CONFLUENT)
    if given is not None:
        return columns_of(given)
    return registered_columns(request, _CONFLUENT, KIND, lambda newest: columns_of(parsed(newest)))


def _check_confluent(settings: DecoderSettings) -> None:
    """Require options that can be used; the schemas of records are known when they are read."""
    from datasources.formats.avro.avro_options import given_schema

    registry_settings(settings.options, _CONFLUENT)
    given_schema(settings.options, _CONFLUENT)


AVRO = Format(
    name=_AVRO,
    description="`avro`: Avro's binary encoding of records, all of one schema.",
    check=_avro,
    decoder=_avro,
    columns=_avro_columns,
    options=(SCHEMA, IGNORE_PARSE_ERRORS),
)
AVRO_CONFLUENT = Format(
    name=_CONFLUENT,
    description="`avro-confluent`: Avro behind the id of a schema, which a registry has.",
    check=_check_confluent,
    decoder=_confluent,
    columns=_confluent_columns,
    options=(*REGISTRY_OPTIONS, READER_SCHEMA, IGNORE_PARSE_ERRORS),
)
