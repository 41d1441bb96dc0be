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

from datasources.formats.api.decoder import RecordStatus
from datasources.formats.columns.partial_rows import PartialRows, nothing_done, with_rows
from datasources.formats.json.native_path.native_decoder import NativeDecoder
from datasources.formats.json.slow_path import BadRecord, SlowPathDecoder
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
        self._bad_row = (None,) * len(schema)

    def decode(self, values: pa.Array) -> JsonColumns:
        """Decode one batch of payloads, `pa.binary()` or `pa.string()`; null stands for a Kafka null value."""
        partial = self._native_rows(values)
        has_value = np.asarray(values.is_valid())
        remaining = np.flatnonzero(has_value & ~partial.is_done)
        rows, reasons = self._slow_path_rows(values, remaining)
        statuses = None
        if reasons or values.null_count:
            statuses = np.where(has_value, np.uint8(RecordStatus.OK), np.uint8(RecordStatus.NULL_VALUE))
            statuses[list(reasons)] = RecordStatus.BAD
        columns = self._assembled(partial, remaining, rows)
        return JsonColumns(columns=columns, statuses=statuses, reasons=reasons)

    def _native_rows(self, values: pa.Array) -> PartialRows:
        if self._native_path is None:
            return nothing_done(len(values), self._types)
        return self._native_path.decode(_texts(values))

    def _slow_path_rows(
        self, values: pa.Array, remaining: npt.NDArray[np.intp]
    ) -> tuple[list[Sequence[object]], dict[int, str]]:
        rows: list[Sequence[object]] = []
        reasons: dict[int, str] = {}
        for index in remaining.tolist():
            try:
                rows.append(self._slow_path.row(values[index].as_buffer().to_pybytes()))
            except BadRecord as reason:
                rows.append(self._bad_row)
                reasons[index] = str(reason)
        return rows, reasons

    def _assembled(
        self, partial: PartialRows, remaining: npt.NDArray[np.intp], rows: list[Sequence[object]]
    ) -> list[pa.Array]:
        columns = []
        for position, (at, arrow) in enumerate(zip(self._column_indexes, self._types, strict=True)):
            column = partial.columns[position]
            if len(remaining):
                column = with_rows(column, remaining, pa.array([row[at] for row in rows], arrow))
            columns.append(column)
        return columns


def _texts(values: pa.Array) -> pa.Array:
    """Return the payloads as strings; null for invalid UTF-8, which the slow path handles."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text_or_none(value) for value in values.to_pylist()], pa.string())


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
