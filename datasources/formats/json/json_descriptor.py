"""The format `json` in the table of formats; the decoder is loaded when it is first needed."""

from __future__ import annotations

from datasources.formats.api.decoder import Decoder
from datasources.formats.api.flink_options import FAIL_ON_MISSING_FIELD, IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD
from datasources.formats.api.format import DecoderSettings, Format
from datasources.formats.json.json_types import check_json_types


def _check(settings: DecoderSettings) -> None:
    check_json_types(settings.schema)


def _decoder(settings: DecoderSettings) -> Decoder:
    from datasources.formats.json.json_format import JsonDecoder

    return JsonDecoder(settings.schema, time_zone=settings.time_zone, columns=settings.columns)


JSON = Format(
    name="json",
    description="`json`: the columns of `schema`.",
    check=_check,
    decoder=_decoder,
    options=(IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD, FAIL_ON_MISSING_FIELD),
)
