"""Streams of which Spark would lose rows, or keep some forever, without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasources.spark.boundary.connect import is_connect
from datasources.spark.plans import explained_plan, grouping_checks, join_checks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def incomplete(frame: DataFrame) -> str | None:
    """Return why rows of a stream would be missing, and what to write instead; None if none are."""
    if not frame.isStreaming:
        return None
    if is_connect(frame.sparkSession):
        shown = explained_plan.analyzed_plan(frame)
        return explained_plan.lossy_join(shown) or explained_plan.endless_grouping(shown)
    return incomplete_plan(frame._jdf.queryExecution().analyzed())  # noqa: SLF001 - PySpark hides the plan


def incomplete_plan(plan: Any) -> str | None:
    """Return what `incomplete` does, of an analysed plan in the driver's process."""
    return join_checks.lossy_join(plan) or grouping_checks.endless_grouping(plan)
