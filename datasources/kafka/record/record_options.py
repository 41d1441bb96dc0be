"""The options for decoding records into columns: Flink's keys, and Spark's `includeHeaders`."""

from __future__ import annotations

import difflib
import enum
from typing import Annotated

from pydantic import BeforeValidator, Field

from datasources.options import OptionGroup

__all__ = ["FieldsInclude", "KeyFormat", "RecordOptions", "ValueFormat"]


class ValueFormat(enum.Enum):
    """How record values are read."""

    RAW = "raw"
    JSON = "json"
    DEBEZIUM_JSON = "debezium-json"


class KeyFormat(enum.Enum):
    """How record keys are read."""

    RAW = "raw"
    JSON = "json"


class FieldsInclude(enum.Enum):
    """Which columns the value holds."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


def _known(formats: type[enum.Enum]) -> BeforeValidator:
    names = [str(member.value) for member in formats]

    def check(value: object) -> object:
        if not isinstance(value, str) or value in names:
            return value
        near = difflib.get_close_matches(value.lower(), names, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        listed = ", ".join(f"'{name}'" for name in names)
        raise ValueError(f"there is no such format{hint} Formats here: {listed}.")

    return BeforeValidator(check)


class RecordOptions(OptionGroup):
    """How the key and the value of a record become columns."""

    format: Annotated[ValueFormat | None, _known(ValueFormat)] = Field(
        None,
        alias="format",
        description="`raw`, which is the default: without `schema`, key, value, topic, partition, offset, timestamp, "
        "timestampType as Spark's own source has them; with it, one column that holds the value. `json`: the columns "
        "of `schema`. `debezium-json`: the columns of `schema` as a changelog of Debezium's events.",
    )
    value_format: Annotated[ValueFormat | None, _known(ValueFormat)] = Field(
        None, alias="value.format", description="Another name of format, beside key.format."
    )
    include_headers: bool = Field(False, alias="includeHeaders", description="Adds the column headers to raw columns.")
    key_format: Annotated[KeyFormat | None, _known(KeyFormat)] = Field(
        None, alias="key.format", description="How keys are decoded; needs `key.fields`. Without it they are not read."
    )
    key_fields: str | None = Field(
        None,
        alias="key.fields",
        description="The columns of `schema` that the key holds, separated by semicolons.",
    )
    key_fields_prefix: str | None = Field(
        None,
        alias="key.fields-prefix",
        description="What the columns of `key.fields` begin with in `schema` and not in the key, so that key and value "
        "may have fields of one name. Needs value.fields-include=EXCEPT_KEY.",
    )
    fields_include: FieldsInclude | None = Field(
        None,
        alias="value.fields-include",
        description="Whether the value holds all columns (`ALL`, the default; those of the key are then taken from the "
        "value) or all but those of the key.",
    )
    is_upsert: bool = Field(
        False,
        alias="scan.upsert",
        description="A record is the newest row of its key, one without a value deletes it (`'connector' = "
        "'upsert-kafka'`). Needs `primary-key` and `key.format`.",
    )
    primary_key: str | None = Field(
        None,
        alias="primary-key",
        description="The columns of the primary key, separated by semicolons; with `scan.upsert` the record's key "
        "holds them.",
    )
