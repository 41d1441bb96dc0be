"""The facade of the two JSON decoding paths, which give the same rows.

Documents are decoded in batches by the C library (`native_path`), but only those of whose values it is certain; every
other document is decoded by itself in Python (`slow_path`), which has all the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.api.decoder import statuses_of
from datasources.formats.columns.partial_rows import PartialRows, completed, nothing_done
from datasources.formats.json.native_path.native_decoder import NativeDecoder
from datasources.formats.json.slow_path import BadRecord, SlowPathDecoder
from datasources.formats.values.payload_texts import payload_texts
from datasources.grammar.zones import Zone
from datasources.native import native


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonColumns:
    """Decoded columns, one row for each document; null where the status is not OK.

    ``statuses`` has one `RecordStatus` for each document, None = all are OK; ``reasons`` says of a document why it is
    bad.
    """

    columns: list[pa.Array]
    statuses: npt.NDArray[np.uint8] | None
    reasons: dict[int, str]


class JsonEngine:
    """Decodes batches of documents. Not thread-safe.

    Args:
        schema: validates documents: whether one is bad does not depend on `wanted`.
        wanted: the columns to decode, by the names of the schema. The type of a STRUCT may have fewer fields than in
            the schema: the others are not decoded.
        zone: of timestamps without a zone; None rejects them.
    """

    def __init__(self, schema: pa.Schema, wanted: Sequence[pa.Field], zone: Zone | None) -> None:
        self._column_indexes = [schema.get_field_index(f.name) for f in wanted]
        self._types = [f.type for f in wanted]
        self._slow_path = SlowPathDecoder(schema, zone)
        library = native()
        self._native_path = None if library is None else NativeDecoder(library, schema, wanted, zone)

    def decode(self, values: pa.Array) -> JsonColumns:
        """Decode one batch of payloads, `pa.binary()` or `pa.string()`; null stands for a Kafka null value."""
        columns, reasons = completed(
            self._native_rows(values), values, row=self._slow_path.row, bad=BadRecord, positions=self._column_indexes
        )
        statuses = statuses_of(np.asarray(values.is_valid()), reasons)
        return JsonColumns(columns=columns, statuses=statuses, reasons=reasons)

    def _native_rows(self, values: pa.Array) -> PartialRows:
        if self._native_path is None:
            return nothing_done(len(values), self._types)
        return self._native_path.decode(payload_texts(values))
