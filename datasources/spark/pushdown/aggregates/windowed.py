"""windowed(): aggregates over windows of a stream, computed in part by the readers of its source."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import TimestampNTZType, TimestampType

from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.attach.attach import with_source_watermark
from datasources.spark.boundary.connect import is_connect
from datasources.spark.plans.connect_plan import sql_with_views
from datasources.spark.plans.session_checks import require_frame
from datasources.spark.pushdown.aggregates.aggregate_pushdown import push_aggregates
from datasources.spark.pushdown.aggregates.time_window import WINDOW_COLUMNS, TimeWindow
from datasources.spark.scan.time_attributes import ROWTIME, time_metadata

_NO_ROW_WATERMARK: Final = ""
_numbers = itertools.count(1)


def windowed(
    df: DataFrame, aggregates: Mapping[str, str], *, window: TimeWindow, attribute: str, keys: Sequence[str] = ()
) -> DataFrame:
    """Return aggregates of the rows of each window and key.

    The readers of the source group what they read, and Spark combines the groups: the results are those of
    ``df.groupBy(F.window(...), *keys).agg(...)``, at a lower cost. Late rows are dropped by Spark's rule. What readers
    cannot compute exactly stays in Spark, on Spark Connect all of it; the plan that `explain()` prints has
    `scan.aggregation` among the options of the source where it does not.

    Args:
        df: a stream of a Tidemark source, attached (`read_stream`) or as `load()` returned it, with projections and
            filters at most. Or a batch DataFrame.
        aggregates: name of the new column -> Spark SQL over the columns of ``df``, such as `COUNT(*)`,
            `SUM(price) FILTER (WHERE is_paid)`, `MAX(price) - MIN(price)`.
        window: which windows: `TimeWindow.tumble(...)`, `.hop(...)`, `.cumulate(...)`.
        attribute: the column with the time, TIMESTAMP or TIMESTAMP_NTZ.
        keys: columns by which rows are grouped besides; empty: by the window only.

    Returns:
        window_start, window_end (event time for what follows), window_time (= window_end - 1 ms), the keys, the
        aggregates.

    Raises:
        QueryError: a column is missing or has the wrong type, an aggregate is malformed, or a name is there twice.
    """
    require_frame(df, "windowed()")
    if df.isStreaming and WATERMARK_COLUMN in df.columns:
        df = with_source_watermark(df)
    time, *names = [_column(df, name) for name in (attribute, *keys)]
    if not isinstance(df.schema[time].dataType, TimestampType | TimestampNTZType):
        raise QueryError(f"column '{time}' is {df.schema[time].dataType.simpleString()}, not a timestamp.")
    _require_distinct([*WINDOW_COLUMNS, *names, *aggregates])
    if not aggregates:
        raise QueryError("windowed() needs at least one aggregate, for example {'n': 'COUNT(*)'}.")
    rows = _rows_with_windows(df, window, time)
    try:
        grouped = rows.groupBy(*map(_named, ("window_start", "window_end", *names)))
        found = grouped.agg(*(F.expr(text).alias(name) for name, text in aggregates.items()))
    except AnalysisException as error:
        raise QueryError(f"an aggregate cannot be computed: {str(error).splitlines()[0]}") from error
    connect = is_connect(df.sparkSession)  # a client does not see the plan into which they would be pushed down
    pushed = found if connect else push_aggregates(found, row_watermark=_NO_ROW_WATERMARK).frame
    window_time = F.expr("window_end - INTERVAL '0.001' SECOND").alias(
        "window_time", metadata=time_metadata(time=ROWTIME, delay_ms=None)
    )
    return pushed.select(*map(_named, ("window_start", "window_end")), window_time, *map(_named, (*names, *aggregates)))


def _rows_with_windows(df: DataFrame, window: TimeWindow, time: str) -> DataFrame:
    view = f"tidemark_windowed_{next(_numbers)}"
    if is_connect(df.sparkSession):
        rows = sql_with_views(df.sparkSession, window.text(view, time), {view: df})
    else:
        df.createOrReplaceTempView(view)
        try:
            rows = df.sparkSession.sql(window.text(view, time))
        finally:
            df.sparkSession.catalog.dropTempView(view)
    if not df.isStreaming:
        return rows
    marked = rows.withMetadata("window_end", time_metadata(time=None, delay_ms=0))
    marker = window.marker(view, time, is_local=isinstance(df.schema[time].dataType, TimestampNTZType))
    return marked if marker is None else marked.alias(marker.alias)


def _named(name: str) -> Column:
    return F.col(quoted(name))


def _column(df: DataFrame, name: str) -> str:
    found: str | None = next((each for each in df.columns if each.lower() == name.lower()), None)
    if found is None:
        raise QueryError(f"there is no column '{name}'; columns: {df.columns}")
    return found


def _require_distinct(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise QueryError(f"the result would have two columns '{name}': choose another name.")
        seen.add(name.lower())
