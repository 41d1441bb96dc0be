"""read_stream(): load and attach in one call, with every error of the options in the caller's own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from datasources.errors import OptionError
from datasources.formats.schema_text.ddl import schema_ddl
from datasources.options import lower_keys
from datasources.spark.adapter.data_source import TidemarkDataSource
from datasources.spark.attach.attach import with_watermark_of
from datasources.spark.attach.register import session_defaults, session_functions
from datasources.spark.options.code_options import allows_code_options
from datasources.spark.options.scan_options import ATTACHED
from datasources.spark.scan.scan import build_scan
from datasources.spark.scan.schema import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def load_stream(
    spark: SparkSession,
    source: type[TidemarkDataSource],
    options: Mapping[str, object],
    schema: str | None,
    time_attributes: Sequence[str] | str = (),
) -> DataFrame:
    """Return the loaded stream, attached if it has a watermark.

    Raises:
        OptionError, ExpressionError, SchemaError, QueryError: before anything runs.
    """
    given = {key: _text(key, value) for key, value in options.items()}
    if schema is not None:
        if "schema" in lower_keys(given):
            raise OptionError("the schema is given both as an argument and as the option 'schema': give it once.")
        given["schema"] = schema
    merged = {**lower_keys(session_defaults(spark)), **lower_keys(given)}
    found = source.connector.found_columns(merged)
    if found is not None:
        merged["schema"] = schema_ddl(found)  # asked once: Spark's processes must not find another one
    scan = build_scan(source.connector, merged, {}, session_functions(spark), allows_code=allows_code_options(spark))
    scan.source.enumerator(is_batch=False).close()  # options that only a stream refuses; asks no server
    reader = spark.readStream.format(source.name()).options(**merged)
    if scan.source.strategy is None:
        if time_attributes:
            raise OptionError("time_attributes need a watermark: set watermark.for and watermark.as.")
        return reader.load()
    named = (time_attributes,) if isinstance(time_attributes, str) else time_attributes
    if not all(isinstance(name, str) for name in named):
        raise OptionError(f"time_attributes are names of columns: {list(named)} are not.")
    return with_watermark_of(reader.option(ATTACHED, "true").load(), spark_schema(scan), named)


def _text(key: str, value: object) -> str:
    if value is None:
        raise OptionError(f"option '{key}' is None: leave it out, or give it a value.")
    return str(value).lower() if isinstance(value, bool) else str(value)
