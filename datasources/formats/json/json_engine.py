"""All ways of decoding JSON behind one door: which way a document takes is never visible in its row.

Flat documents of plain values are decoded by the C library (`json_native`). Others are decoded in batches by DuckDB
(`json_quick`), which is only asked for those whose result is known to be Spark's; every other document is decoded by
itself (`json_exact`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.api.decoder import RecordStatus
from datasources.formats.json.fast_path.template_decoder import QuickDecoder
from datasources.formats.json.native_path import NativeDecoder
from datasources.formats.json.partial_rows import Part, filled_in, nothing_done, with_rows
from datasources.formats.json.slow_path import BadRecord, ExactDecoder
from datasources.formats.values.zones import Zone
from datasources.native import native

__all__ = ["JsonColumns", "JsonEngine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonColumns:
    """Decoded columns, one row for each document; null where the status is not OK.

    Attributes:
        columns: the wanted ones, in their order.
        statuses: one `RecordStatus` for each document; None = all are OK.
        reasons: document -> why it is bad.
    """

    columns: list[pa.Array]
    statuses: npt.NDArray[np.uint8] | None
    reasons: dict[int, str]


class JsonEngine:
    """Decodes batches of documents; not for use by several threads at once.

    Args:
        schema: what documents are judged by: a document is bad or not whatever is wanted of it.
        wanted: the columns to decode, by the names of the schema. The type of a STRUCT may have fewer fields than in
            the schema: the others are not decoded.
        zone: where timestamps without a zone were written; None refuses them.
    """

    def __init__(self, schema: pa.Schema, wanted: Sequence[pa.Field], zone: Zone | None) -> None:
        self._places = [schema.get_field_index(f.name) for f in wanted]
        self._types = [f.type for f in wanted]
        self._quick = QuickDecoder(schema, [f.name for f in wanted], zone, types={f.name: f.type for f in wanted})
        self._exact = ExactDecoder(schema, zone)
        library = native() if NativeDecoder.can_decode(schema) else None
        self._native = None if library is None else NativeDecoder(library, schema, [f.name for f in wanted], zone)
        self._bad_row = (None,) * len(schema)

    def decode(self, values: pa.Array) -> JsonColumns:
        """Decode one batch of payloads, `pa.binary()` or `pa.string()`; null stands for a Kafka null value."""
        part = self._decoded(_texts(values))
        has_value = np.asarray(values.is_valid())
        left = np.flatnonzero(has_value & ~part.is_done)
        rows, reasons = self._exact_rows(values, left)
        statuses = None
        if reasons or values.null_count:
            statuses = np.where(has_value, np.uint8(RecordStatus.OK), np.uint8(RecordStatus.NULL_VALUE))
            statuses[list(reasons)] = RecordStatus.BAD
        columns = self._assembled(part, left, rows)
        return JsonColumns(columns=columns, statuses=statuses, reasons=reasons)

    def _decoded(self, texts: pa.Array) -> Part:
        """Decode what is not left to the exact way."""
        if self._native is None:
            return self._quick.decode(texts) or nothing_done(len(texts), self._types)
        part = self._native.decode(texts)
        left = np.flatnonzero(~part.is_done & np.asarray(texts.is_valid()))
        found = self._quick.decode(texts.take(pa.array(left))) if len(left) else None
        return part if found is None else filled_in(part, left, found)

    def _exact_rows(
        self, values: pa.Array, left: npt.NDArray[np.intp]
    ) -> tuple[list[Sequence[object]], dict[int, str]]:
        rows: list[Sequence[object]] = []
        reasons: dict[int, str] = {}
        for index in left.tolist():
            try:
                rows.append(self._exact.row(values[index].as_buffer().to_pybytes()))
            except BadRecord as reason:
                rows.append(self._bad_row)
                reasons[index] = str(reason)
        return rows, reasons

    def _assembled(self, part: Part, left: npt.NDArray[np.intp], rows: list[Sequence[object]]) -> list[pa.Array]:
        columns = []
        for position, (at, arrow) in enumerate(zip(self._places, self._types, strict=True)):
            column = part.columns[position]
            if len(left):
                column = with_rows(column, left, pa.array([row[at] for row in rows], arrow))
            columns.append(column)
        return columns


def _texts(values: pa.Array) -> pa.Array:
    """Return the payloads as strings; null where they are no UTF-8, which the exact way has to judge."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text_or_none(value) for value in values.to_pylist()], pa.string())


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
