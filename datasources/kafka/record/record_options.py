"""The options for decoding records into columns: Flink's keys, and Spark's `includeHeaders`."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, Field

from datasources.formats.api.compression import DEFAULT_MAX_BYTES, Compression
from datasources.formats.format_table import FORMATS
from datasources.options import Choices, OptionGroup


class FieldsInclude(enum.Enum):
    """Which columns the value holds."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


def _value_formats() -> list[str]:
    return list(FORMATS)


def _key_formats() -> list[str]:
    return [each.name for each in FORMATS.values() if each.supports_keys]


def _known(formats: Callable[[], list[str]]) -> BeforeValidator:
    def check(value: object) -> object:
        names = formats()
        if not isinstance(value, str) or value in names:
            return value
        near = difflib.get_close_matches(value.lower(), names, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        listed = ", ".join(f"'{name}'" for name in names)
        raise ValueError(f"there is no such format{hint} Formats here: {listed}.")

    return BeforeValidator(check)


_ValueFormat = Annotated[str | None, _known(_value_formats), Choices(_value_formats)]
_KeyFormat = Annotated[str | None, _known(_key_formats), Choices(_key_formats)]


class RecordOptions(OptionGroup):
    """How the key and the value of a record become columns."""

    format: _ValueFormat = Field(
        None,
        alias="format",
        description=" ".join(each.description for each in FORMATS.values()),
    )
    value_format: _ValueFormat = Field(
        None, alias="value.format", description="Another name of format, beside key.format."
    )
    compression: Compression = Field(
        Compression.NONE,
        alias="format.compression",
        description="How the producer's application compressed each value, in any format; keys are not compressed. "
        "Kafka's own compression of batches needs no option.",
    )
    max_decompressed_bytes: int = Field(
        DEFAULT_MAX_BYTES,
        alias="format.max-decompressed-bytes",
        ge=1,
        description="How many bytes a value may have decompressed; a record with more is a bad one. Default: 64 MiB.",
    )
    include_headers: bool = Field(
        False,
        alias="includeHeaders",
        description="Adds the column `headers`, a list of key and value or null, as Spark's own source has it: to raw "
        "columns and to those of a schema. For DataFrames; in SQL declare a column METADATA FROM 'headers' (a MAP) or "
        "'header-list'.",
    )
    key_format: _KeyFormat = Field(
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
