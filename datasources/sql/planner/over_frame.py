"""OVER of a table: the operator above a loaded scan, and how EXPLAIN shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import QueryError, SqlError
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators import OverFrame, over
from datasources.sql.query.block.relation import OverRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def over_rows(rows: DataFrame, request: OverRequest, *, is_exact: bool, ttl_ms: int | None) -> DataFrame:
    """Return loaded rows with the aggregates, hidden columns last. Bounded RANGE frames need no TTL.

    Raises:
        SqlError: there is no such aggregate of a stream.
    """
    aliased = rows.alias(request.alias) if request.alias else rows
    if request.condition is not None:
        # No expression of a user's ever sees a heartbeat, and every heartbeat has to pass.
        aliased = aliased.where(F.expr(f"CASE WHEN {HEARTBEAT_COLUMN} THEN true ELSE ({request.condition}) END"))
    try:
        return over(
            aliased,
            request.aggregates,
            keys=request.keys,
            attribute=request.attribute,
            frame=_frame(request),
            processing_time=request.is_processing_time,
            ttl_ms=ttl_ms if request.is_rows or request.preceding is None else None,
            exact=is_exact,
        )
    except QueryError as error:
        raise SqlError(f"{request.shown}: {error.message}") from error


def over_line(request: OverRequest) -> str:
    """Return the operator as EXPLAIN shows it, with Flink's name."""
    parts = [f"partitionBy=[{', '.join(request.keys)}]"] if request.keys else []
    time = " (processing time)" if request.is_processing_time else ""
    parts += [f"orderBy=[{request.attribute} ASC{time}]", f"window=[{_frame(request).shown}]"]
    if request.condition is not None:
        parts.append(f"where=[{' '.join(request.condition.split())}]")
    shown = ", ".join(f"{text} AS {name}" for name, text in request.aggregates.items())
    return f"OverAggregate({', '.join([*parts, f'select=[{shown}]'])})"


def _frame(request: OverRequest) -> OverFrame:
    return OverFrame.rows(request.preceding) if request.is_rows else OverFrame.range(request.preceding)
