"""Derives which columns the key and the value hold from the key options, checked against the schema.

Source: Flink's KafkaConnectorOptionsUtil and UpsertKafkaDynamicTableFactory.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import pyarrow as pa

from datasources.errors import OptionError
from datasources.formats.api.format import Format
from datasources.kafka.record.record_options import FieldsInclude, RecordOptions


def key_columns_of(options: RecordOptions, schema: pa.Schema) -> tuple[tuple[str, str], ...]:
    """Return the columns in the key and their names there.

    Raises:
        OptionError: a key option requires another one, or names an unknown column.
    """
    fields = listed_names("key.fields", options.key_fields)
    if options.is_upsert and options.key_fields is None:
        fields = listed_names("primary-key", options.primary_key)
    if options.key_format is None:
        _refuse_without_key_format(options)
        return ()
    if not fields:
        wanted = "primary-key" if options.is_upsert else "key.fields"
        raise OptionError(
            f"option 'key.format' = '{options.key_format}' needs '{wanted}': the columns that the key holds, "
            f"separated by semicolons."
        )
    _require_columns("key.fields" if options.key_fields is not None else "primary-key", fields, schema)
    prefix = options.key_fields_prefix or ""
    for name in fields:
        if not name.startswith(prefix) or name == prefix:
            raise OptionError(
                f"option 'key.fields-prefix' = '{prefix}': the key column '{name}' does not begin with it. Rename the "
                f"column to '{prefix}{name}', or leave the prefix out."
            )
    return tuple((name, name.removeprefix(prefix)) for name in fields)


def value_columns_of(
    options: RecordOptions, schema: pa.Schema, key_columns: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """Return the columns in the value.

    Raises:
        OptionError: there is none, or a prefix is combined with `ALL`.
    """
    if options.fields_include is not FieldsInclude.EXCEPT_KEY:
        if options.key_fields_prefix:
            raise OptionError(
                "option 'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY': a column with the prefix is "
                "in the key only."
            )
        return tuple(schema.names)
    keys = {name for name, _ in key_columns}
    rest = tuple(name for name in schema.names if name not in keys)
    if not rest:
        raise OptionError(
            "option 'value.fields-include' = 'EXCEPT_KEY' leaves no column for the value: every column is one of the "
            "key. Use 'ALL', or declare a column of the value."
        )
    return rest


def require_upsert(options: RecordOptions, value_format: Format, key_columns: tuple[tuple[str, str], ...]) -> None:
    """Check the options of an upsert table, and that they are not set for other tables.

    Raises:
        OptionError: names the option.
    """
    primary = listed_names("primary-key", options.primary_key)
    if not options.is_upsert:
        if primary:
            raise OptionError("option 'primary-key' has no effect without 'scan.upsert' = 'true': set both or neither.")
        return
    if not primary:
        raise OptionError(
            "option 'scan.upsert' needs 'primary-key': the columns that the record's key holds, separated by "
            "semicolons."
        )
    if options.key_format is None:
        raise OptionError("option 'scan.upsert' needs 'key.format': the primary key is read from the record's key.")
    if value_format.is_changelog:
        raise OptionError(
            f"option 'scan.upsert' cannot be combined with 'format' = '{value_format.name}': its events carry "
            f"their own deletions. Leave scan.upsert out."
        )
    _require_same([name for name, _ in key_columns], primary)


def _require_same(keys: Sequence[str], primary: Sequence[str]) -> None:
    """Check that the key columns are exactly the primary key."""
    for name in primary:
        if name not in keys:
            raise OptionError(
                f"the primary key column '{name}' is not among 'key.fields' ({_quoted(keys)}): a delete has nothing "
                f"but the key. Add it there, or leave 'key.fields' out."
            )
    for name in keys:
        if name not in primary:
            raise OptionError(
                f"the key column '{name}' is not in the primary key ({_quoted(primary)}), so records of one row would "
                f"have several keys. Add it there, or leave 'key.fields' out."
            )


def _refuse_without_key_format(options: RecordOptions) -> None:
    given = {
        "key.fields": options.key_fields,
        "key.fields-prefix": options.key_fields_prefix,
        "value.fields-include": options.fields_include,
    }
    for key, value in given.items():
        if value is not None:
            raise OptionError(f"option '{key}' needs 'key.format': without it keys are not read.")


def _require_columns(option: str, names: Sequence[str], schema: pa.Schema) -> None:
    for name in names:
        if name in schema.names:
            continue
        near = difflib.get_close_matches(name, schema.names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise OptionError(
            f"option '{option}' names '{name}', which is no column of the schema.{hint} Columns: "
            f"{_quoted(schema.names)}."
        )


def listed_names(key: str, text: str | None) -> list[str]:
    """Return the columns that an option names, separated by semicolons; none if it is not set.

    Raises:
        OptionError: it names no column, or one twice.
    """
    if text is None:
        return []
    names = [part.strip() for part in text.split(";") if part.strip()]
    if not names or len(set(names)) < len(names):
        raise OptionError(f"option '{key}' = '{text}': write names of columns, each once, separated by semicolons.")
    return names


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
