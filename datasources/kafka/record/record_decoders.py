"""Opens the decoders of keys and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.api.format import DecoderSettings
from datasources.kafka.record.record_layout import RecordLayout
from datasources.kafka.record.record_metadata import VALUE_PREFIX

__all__ = ["Decode", "key_decoder", "value_decoder"]

Decode = Callable[[pa.Array], Decoded]


def value_decoder(schema: pa.Schema, layout: RecordLayout, time_zone: str | None, wanted: Sequence[str]) -> Decode:
    """Return what decodes values into the value's columns; those that are not wanted may be null.

    The columns of an update's metadata go by their keys, without `value.`.
    """
    settings = DecoderSettings(
        schema=pa.schema([schema.field(name) for name in layout.value_columns]),
        columns=(*(name for name in layout.value_columns if name in wanted), *_value_keys(layout, wanted)),
        metadata=_value_keys(layout, [name for name, _ in layout.metadata]),
        time_zone=time_zone,
        switches=layout.switches,
    )
    return layout.value_format.decoder(settings).decode


def key_decoder(schema: pa.Schema, layout: RecordLayout, time_zone: str | None) -> Decode:
    """Return what decodes keys into columns by the names that they have in the key."""
    assert layout.key_format is not None
    fields = [schema.field(column).with_name(name) for column, name in layout.key_columns]
    return layout.key_format.decoder(DecoderSettings(schema=pa.schema(fields), time_zone=time_zone)).decode


def _value_keys(layout: RecordLayout, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the value format's metadata behind some columns, each once."""
    found = [key for name, key in layout.metadata if name in columns and key.startswith(VALUE_PREFIX)]
    return tuple(key.removeprefix(VALUE_PREFIX) for key in dict.fromkeys(found))
