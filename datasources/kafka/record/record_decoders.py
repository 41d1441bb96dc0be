"""The decoders of keys and values. They are loaded where they are used: raw columns need none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.kafka.record.record_layout import RecordLayout
from datasources.kafka.record.record_metadata import VALUE_PREFIX
from datasources.kafka.record.record_options import KeyFormat, ValueFormat

__all__ = ["Decode", "key_decoder", "value_decoder"]

Decode = Callable[[pa.Array], Decoded]


def value_decoder(schema: pa.Schema, layout: RecordLayout, time_zone: str | None, wanted: Sequence[str]) -> Decode:
    """Return what decodes values into the value's columns; those that are not wanted may be null.

    The columns of an update's metadata go by their keys, without `value.`.
    """
    columns = pa.schema([schema.field(name) for name in layout.value_columns])
    needed = tuple(name for name in columns.names if name in wanted)
    if layout.value_format is ValueFormat.RAW:
        from datasources.formats.raw import RawDecoder

        return RawDecoder(columns).decode
    if layout.value_format is ValueFormat.JSON:
        from datasources.formats.json.json_format import JsonDecoder

        return JsonDecoder(columns, time_zone=time_zone, columns=needed).decode
    from datasources.formats.debezium.debezium_json import DebeziumDecoder

    return DebeziumDecoder(
        columns,
        metadata=_value_keys(layout, [name for name, _ in layout.metadata]),
        time_zone=time_zone,
        has_schema=layout.has_schema,
        columns=(*needed, *_value_keys(layout, wanted)),
    ).decode


def key_decoder(schema: pa.Schema, layout: RecordLayout, time_zone: str | None) -> Decode:
    """Return what decodes keys into columns by the names that they have in the key."""
    fields = [schema.field(column).with_name(name) for column, name in layout.key_columns]
    if layout.key_format is KeyFormat.RAW:
        from datasources.formats.raw import RawDecoder

        return RawDecoder(pa.schema(fields)).decode
    from datasources.formats.json.json_format import JsonDecoder

    return JsonDecoder(pa.schema(fields), time_zone=time_zone).decode


def _value_keys(layout: RecordLayout, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the value format's metadata behind some columns, each once."""
    found = [key for name, key in layout.metadata if name in columns and key.startswith(VALUE_PREFIX)]
    return tuple(key.removeprefix(VALUE_PREFIX) for key in dict.fromkeys(found))
