"""Decodes records into rows: keys and values, each by its format, and the metadata columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.formats.api.compression import Compression, DecompressingDecoder
from datasources.formats.api.decoder import ROW_KINDS, Decoded, RecordStatus, RowKind
from datasources.formats.api.format import DecoderSettings
from datasources.kafka.client.record_columns import RecordFields, Records
from datasources.kafka.record.decoded_keys import DecodedKeys, check_keys, with_bad_keys
from datasources.kafka.record.raw_columns import RAW_COLUMNS
from datasources.kafka.record.record_layout import RecordLayout
from datasources.kafka.record.record_metadata import RECORD_METADATA, ROW_KIND, VALUE_PREFIX

_Decode = Callable[[pa.Array], Decoded]


class RecordDecoder:
    """Decodes records in one process.

    Only ``decoded``, of whose STRUCTs some fields may be left out, are decoded; the rest is null.
    """

    def __init__(self, schema: pa.Schema, layout: RecordLayout, *, time_zone: str | None, decoded: pa.Schema) -> None:
        self._schema = schema
        self._layout = layout
        self._decoded = frozenset(decoded.names)
        self._metadata = dict(layout.metadata)
        self._value: _Decode | None = (
            _value_decoder(schema, layout, time_zone, decoded) if layout.value_columns else None
        )
        self._key: _Decode | None = _key_decoder(schema, layout, time_zone) if layout.key_format else None

    @property
    def fields(self) -> RecordFields:
        """The fields of records that it needs."""
        fields = RecordFields.NOTHING if self._key is None else RecordFields.KEY
        if self._value is not None:
            fields |= RecordFields.VALUE
        for name in filter(self._is_wanted, self._schema.names):
            if name in self._layout.raw_columns:
                fields |= RAW_COLUMNS[name].needs
            elif (metadata_column := RECORD_METADATA.get(self._metadata.get(name, ""))) is not None:
                fields |= metadata_column.needs
        return fields

    def decode(self, records: Records) -> Decoded:
        """Return the rows of consecutive records."""
        values = self._values(records)
        keys = None
        if self._key is not None:
            found = self._key(records.keys())
            keys = check_keys(found, self._layout, self._schema)
            values = with_bad_keys(values, keys.problems, len(records))
        count = len(records) if values.records is None else len(values.records)
        columns = [self._column(field, records, values, keys, count) for field in self._schema]
        return replace(values, columns=pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def _values(self, records: Records) -> Decoded:
        if self._value is None:
            return Decoded(columns=pa.RecordBatch.from_arrays([], names=[]))
        values = self._value(records.values())
        if self._layout.is_upsert:
            return _upserts(values, len(records))
        if self._layout.value_format.is_raw:
            return _with_nulls(values, self._schema.field(self._layout.value_columns[0]))
        return values

    def _column(
        self, field: pa.Field, records: Records, values: Decoded, keys: DecodedKeys | None, count: int
    ) -> pa.Array:
        name = field.name
        if not self._is_wanted(name):
            return pa.nulls(count, field.type)
        if name in self._metadata:
            return self._metadata_column(self._metadata[name], records, values, count)
        if name in self._layout.raw_columns:
            return _of_rows(RAW_COLUMNS[name].read(records), values)
        if name not in self._layout.value_columns:
            assert keys is not None
            return keys.column(name, values)
        column = values.columns.column(name)
        if self._layout.is_upsert and keys is not None and keys.has(name) and values.kinds is not None:
            return _where(np.asarray(values.kinds == RowKind.DELETE), keys.column(name, values), column)
        return column

    def _metadata_column(self, key: str, records: Records, values: Decoded, count: int) -> pa.Array:
        if key == ROW_KIND:
            return _row_kinds(values, count)
        if key.startswith(VALUE_PREFIX):
            return values.columns.column(key.removeprefix(VALUE_PREFIX))
        return _of_rows(RECORD_METADATA[key].read(records), values)

    def _is_wanted(self, name: str) -> bool:
        return name in self._decoded


def _of_rows(column: pa.Array, values: Decoded) -> pa.Array:
    """Return a column of records as a column of rows: a record of a changelog may have several."""
    return column if values.records is None else column.take(pa.array(values.records))


def _upserts(values: Decoded, count: int) -> Decoded:
    """A record without a value is a delete, any other record is an upsert."""
    if values.statuses is None:
        return replace(values, kinds=np.full(count, RowKind.UPDATE_AFTER, dtype=np.uint8))
    is_delete = values.statuses == RecordStatus.NULL_VALUE
    kinds = np.where(is_delete, np.uint8(RowKind.DELETE), np.uint8(RowKind.UPDATE_AFTER))
    statuses = np.where(is_delete, np.uint8(RecordStatus.OK), values.statuses)
    return replace(values, kinds=kinds, statuses=statuses if statuses.any() else None)


def _with_nulls(values: Decoded, field: pa.Field) -> Decoded:
    """A record without a value is a row with a null."""
    if values.statuses is None:
        return values
    is_null = values.statuses == RecordStatus.NULL_VALUE
    if field.nullable:
        statuses = np.where(is_null, np.uint8(RecordStatus.OK), values.statuses)
        return replace(values, statuses=statuses if statuses.any() else None)
    why = f"column '{field.name}' is NOT NULL and the record has no value"
    reasons = {**values.reasons, **dict.fromkeys(np.flatnonzero(is_null).tolist(), why)}
    statuses = np.where(is_null, np.uint8(RecordStatus.BAD), values.statuses)
    return replace(values, statuses=statuses, reasons=reasons)


def _row_kinds(values: Decoded, count: int) -> pa.Array:
    kinds = np.zeros(count, dtype=np.uint8) if values.kinds is None else values.kinds
    mask = None
    if values.statuses is not None:
        statuses = values.statuses if values.records is None else values.statuses[values.records]
        mask = statuses != RecordStatus.OK
    return pa.array(ROW_KINDS).take(pa.array(kinds, mask=mask))


def _where(mask: NDArray[np.bool_], one: pa.Array, other: pa.Array) -> pa.Array:
    """Return `one` where the mask is true, else `other`; also for types that `if_else` does not support."""
    rows = np.arange(len(mask))
    return pa.concat_arrays([one, other]).take(pa.array(np.where(mask, rows, rows + len(mask))))


def _value_decoder(schema: pa.Schema, layout: RecordLayout, time_zone: str | None, decoded: pa.Schema) -> _Decode:
    """Return what decodes values into the value's columns; those that are not wanted may be null.

    The columns of an update's metadata go by their keys, without `value.`.
    """
    keys = _value_keys(layout, decoded.names)
    settings = DecoderSettings(
        schema=pa.schema([schema.field(name) for name in layout.value_columns]),
        columns=(
            *(each for each in decoded if each.name in layout.value_columns),
            *(pa.field(key, layout.value_format.metadata[key]) for key in keys),
        ),
        metadata=_value_keys(layout, [name for name, _ in layout.metadata]),
        time_zone=time_zone,
        options=dict(layout.value_options),
    )
    decoder = layout.value_format.decoder(settings)
    if layout.compression is not Compression.NONE:
        decoder = DecompressingDecoder(decoder, layout.compression, layout.max_decompressed_bytes)
    return decoder.decode


def _key_decoder(schema: pa.Schema, layout: RecordLayout, time_zone: str | None) -> _Decode:
    """Return what decodes keys into columns by the names that they have in the key."""
    assert layout.key_format is not None
    fields = [schema.field(column).with_name(name) for column, name in layout.key_columns]
    settings = DecoderSettings(schema=pa.schema(fields), time_zone=time_zone, options=dict(layout.key_options))
    return layout.key_format.decoder(settings).decode


def _value_keys(layout: RecordLayout, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the value format's metadata behind some columns, each once."""
    found = [key for name, key in layout.metadata if name in columns and key.startswith(VALUE_PREFIX)]
    return tuple(key.removeprefix(VALUE_PREFIX) for key in dict.fromkeys(found))
