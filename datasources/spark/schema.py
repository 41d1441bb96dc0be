"""Schemas between Arrow and Spark: data columns, then the hidden ones with the metadata that attaching needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import BooleanType, StructField, StructType, TimestampType

from datasources.errors import QueryError
from datasources.source.abilities import LateRows
from datasources.source.stamps import HEARTBEAT_COLUMN, LATE_COLUMN, WATERMARK_COLUMN
from datasources.spark.scan import Scan

__all__ = ["TimeAttribute", "arrow_output_schema", "spark_schema", "time_attribute_of"]

_METADATA_KEY = "tidemark"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAttribute:
    """What `_watermark` says about the attribute that it belongs to.

    Attributes:
        path: the column, nested ones with dots.
        delay_ms: the value for `spark.watermarkDelayMs`.
    """

    path: str
    delay_ms: int


def spark_schema(scan: Scan) -> StructType:
    """Return what `DataSource.schema()` reports.

    Data columns are nullable, because heartbeat rows hold nulls; the reader itself enforces NOT NULL on data rows.
    The hidden columns are declared NOT NULL: a null in them would lose rows silently.
    """
    data = from_arrow_schema(scan.source.schema, prefer_timestamp_ntz=True)
    fields = [StructField(f.name, f.dataType, nullable=True) for f in data.fields]
    strategy = scan.source.strategy
    if strategy is not None:
        attribute = {
            "attribute": strategy.rowtime.text,
            "delay_ms": scan.delay_ms or 0,
            "is_delay_known": scan.delay_ms is not None,
        }
        if strategy.late_rows is LateRows.MARK:
            fields.append(StructField(LATE_COLUMN, BooleanType(), nullable=True))
        fields += [
            StructField(WATERMARK_COLUMN, TimestampType(), nullable=False, metadata={_METADATA_KEY: attribute}),
            StructField(HEARTBEAT_COLUMN, BooleanType(), nullable=False),
        ]
    return StructType(fields)


def arrow_output_schema(schema: StructType) -> pa.Schema:
    """Return the exact Arrow schema that Spark compares our batches with."""
    return to_arrow_schema(schema, timezone="UTC")


def time_attribute_of(schema: StructType) -> TimeAttribute:
    """Return the time attribute of a loaded stream.

    Raises:
        QueryError: the stream has no hidden columns, or lost them.
    """
    if WATERMARK_COLUMN not in schema.names or HEARTBEAT_COLUMN not in schema.names:
        raise QueryError(
            f"the DataFrame has no columns '{WATERMARK_COLUMN}' and '{HEARTBEAT_COLUMN}'. Load it from a Tidemark "
            f"source with the options watermark.for and watermark.as, and attach it before any select()."
        )
    raw: Any = schema[WATERMARK_COLUMN].metadata.get(_METADATA_KEY)
    if not isinstance(raw, dict):
        raise QueryError(
            f"the column '{WATERMARK_COLUMN}' lost its metadata: call with_source_watermark() directly on the loaded "
            f"DataFrame."
        )
    return TimeAttribute(path=str(raw["attribute"]), delay_ms=int(raw["delay_ms"]))
