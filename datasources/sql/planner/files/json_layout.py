"""JSON: a document in each line, as Spark reads it (docs/formats.md: compared with `from_json`) and Flink writes it."""

from __future__ import annotations

import enum
from typing import Final

from pydantic import Field

from datasources.errors import OptionError
from datasources.formats.api.flink_options import TimestampStandard
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.literals import quoted
from datasources.options import OptionGroup, parse_group
from datasources.sql.planner.files.file_layout import FileColumn, FileLayout, LayoutRequest, StoredColumn, typed_column
from datasources.sql.planner.files.value_text import with_times_as_text

_BROKEN: Final = "__tidemark_broken"


class MapNullKeyMode(enum.Enum):
    """What Flink does with a NULL among the keys of a MAP, where Spark's maps have none."""

    FAIL = "FAIL"
    DROP = "DROP"
    LITERAL = "LITERAL"


class JsonFileOptions(OptionGroup):
    """Flink's options of the format."""

    fail_on_missing_field: bool = Field(
        False, alias="json.fail-on-missing-field", description="Only `false`: a field that is missing is NULL."
    )
    ignore_parse_errors: bool = Field(
        False,
        alias="json.ignore-parse-errors",
        description="Whether a field that does not fit is NULL, and a line that is no document is left out.",
    )
    timestamp_standard: TimestampStandard = Field(
        TimestampStandard.SQL,
        alias="json.timestamp-format.standard",
        description="How timestamps are written; both standards are read.",
    )
    map_null_key_mode: MapNullKeyMode = Field(
        MapNullKeyMode.FAIL, alias="json.map-null-key.mode", description="Without effect: no key of a MAP is NULL."
    )
    map_null_key_literal: str = Field(
        "null", alias="json.map-null-key.literal", description="Without effect: no key of a MAP is NULL."
    )
    plain_decimals: bool = Field(
        False,
        alias="json.encode.decimal-as-plain-number",
        description="Only `false`: small decimals are written as 2.7E-8.",
    )
    ignores_null_fields: bool = Field(
        False, alias="json.encode.ignore-null-fields", description="Whether a NULL is left out, not written as null."
    )
    json_parser: bool = Field(
        True, alias="json.decode.json-parser.enabled", description="Without effect: a choice between Flink's parsers."
    )


def json_layout(request: LayoutRequest) -> FileLayout:
    """Return the layout of files of JSON.

    Raises:
        OptionError: an option is wrong, or Spark has no equivalent.
        SchemaError: a column cannot be in JSON.
    """
    options = parse_group(JsonFileOptions, request.options)
    if options.fail_on_missing_field:
        raise OptionError(
            "option 'json.fail-on-missing-field' = 'true': Spark reads a missing field as NULL. Leave it out, and "
            "check the rows in the query (WHERE ... IS NULL)."
        )
    is_lenient = options.ignore_parse_errors
    any_field = " OR ".join(f"{quoted(each.name)} IS NOT NULL" for each in request.columns)
    not_written = ""
    if options.plain_decimals:
        not_written = (
            "option 'json.encode.decimal-as-plain-number' = 'true': Spark writes small decimals as 2.7E-8, the same "
            "number. Leave the option out."
        )
    separator = "T" if options.timestamp_standard is TimestampStandard.ISO_8601 else " "
    return FileLayout(
        spark_format="json",
        columns=tuple(_column(each, separator) for each in request.columns),
        read_options={
            "mode": "PERMISSIVE" if is_lenient else "FAILFAST",
            **({"columnNameOfCorruptRecord": _BROKEN} if is_lenient else {}),
        },
        write_options={"ignoreNullFields": str(options.ignores_null_fields).lower()},
        hidden=_BROKEN if is_lenient else "",
        condition=f"{_BROKEN} IS NULL OR {any_field}" if is_lenient else "",
        not_written=not_written,
    )


def _column(column: FileColumn, separator: str) -> StoredColumn:
    name = quoted(column.name)
    arrow = parse_schema(f"{name} {column.spark_type}").types[0]
    return typed_column(column, written=with_times_as_text(name, arrow, separator=separator))
