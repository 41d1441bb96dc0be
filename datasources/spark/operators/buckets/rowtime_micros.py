"""Time attributes as microseconds since the epoch, the unit of all operators."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructField, StructType, TimestampNTZType, TimestampType

from datasources.errors import QueryError

_NTZ_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def require_time_column(schema: StructType, name: str) -> StructField:
    """Return the column.

    Raises:
        QueryError: there is none of that name, or it is no timestamp.
    """
    field = next((f for f in schema.fields if f.name.lower() == name.lower()), None)
    if field is None:
        raise QueryError(f"there is no column '{name}' for the time attribute; columns: {', '.join(schema.names)}.")
    if not isinstance(field.dataType, TimestampType | TimestampNTZType):
        raise QueryError(
            f"column '{field.name}' is {field.dataType.simpleString().upper()}, but a time attribute is a TIMESTAMP or "
            f"a TIMESTAMP_NTZ: cast it in the table's definition."
        )
    return field


def micros_of(field: StructField) -> Column:
    """Return the microseconds since the epoch of a column; a wall clock is read as UTC, never in the session's zone."""
    name = f"`{field.name}`"
    if isinstance(field.dataType, TimestampType):
        return F.unix_micros(F.col(name))
    seconds = f"CAST(CAST({name} - {_NTZ_EPOCH} AS INTERVAL SECOND) AS DECIMAL(18, 6))"
    return F.expr(f"CAST({seconds} * 1000000 AS BIGINT)")
