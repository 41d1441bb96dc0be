"""The format `csv` in the table of formats; the decoder is loaded when it is first needed."""

from __future__ import annotations

from typing import Final

from datasources.formats.api.decoder import Decoder
from datasources.formats.api.format import DecoderSettings, Format
from datasources.formats.csv.csv_types import check_csv_types
from datasources.formats.csv.dialect import CSV_OPTIONS, dialect_of

_NAME: Final = "csv"


def _check(settings: DecoderSettings) -> None:
    check_csv_types(settings.schema)
    dialect_of(settings.options, _NAME)


def _decoder(settings: DecoderSettings) -> Decoder:
    from datasources.formats.csv.csv_decoder import CsvDecoder

    dialect = dialect_of(settings.options, _NAME)
    return CsvDecoder(settings.schema, dialect, time_zone=settings.time_zone, columns=settings.names)


CSV = Format(
    name=_NAME,
    description="`csv`: the columns of `schema` in the fields of a line.",
    check=_check,
    decoder=_decoder,
    options=CSV_OPTIONS,
)
