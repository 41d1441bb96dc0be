"""Marks on columns: which are event time to Spark's operators, and which are time attributes to SQL.

Spark's mark is `spark.watermarkDelayMs` in a column's metadata. It is not enough for SQL: `window_time` is a time
attribute and no event time, and a processing-time attribute need not be event time at all. So attributes carry a mark
of ours beside it. Spark keeps both through projections, filters and views, and drops them with any expression.
"""

from __future__ import annotations

from typing import Any

DELAY_KEY = "spark.watermarkDelayMs"
TIME_KEY = "tidemark.time"
ROWTIME = "rowtime"
PROCTIME = "proctime"


def time_metadata(*, time: str | None, delay_ms: int | None) -> dict[str, Any]:
    """Return a column's metadata."""
    metadata: dict[str, Any] = {}
    if delay_ms is not None:
        metadata[DELAY_KEY] = delay_ms
    if time is not None:
        metadata[TIME_KEY] = time
    return metadata
