"""Derives a record's layout from options and schema; incompatible options are rejected here.

Source: Flink's KafkaConnectorOptionsUtil.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pyarrow as pa

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.compression import Compression
from datasources.formats.api.format import ColumnsRequest, DecoderSettings, Format
from datasources.formats.api.format_options import FormatOptions
from datasources.formats.format_table import DEFAULT_FORMAT, FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from datasources.formats.schema_text.ddl_types import type_text
from datasources.kafka.record.flink_format_options import FlinkOptions, check_flink_options, own_options
from datasources.kafka.record.raw_columns import HEADERS, RAW_COLUMNS, raw_schema
from datasources.kafka.record.record_layout import RecordLayout
from datasources.kafka.record.record_options import FieldsInclude, RecordOptions
from datasources.kafka.record.resolve_keys import key_columns_of, listed_names, require_upsert, value_columns_of

__all__ = ["resolve_layout"]

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Side:
    """The key or the value of records: `name`, its format and the options of that which were set."""

    name: str
    format: Format
    options: tuple[tuple[str, Any], ...]

    def found(self, topic: str | None) -> pa.Schema:
        """Return the columns that the format finds."""
        assert self.format.columns is not None
        subject = None if topic is None else f"{topic}-{self.name}"
        return self.format.columns(ColumnsRequest(options=dict(self.options), subject=subject))


def resolve_layout(
    options: RecordOptions, flink: FlinkOptions, formats: FormatOptions, topic: str | None = None
) -> tuple[pa.Schema, RecordLayout]:
    """Return the data columns and where they come from.

    Args:
        options: the record's.
        flink: those of its formats.
        formats: the columns, if they are declared.
        topic: of which the records are; None if there are several.

    Raises:
        OptionError, SchemaError: names the incompatible options.
    """
    name = _either("format", options.format, "value.format", options.value_format)
    value_format = DEFAULT_FORMAT if name is None else FORMATS[name]
    key_format = None if options.key_format is None else FORMATS[options.key_format]
    check_flink_options(flink, value_format, key_format)
    value = _Side("value", value_format, own_options(flink, value_format, ("", "value.")))
    key = None if key_format is None else _Side("key", key_format, own_options(flink, key_format, ("key.",)))
    if formats.ddl is None and value_format.columns is None:
        return _without_schema(options, value_format)
    schema = _found_columns(options, value, key, topic) if formats.ddl is None else parse_schema(formats.ddl)
    key_columns = key_columns_of(options, schema)
    require_upsert(options, value_format, key_columns)
    value_columns = value_columns_of(options, schema, key_columns)
    layout = RecordLayout(
        value_format=value_format,
        value_columns=value_columns,
        key_format=key_format,
        key_columns=key_columns,
        is_upsert=options.is_upsert,
        value_options=value.options,
        key_options=() if key is None else key.options,
        compression=options.compression,
        max_decompressed_bytes=options.max_decompressed_bytes,
    )
    _check_types(schema, layout)
    if value_format.is_raw and len(value_columns) > 1:
        _require_uncompressed(options)
        layout = _raw_columns(schema, layout)
    return _with_headers(schema, layout) if options.include_headers else (schema, layout)


def _with_headers(schema: pa.Schema, layout: RecordLayout) -> tuple[pa.Schema, RecordLayout]:
    """Add the headers as Spark's own source has them, behind the columns of the schema."""
    taken = next((name for name in schema.names if name.lower() == HEADERS), None)
    if taken is not None:
        raise OptionError(
            f"option 'includeHeaders' adds a column '{HEADERS}', and the schema has '{taken}' already. Leave the "
            f"option out, and read headers under another name: scan.metadata = 'record_headers FROM header-list'."
        )
    schema = schema.append(pa.field(HEADERS, RAW_COLUMNS[HEADERS].type))
    return schema, replace(layout, raw_columns=(*layout.raw_columns, HEADERS))


def _found_columns(options: RecordOptions, value: _Side, key: _Side | None, topic: str | None) -> pa.Schema:
    """Return the columns that the formats find: those of values, behind those of keys that values do not contain."""
    found = value.found(topic)
    if key is None or options.fields_include is not FieldsInclude.EXCEPT_KEY:
        return found
    if key.format.columns is None:
        raise OptionError(
            f"option 'value.fields-include' = 'EXCEPT_KEY' needs 'schema': the format '{key.format.name}' of the keys "
            "finds no columns."
        )
    prefix = options.key_fields_prefix or ""
    keys = [field.with_name(prefix + field.name) for field in key.found(topic)]
    _require_apart([field.name for field in keys], found.names)
    _require_listed([field.name for field in keys], options)
    return pa.schema([*keys, *found])


