"""Schemas between Arrow and Spark: data columns, then the hidden ones with the metadata that attaching needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import BooleanType, StructField, StructType, TimestampType

from datasources.errors import QueryError
from datasources.source.api.abilities import LateRows
from datasources.source.api.packing import PACKED_ROWS
from datasources.source.watermarks.clock_only import ClockOnly
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, LATE_COLUMN, WATERMARK_COLUMN
from datasources.spark.scan.aggregation import aggregation_schema
from datasources.spark.scan.scan import Scan
from datasources.spark.scan.time_attributes import DELAY_KEY, PROCTIME, ROWTIME

METADATA_KEY = "tidemark"
"""The key under which the metadata of `_watermark` describes its time attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAttribute:
    """The metadata of `_watermark` about the attribute that it belongs to.

    Attributes:
        path: the column, nested ones with dots.
        delay_ms: the value for `spark.watermarkDelayMs`.
        is_local: whether it is a TIMESTAMP_NTZ: row watermarks are then its wall clock read as UTC.
        time: `time_attributes.ROWTIME` or PROCTIME.
    """

    path: str
    delay_ms: int
    is_local: bool = False
    time: str = ROWTIME


def spark_schema(scan: Scan) -> StructType:
    """Return what `DataSource.schema()` reports.

    Data columns are nullable, because heartbeat rows hold nulls; the reader itself enforces NOT NULL on data rows.
    The hidden columns are declared NOT NULL: a null in them would lose rows silently.
    """
    data = from_arrow_schema(_delivered(scan), prefer_timestamp_ntz=True)
    fields = [StructField(f.name, f.dataType, nullable=True) for f in data.fields]
    strategy = scan.source.strategy
    if strategy is not None:
        info = watermark_metadata(
            attribute=strategy.attribute_name,
            delay_ms=scan.delay_ms,
            is_local=not scan.is_instant,
            is_clock=isinstance(strategy.rowtime, ClockOnly),
        )
        if strategy.params.late_rows is LateRows.MARK:
            fields.append(StructField(LATE_COLUMN, BooleanType(), nullable=True))
        fields += [
            StructField(WATERMARK_COLUMN, TimestampType(), nullable=False, metadata={METADATA_KEY: info}),
            StructField(HEARTBEAT_COLUMN, BooleanType(), nullable=False),
        ]
    return StructType(fields)


def _delivered(scan: Scan) -> pa.Schema:
    if scan.aggregation is not None:
        return aggregation_schema(scan.aggregation)
    if scan.packing is not None:
        return PACKED_ROWS
    whole = scan.source.schema
    return whole if scan.columns is None else scan.columns


def watermark_metadata(*, attribute: str, delay_ms: int | None, is_local: bool, is_clock: bool) -> dict[str, Any]:
    """Return the metadata of `_watermark` under `METADATA_KEY`.

    ``delay_ms`` = None: not constant. Of a TIMESTAMP_NTZ (``is_local``) row watermarks are its wall clock read as UTC.
    """
    return {
        "attribute": attribute,
        "delay_ms": delay_ms or 0,
        "is_delay_known": delay_ms is not None,
        "is_local": is_local,
        "time": PROCTIME if is_clock else ROWTIME,
    }


def arrow_output_schema(schema: StructType) -> pa.Schema:
    """Return the exact Arrow schema that Spark compares our batches with."""
    return to_arrow_schema(schema, timezone="UTC")


def time_attribute_of(schema: StructType) -> TimeAttribute:
    """Return the time attribute of a loaded stream.

    Raises:
        QueryError: the stream has no hidden columns, or lost them.
    """
    has_columns = WATERMARK_COLUMN in schema.names and HEARTBEAT_COLUMN in schema.names
    if not has_columns and any(DELAY_KEY in field.metadata for field in schema.fields):
        raise QueryError(
            "this stream is attached already: read_stream() and with_source_watermark() attach once and for all. "
            "Leave the second call out; over() and session windows take the stream as load() returns it."
        )
    if not has_columns:
        raise QueryError(
            f"the DataFrame has no columns '{WATERMARK_COLUMN}' and '{HEARTBEAT_COLUMN}'. Load it from a Tidemark "
            f"source with the options watermark.for and watermark.as, and attach it before any select()."
        )
    raw: Any = schema[WATERMARK_COLUMN].metadata.get(METADATA_KEY)
    if not isinstance(raw, dict):
        raise QueryError(
            f"the column '{WATERMARK_COLUMN}' lost its metadata: call with_source_watermark() directly on the loaded "
            f"DataFrame."
        )
    return TimeAttribute(
        path=str(raw["attribute"]),
        delay_ms=int(raw["delay_ms"]),
        is_local=bool(raw.get("is_local", False)),
        time=str(raw.get("time", ROWTIME)),
    )
