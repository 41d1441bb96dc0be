"""The formats `json` and `json-confluent` in the table of formats; decoders are loaded when they are first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from datasources.formats.api.decoder import Decoder
from datasources.formats.api.flink_options import FAIL_ON_MISSING_FIELD, IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD
from datasources.formats.api.format import ColumnsRequest, DecoderSettings, Format
from datasources.formats.json.json_types import check_json_types
from datasources.formats.registry.registry_options import REGISTRY_OPTIONS, registry_settings

if TYPE_CHECKING:
    from datasources.formats.json.json_format import JsonDecoder

_CONFLUENT: Final = "json-confluent"
_OPTIONS: Final = (IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD, FAIL_ON_MISSING_FIELD)


def _check(settings: DecoderSettings) -> None:
    check_json_types(settings.schema)


def _decoder(settings: DecoderSettings) -> JsonDecoder:
    from datasources.formats.json.json_format import JsonDecoder

    return JsonDecoder(settings.schema, time_zone=settings.time_zone, columns=settings.columns)


def _check_confluent(settings: DecoderSettings) -> None:
    """The registry gives columns only: where they are declared, nothing asks it."""
    check_json_types(settings.schema)
    if "url" in settings.options:
        registry_settings(settings.options, _CONFLUENT)


def _confluent(settings: DecoderSettings) -> Decoder:
    from datasources.formats.json.json_confluent import JsonConfluentDecoder

    return JsonConfluentDecoder(_decoder(settings))


def _confluent_columns(request: ColumnsRequest) -> pa.Schema:
    from datasources.formats.json.json_confluent import KIND
    from datasources.formats.json.json_schema_columns import columns_of
    from datasources.formats.registry.registered_columns import registered_columns

    return registered_columns(request, _CONFLUENT, KIND, lambda newest: columns_of(newest.text))


JSON = Format(
    name="json",
    description="`json`: the columns of `schema`.",
    check=_check,
    decoder=_decoder,
    options=_OPTIONS,
)
JSON_CONFLUENT = Format(
    name=_CONFLUENT,
    description="`json-confluent`: JSON behind the id of a schema, as Confluent's serializers write it.",
    check=_check_confluent,
    decoder=_confluent,
    columns=_confluent_columns,
    options=(*REGISTRY_OPTIONS, *_OPTIONS),
)
