"""Checks of a temporal join before the query starts."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.boundary.connect import is_connect
from datasources.spark.operators.buckets.bucket_operator import require_buckets
from datasources.spark.operators.buckets.rowtime_micros import require_time_column
from datasources.spark.plans import connect_plan, explained_plan
from datasources.spark.plans.plan_walk import gives_windows
from datasources.spark.scan.schema import TimeAttribute, time_attribute_of
from datasources.spark.scan.time_attributes import DELAY_KEY, PROCTIME, TIME_KEY

PROCESSING_TIME: Final = "PROCTIME()"
"""Value of `as_of`: each row joins the latest version."""

_HOW: Final = ("inner", "left")
_EVENT_TIME_KEYS: Final = frozenset({DELAY_KEY, TIME_KEY})


def require_numbers(*, how: str, buckets: int, forget_deleted_ms: int | None) -> None:
    """Raise if a setting of the join is invalid.

    Raises:
        QueryError: naming the setting.
    """
    if how not in _HOW:
        raise QueryError(
            f"how='{how}': a temporal join is 'inner' or 'left'; the table's rows alone have no time to appear."
        )
    require_buckets(buckets)
    if forget_deleted_ms is not None and forget_deleted_ms < 0:
        raise QueryError(f"forget_deleted_ms = {forget_deleted_ms}: it cannot be negative.")


def require_sides(probe: DataFrame, build: DataFrame) -> None:
    """Raise if the two sides cannot be joined at all.

    Raises:
        QueryError: one is a stream and the other is not, one is attached, or the probe side is a changelog.
    """
    if probe.isStreaming != build.isStreaming:
        raise QueryError(
            "one side of the temporal join is a stream and the other is not: a table that is read once has no history; "
            "join a stream with it by Spark's own join."
        )
    for side, df in (("probe", probe), ("build", build)):
        lower = [name.lower() for name in df.columns]
        if len(set(lower)) < len(lower):
            raise QueryError(f"the {side} side has several columns of one name: {', '.join(df.columns)}.")
        if (side == "build" or not is_windowed(df)) and _is_attached(df):
            raise QueryError(
                f"the {side} side is attached already: a temporal join takes streams as load() returned them, or, as "
                f"its probe side, what a GROUP BY of windows made of an attached one. Attach the result, "
                f"with_source_watermark(temporal_join(...))."
            )
    if "row_kind" in (name.lower() for name in probe.columns):
        raise QueryError(
            "the probe side has a column 'row_kind', so it is a changelog: rows that left cannot be taken back. Keep "
            "its insertions (where row_kind = '+I') and drop the column, or join in the other direction."
        )


def times_of(
    probe: DataFrame, build: DataFrame, as_of: str, build_time: str | None
) -> tuple[StructField, StructField] | tuple[None, None]:
    """Return the time attributes of both sides; none in processing time.

    Raises:
        QueryError: one is missing, has the wrong type, or is not the attribute of the watermark.
    """
    if _is_processing_time(probe, as_of):
        if is_windowed(probe):
            raise QueryError(
                "the probe side gives results of windows, and those are joined as of their time: as_of='window_time'. "
                "A join in processing time takes a stream as load() returned it."
            )
        return None, None
    left = require_time_column(probe.schema, as_of)
    _require_watermarks(probe, build, left)
    if build_time is None and WATERMARK_COLUMN not in build.columns:
        raise QueryError(
            "the build side has no watermark that would name its time attribute: name it with build_time=."
        )
    right = require_time_column(build.schema, build_time or time_attribute_of(build.schema).path)
    if left.dataType != right.dataType:
        raise QueryError(
            f"'{left.name}' is {left.dataType.simpleString().upper()} and '{right.name}' "
            f"{right.dataType.simpleString().upper()}: both time attributes must be of one type, or their watermarks "
            f"cannot be compared."
        )
    return left, right


def _require_watermarks(probe: DataFrame, build: DataFrame, left: StructField) -> None:
    """Raise unless streams have watermarks, the probe side's for its time attribute."""
    windowed = is_windowed(probe)
    if windowed and not _EVENT_TIME_KEYS & set(left.metadata or ()):
        raise QueryError(
            f"the join is AS OF '{left.name}', which is no event time behind the windows of the probe side: join as of "
            f"F.window_time('window')."
        )
    for side, df in (("build", build),) if windowed else (("probe", probe), ("build", build)):
        if df.isStreaming and WATERMARK_COLUMN not in df.columns:
            raise QueryError(
                f"the {side} side has no columns '{WATERMARK_COLUMN}' and '{HEARTBEAT_COLUMN}': a temporal join in "
                f"event time takes streams as load() returned them, with watermark.for and watermark.as. Attach the "
                f"result."
            )
    if WATERMARK_COLUMN in probe.columns and not _is_of(time_attribute_of(probe.schema), left.name):
        raise QueryError(
            f"the join is AS OF '{left.name}', but the probe side's watermark is that of "
            f"'{time_attribute_of(probe.schema).path}': join as of that column, or make '{left.name}' the attribute."
        )


def is_windowed(df: DataFrame) -> bool:
    """Return whether a stream consists of window results of an attached stream."""
    if is_connect(df.sparkSession):
        return connect_plan.gives_windows(df) or (
            df.isStreaming and explained_plan.gives_windows(explained_plan.analyzed_plan(df))
        )
    return df.isStreaming and gives_windows(df._jdf.queryExecution().analyzed())  # noqa: SLF001 - PySpark hides the plan


def _is_attached(df: DataFrame) -> bool:
    return any(DELAY_KEY in (field.metadata or {}) for field in df.schema.fields)


def _is_processing_time(probe: DataFrame, as_of: str) -> bool:
    if as_of.replace(" ", "").upper() == PROCESSING_TIME:
        return True
    if WATERMARK_COLUMN not in probe.columns:
        return False
    attribute = time_attribute_of(probe.schema)
    return attribute.time == PROCTIME and _is_of(attribute, as_of)


def _is_of(attribute: TimeAttribute, column: str) -> bool:
    """Whether a column is the attribute; a nested one `a.b` may appear as `a_b`."""
    path = attribute.path.replace("`", "").lower()
    return column.lower() in {path, path.replace(".", "_")}
