"""The format `json-confluent`: JSON behind the id of a schema, as Confluent's serializers write it.

The id is not asked for: the columns are what a document is read by, and a JSON schema only restricts documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from datasources.formats.api.decoder import Decoded, statuses_of
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.registry.wire_format import HEADER_BYTES, Headers, headers_of

KIND = "JSON"
_BLANK = ord(" ")


@dataclass(frozen=True, slots=True)
class JsonConfluentDecoder:
    """Decodes documents behind headers of Confluent's wire format. Not thread-safe.

    Attributes:
        documents: decodes the documents.
    """

    documents: JsonDecoder

    @property
    def schema(self) -> pa.Schema:
        """The columns; see `Decoder.schema`."""
        return self.documents.schema

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`."""
        values = values.cast(pa.binary())
        headers = headers_of(values)
        found = self.documents.decode(_with_blanks(values, headers))
        reasons = {**found.reasons, **headers.reasons}
        statuses = statuses_of(np.asarray(values.is_valid()), reasons)
        return Decoded(columns=found.columns, statuses=statuses, reasons=reasons)


def _with_blanks(values: pa.Array, headers: Headers) -> pa.Array:
    """Return the payloads with blanks for their headers, which JSON skips; null for those without a header."""
    _, offsets, data = values.buffers()
    count = len(values)
    begins = np.frombuffer(offsets, np.int32, count + 1, values.offset * 4)
    content = np.frombuffer(data or b"", np.uint8).copy()
    heads = begins[:-1][headers.has_header]
    for at in range(HEADER_BYTES):
        content[heads + at] = _BLANK
    mask = None if headers.has_header.all() else pa.py_buffer(np.packbits(headers.has_header, bitorder="little"))
    return pa.Array.from_buffers(pa.binary(), count, [mask, pa.py_buffer(begins), pa.py_buffer(content)])
