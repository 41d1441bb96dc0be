"""The schemas that the options of Avro's formats give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.format import FormatOption
from datasources.formats.avro.schema.avro_schema import AvroSchema, parse_avro_schema
from datasources.formats.avro.schema.table_schema import schema_of_table

SCHEMA: Final = FormatOption(
    key="schema",
    type=str,
    description="The Avro schema of the records, as JSON. Default: the one that Flink derives from the columns.",
)
READER_SCHEMA: Final = FormatOption(
    key="schema",
    type=str,
    description="The Avro schema that is expected, as JSON: by its names, aliases and defaults fields are found. "
    "Default: columns take the fields of their names.",
)


def given_schema(options: Mapping[str, Any], format_name: str) -> AvroSchema | None:
    """Return the schema of the option `schema`; None if it is not set.

    Raises:
        OptionError: it is no valid schema.
    """
    text = options.get(SCHEMA.key)
    if text is None:
        return None
    try:
        return parse_avro_schema(text)
    except SchemaError as error:
        raise OptionError(f"option '{format_name}.{SCHEMA.key}': {error.message}") from None


def writers_schema(options: Mapping[str, Any], columns: pa.Schema, format_name: str) -> AvroSchema:
    """Return the schema that all records were written with.

    Raises:
        OptionError: the option is no valid schema.
        SchemaError: there is none, and none can be derived from the columns.
    """
    return given_schema(options, format_name) or schema_of_table(columns)
