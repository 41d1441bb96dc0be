"""The options of Flink's formats, so that its tables can be read as they were written.

Flink declares the same few options per format, once under the format's name and once prefixed with `value.` or `key.`.
Our options apply to all formats: this module maps Flink's options to them and rejects those that have no equivalent.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import Field, create_model

from datasources.errors import OptionError
from datasources.formats.api.error_policy import OnError
from datasources.formats.api.flink_options import FAIL_ON_MISSING_FIELD, IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD
from datasources.formats.api.format import Format
from datasources.formats.api.format_options import FormatOptions
from datasources.formats.format_table import FORMATS
from datasources.options import OptionGroup

_COMMON: Final = frozenset({FAIL_ON_MISSING_FIELD, IGNORE_PARSE_ERRORS, TIMESTAMP_STANDARD})
"""The options that have an equivalent for all formats; the others are passed to the decoder."""


class FlinkOptions(OptionGroup):
    """The options of formats that were set."""

    def given(self, suffix: str) -> dict[str, Any]:
        """Return what was set under the names with a suffix, such as `ignore-parse-errors`: key -> value."""
        aliases = {str(field.alias): name for name, field in type(self).model_fields.items()}
        values = {key: getattr(self, name) for key, name in aliases.items() if key.endswith(suffix)}
        return {key: value for key, value in values.items() if value is not None}


def _sides(owner: Format) -> tuple[str, ...]:
    """Return the prefixes of a format's options; the empty one means the value."""
    return ("", "value.", "key.") if owner.supports_keys else ("", "value.")


_FIELDS: Final[Mapping[str, Any]] = {
    re.sub(r"\W", "_", key): (option.type | None, Field(None, alias=key, description=option.description))
    for owner in FORMATS.values()
    for side in _sides(owner)
    for option in owner.options
    for key in (f"{side}{owner.name}.{option.key}",)
}

FlinkFormatOptions = create_model(
    "FlinkFormatOptions", __base__=FlinkOptions, __doc__="Flink's names for options of formats.", **_FIELDS
)


def check_flink_options(options: FlinkOptions, value: Format, key: Format | None) -> None:
    """Check that each option belongs to a format of this source, and is set under one name only.

    Raises:
        OptionError: names the option and what it requires.
    """
    given = options.given("")
    for name in given:
        side, format_name = _owner(name)
        if side == "key" and (key is None or key.name != format_name):
            raise OptionError(f"option '{name}' has no effect without 'key.format' = '{format_name}'.")
        if side == "value" and value.name != format_name:
            raise OptionError(f"option '{name}' has no effect without 'format' = '{format_name}'.")
        longer = f"value.{name}"
        if longer in given and given[longer] == given[name]:
            raise OptionError(f"options '{name}' and '{longer}' mean the same: set one of them.")
        if longer in given:
            raise _contradiction({name: given[name], longer: given[longer]})
    for name, value_of in options.given(FAIL_ON_MISSING_FIELD.key).items():
        if value_of:
            raise OptionError(
                f"option '{name}' = 'true' is not supported: declare the column NOT NULL instead, and a record without "
                f"the field is a bad one ('format.on-error')."
            )


def on_error(options: FlinkOptions, formats: FormatOptions) -> OnError:
    """Return the policy for bad records, from Flink's options or ours.

    Raises:
        OptionError: two of the options differ.
    """
    ignores = options.given(IGNORE_PARSE_ERRORS.key)
    given_by = {name: OnError.SKIP if value else OnError.FAIL for name, value in ignores.items()}
    if "on_error" in formats.model_fields_set:
        given_by["format.on-error"] = formats.on_error
    if len(set(given_by.values())) > 1:
        raise _contradiction({**given_by, **ignores})
    return next(iter(given_by.values()), formats.on_error)


def own_options(options: FlinkOptions, owner: Format, sides: Sequence[str]) -> tuple[tuple[str, Any], ...]:
    """Return the options of a format that its decoder needs, key and value, as set under any of some prefixes.

    Called on the driver: what executors cannot read is read here.

    Raises:
        OptionError: a file that an option names cannot be read.
    """
    given = options.given("")
    keys = (option.key for option in owner.options if option not in _COMMON)
    found = {key: given[name] for key in keys for name in _names(owner, key, sides) if name in given}
    return tuple((found if owner.driver_options is None else owner.driver_options(found)).items())


def _names(owner: Format, key: str, sides: Sequence[str]) -> Iterator[str]:
    return (f"{side}{owner.name}.{key}" for side in sides)


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