def _require_apart(keys: Sequence[str], values: Sequence[str]) -> None:
    both = [name for name in keys if name.lower() in {other.lower() for other in values}]
    if both:
        raise OptionError(
            f"key and value both have the columns {_quoted(both)}: set 'key.fields-prefix', or leave out "
            "'value.fields-include' if they are the same."
        )


def _require_listed(keys: Sequence[str], options: RecordOptions) -> None:
    """Require that the columns that are found in the key are those that are its columns by the options, if any are."""
    for option, text in (("key.fields", options.key_fields), ("primary-key", options.primary_key)):
        listed = listed_names(option, text)
        if listed and set(listed) != set(keys):
            raise OptionError(
                f"option '{option}' names {_quoted(listed)}, and the columns that are found in the key are "
                f"{_quoted(keys)}: name these, or declare the columns."
            )


def _without_schema(options: RecordOptions, value_format: Format) -> tuple[pa.Schema, RecordLayout]:
    if not value_format.is_raw:
        raise OptionError(f"option 'format' = '{value_format.name}' needs 'schema': the columns as Spark DDL.")
    _require_uncompressed(options)
    _require_schema(options, "raw columns are fixed, key and value are bytes in them")
    schema = raw_schema(headers=options.include_headers)
    return schema, RecordLayout(raw_columns=tuple(schema.names))


def _require_uncompressed(options: RecordOptions) -> None:
    """Refuse compressed values where they are handed on as they are."""
    if options.compression is not Compression.NONE:
        raise OptionError(
            "option 'format.compression' needs 'schema' with the columns of the value: raw columns have the bytes of "
            "the record. One column, such as 'schema' = 'value BINARY', has what was compressed."
        )


def _require_schema(options: RecordOptions, why: str) -> None:
    """Refuse the options that make sense with declared columns only."""
    given = {
        "key.format": options.key_format,
        "key.fields": options.key_fields,
        "key.fields-prefix": options.key_fields_prefix,
        "value.fields-include": options.fields_include,
        "scan.upsert": options.is_upsert or None,
        "primary-key": options.primary_key,
    }
    for key, value in given.items():
        if value is not None:
            raise OptionError(f"option '{key}' needs 'schema': {why}.")


def _check_types(schema: pa.Schema, layout: RecordLayout) -> None:
    """Check that the formats support the columns' types."""
    in_key = pa.schema([schema.field(name) for name, _ in layout.key_columns])
    if layout.key_format is not None:
        if layout.key_format.is_raw and len(in_key) > 1:
            raise OptionError(
                f"option 'key.format' = '{layout.key_format.name}' gives one column, but the key columns are "
                f"{_quoted(in_key.names)}."
            )
        layout.key_format.check(DecoderSettings(schema=in_key, options=dict(layout.key_options)))
    in_value = pa.schema([schema.field(name) for name in layout.value_columns])
    if not layout.value_format.is_raw or len(in_value) == 1:
        layout.value_format.check(DecoderSettings(schema=in_value, options=dict(layout.value_options)))


def _raw_columns(schema: pa.Schema, layout: RecordLayout) -> RecordLayout:
    """Return the layout of several columns with format=raw: name and type must match Spark's raw columns."""
    for field in schema:
        known = RAW_COLUMNS.get(field.name)
        if known is None or layout.key_format is not None:
            raise SchemaError(
                f"the format '{layout.value_format.name}' gives one column, which holds the value, but there are "
                f"{len(layout.value_columns)}: {_quoted(layout.value_columns)}. Declare one, use 'format' = 'json', or "
                f"declare raw columns only: {_quoted(list(RAW_COLUMNS))}."
            )
        if known.type != field.type:
            raise SchemaError(
                f"the raw column '{field.name}' is {type_text(known.type)}, not {type_text(field.type)}: declare it "
                f"so, and cast it in the query."
            )
    return RecordLayout(raw_columns=tuple(schema.names))


def _either(one_key: str, one: V | None, other_key: str, other: V | None) -> V | None:
    if one is not None and other is not None:
        raise OptionError(f"options '{one_key}' and '{other_key}' mean the same: set one of them.")
    return other if one is None else one


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
