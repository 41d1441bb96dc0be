"""The options of Flink's JSON formats, so that its tables can be read as they were written.

Flink declares the same few options per format, once under the format's name and once prefixed with `value.` or `key.`.
Our options apply to all formats: this module maps Flink's options to them and rejects those that have no equivalent.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from datasources.errors import OptionError
from datasources.formats.api.error_policy import OnError
from datasources.formats.api.format_options import FormatOptions
from datasources.kafka.record.record_options import KeyFormat, ValueFormat
from datasources.options import OptionGroup

__all__ = ["FlinkFormatOptions", "check_flink_options", "has_debezium_schema", "on_error"]


class TimestampStandard(enum.Enum):
    """How Flink writes a timestamp; both are read whichever is named."""

    SQL = "SQL"
    ISO_8601 = "ISO-8601"


_IGNORES = "ignore-parse-errors"
_STANDARD = "timestamp-format.standard"
_MISSING = "fail-on-missing-field"
_SCHEMA = "schema-include"


def _field(key: str, description: str) -> Any:
    return Field(None, alias=key, description=description)


def _ignores(key: str) -> Any:
    return _field(key, "Flink's way to say `format.on-error` = `skip`: the whole record is left out, and counted.")


def _standard(key: str) -> Any:
    return _field(key, "Accepted as Flink's; both standards are read whichever is named.")


def _missing(key: str) -> Any:
    return _field(key, "Flink's; only `false`. A field must be there if its column is NOT NULL.")


def _schema(key: str) -> Any:
    return _field(
        key,
        'Whether each record is `{"schema": ..., "payload": event}`, as Kafka Connect writes it with '
        "`value.converter.schemas.enable`. Default: false.",
    )


class FlinkFormatOptions(OptionGroup):
    """Flink's names for options of formats."""

    json_ignores: bool | None = _ignores("json.ignore-parse-errors")
    json_standard: TimestampStandard | None = _standard("json.timestamp-format.standard")
    json_missing: bool | None = _missing("json.fail-on-missing-field")
    value_json_ignores: bool | None = _ignores("value.json.ignore-parse-errors")
    value_json_standard: TimestampStandard | None = _standard("value.json.timestamp-format.standard")
    value_json_missing: bool | None = _missing("value.json.fail-on-missing-field")
    key_json_ignores: bool | None = _ignores("key.json.ignore-parse-errors")
    key_json_standard: TimestampStandard | None = _standard("key.json.timestamp-format.standard")
    key_json_missing: bool | None = _missing("key.json.fail-on-missing-field")
    debezium_schema: bool | None = _schema("debezium-json.schema-include")
    debezium_ignores: bool | None = _ignores("debezium-json.ignore-parse-errors")
    debezium_standard: TimestampStandard | None = _standard("debezium-json.timestamp-format.standard")
    value_debezium_schema: bool | None = _schema("value.debezium-json.schema-include")
    value_debezium_ignores: bool | None = _ignores("value.debezium-json.ignore-parse-errors")
    value_debezium_standard: TimestampStandard | None = _standard("value.debezium-json.timestamp-format.standard")

    def given(self, suffix: str) -> dict[str, Any]:
        """Return what was set under the names with a suffix, such as `ignore-parse-errors`: key -> value."""
        aliases = {str(field.alias): name for name, field in type(self).model_fields.items()}
        values = {key: getattr(self, name) for key, name in aliases.items() if key.endswith(suffix)}
        return {key: value for key, value in values.items() if value is not None}


def check_flink_options(options: FlinkFormatOptions, value: ValueFormat, key: KeyFormat | None) -> None:
    """Check that each option belongs to a format of this source, and is set under one name only.

    Raises:
        OptionError: names the option and what it requires.
    """
    given = options.given("")
    for name in given:
        side, format_name = _owner(name)
        if side == "key" and (key is None or key.value != format_name):
            raise OptionError(f"option '{name}' has no effect without 'key.format' = '{format_name}'.")
        if side == "value" and value.value != format_name:
            raise OptionError(f"option '{name}' has no effect without 'format' = '{format_name}'.")
        longer = f"value.{name}"
        if longer in given and given[longer] == given[name]:
            raise OptionError(f"options '{name}' and '{longer}' mean the same: set one of them.")
        if longer in given:
            raise _contradiction({name: given[name], longer: given[longer]})
    for name, value_of in options.given(_MISSING).items():
        if value_of:
            raise OptionError(
                f"option '{name}' = 'true' is not supported: declare the column NOT NULL instead, and a record without "
                f"the field is a bad one ('format.on-error')."
            )


def on_error(options: FlinkFormatOptions, formats: FormatOptions) -> OnError:
    """Return the policy for bad records, from Flink's options or ours.

    Raises:
        OptionError: two of the options differ.
    """
    ignores = options.given(_IGNORES)
    given_by = {name: OnError.SKIP if value else OnError.FAIL for name, value in ignores.items()}
    if "on_error" in formats.model_fields_set:
        given_by["format.on-error"] = formats.on_error
    if len(set(given_by.values())) > 1:
        raise _contradiction({**given_by, **ignores})
    return next(iter(given_by.values()), formats.on_error)


def has_debezium_schema(options: FlinkFormatOptions) -> bool:
    """Return whether Debezium's events are wrapped in a schema."""
    return any(options.given(_SCHEMA).values())


def _contradiction(given_by: Mapping[str, Any]) -> OptionError:
    texts = {
        name: value.value if isinstance(value, enum.Enum) else str(value).lower() for name, value in given_by.items()
    }
    listed = " and ".join(f"'{name}' = '{text}'" for name, text in texts.items())
    return OptionError(f"options {listed} contradict each other: set one of them.")


def _owner(name: str) -> tuple[str, str]:
    """Return (side of the record, format) of an option."""
    side, _, rest = name.partition(".") if name.startswith(("key.", "value.")) else ("value", "", name)
    return side, rest.partition(".")[0]
