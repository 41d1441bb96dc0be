"""The format `raw`: the bytes of a record are one value.

Source: Flink's raw format. Numbers are big-endian, BOOLEAN is one byte, text is UTF-8; bytes that are no UTF-8 become
U+FFFD, as in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.errors import SchemaError
from datasources.formats.api.decoder import Decoded, Decoder, statuses_of
from datasources.formats.api.format import DecoderSettings, Format
from datasources.formats.schema_text.ddl_types import type_text

_NUMBERS: dict[pa.DataType, str] = {
    pa.int8(): ">i1",
    pa.int16(): ">i2",
    pa.int32(): ">i4",
    pa.int64(): ">i8",
    pa.float32(): ">f4",
    pa.float64(): ">f8",
    pa.bool_(): ">i1",
}


@dataclass(frozen=True, slots=True)
class RawDecoder:
    """Decodes payloads into one column.

    Raises:
        SchemaError: it is not one column, or its type has no binary form.
    """

    schema: pa.Schema

    def __post_init__(self) -> None:
        if len(self.schema) != 1:
            raise SchemaError(f"the format 'raw' gives one column, not {len(self.schema)}: {self.schema.names}")
        arrow = self.schema.types[0]
        if arrow not in _NUMBERS and arrow not in {pa.string(), pa.binary()}:
            raise SchemaError(
                f"column '{self.schema.names[0]}': the format 'raw' has no {type_text(arrow)}; use STRING, BINARY, "
                f"BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT or DOUBLE"
            )

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`."""
        arrow = self.schema.types[0]
        has_value = np.asarray(values.is_valid())
        reasons: dict[int, str] = {}
        if arrow == pa.binary():
            column = values.cast(arrow)
        elif arrow == pa.string():
            column = _texts(values)
        else:
            column, reasons = _numbers(values, arrow, has_value)
        return Decoded(
            columns=pa.RecordBatch.from_arrays([column], schema=self.schema),
            statuses=statuses_of(has_value, reasons),
            reasons=reasons,
        )


def _texts(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        decoded = [None if value is None else value.decode(errors="replace") for value in values.to_pylist()]
        return pa.array(decoded, pa.string())


def _numbers(values: pa.Array, arrow: pa.DataType, has_value: npt.NDArray[np.bool_]) -> tuple[pa.Array, dict[int, str]]:
    layout = np.dtype(_NUMBERS[arrow])
    lengths = pc.binary_length(values).fill_null(layout.itemsize).to_numpy(zero_copy_only=False)
    is_wrong = lengths != layout.itemsize
    good = values.filter(pa.array(has_value & ~is_wrong))
    found = np.zeros(len(values), dtype=layout.newbyteorder("="))
    found[has_value & ~is_wrong] = np.frombuffer(b"".join(good.to_pylist()), dtype=layout)
    reasons = {
        int(row): f"{lengths[row]} bytes are no {type_text(arrow)}, which has {layout.itemsize}"
        for row in np.flatnonzero(is_wrong).tolist()
    }
    mask = ~has_value | is_wrong
    return pa.array(found != 0 if arrow == pa.bool_() else found, arrow, mask=mask), reasons


def _decoder(settings: DecoderSettings) -> Decoder:
    return RawDecoder(settings.schema)


RAW = Format(
    name="raw",
    description="`raw`, which is the default: without `schema`, key, value, topic, partition, offset, timestamp, "
    "timestampType as Spark's own source has them; with it, one column that holds the value.",
    check=_decoder,
    decoder=_decoder,
    is_raw=True,
)
