"""Giving a column back what made it a time attribute.

Any expression over a time attribute (`date_trunc`, a cast, `+ interval`, mapInArrow) gives an ordinary timestamp:
Spark keeps the mark in the column's metadata, and expressions drop it. What was event time before usually still is.
"""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import TimestampNTZType, TimestampType

from datasources.durations import parse_duration_ms
from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.spark.boundary.connect import is_connect
from datasources.spark.plans import connect_plan
from datasources.spark.plans.plan_walk import attached_delays_ms, projected_expression
from datasources.spark.plans.session_checks import require_frame
from datasources.spark.scan.time_attributes import ROWTIME, time_metadata

_PAST = re.compile(r"-\s*INTERVAL|-\s*make_interval|\+\s*INTERVAL\s*'?-", re.IGNORECASE)


def keep_time_attribute(df: DataFrame, column: str, *, shift: str | None = None) -> DataFrame:
    """Return `df` with `column` marked as event time again.

    Args:
        df: a DataFrame that comes from an attached stream.
        column: a TIMESTAMP or TIMESTAMP_NTZ column computed from the time attribute.
        shift: by how much the expression moves times to the future at least, for example '1 hour'. It is your
            statement; a shift to the past would make every row late and is refused.

    Raises:
        QueryError: no such column, not a timestamp, not from an attached stream, or shifted to the past.
    """
    require_frame(df, "keep_time_attribute()")
    if column not in df.columns:
        raise QueryError(f"there is no column '{column}'; columns: {df.columns}")
    if not isinstance(df.schema[column].dataType, TimestampType | TimestampNTZType):
        raise QueryError(f"column '{column}' is {df.schema[column].dataType.simpleString()}, not a timestamp")
    _require_no_past(df, column, shift)
    delay_ms = _delay_of(df)
    marks = time_metadata(time=ROWTIME, delay_ms=delay_ms)
    restored = F.col(quoted(column)).alias(column, metadata=marks)
    if is_connect(df.sparkSession):  # where withColumn loses the marks
        return df.select(*(restored if name == column else F.col(quoted(name)) for name in df.columns))
    return df.withColumn(column, restored)  # other columns may have one name


def _require_no_past(df: DataFrame, column: str, shift: str | None) -> None:
    if shift is not None:
        if shift.strip().startswith("-"):
            raise QueryError(
                f"a shift of {shift} moves '{column}' to the past: every row would be late against the watermark"
            )
        parse_duration_ms(shift, key="shift")
        return
    connect = is_connect(df.sparkSession)
    expression = connect_plan.projected_expression(df, column) if connect else projected_expression(_plan(df), column)
    if expression is not None and _PAST.search(expression):
        raise QueryError(
            f"'{column}' is computed as [{expression}], which moves it to the past: every row would be late against "
            f"the watermark. Put the delay into watermark.as instead."
        )


def _delay_of(df: DataFrame) -> int:
    connect = is_connect(df.sparkSession)
    delays = connect_plan.attached_delays_ms(df) if connect else attached_delays_ms(_plan(df))
    if not delays:
        raise QueryError(
            "the DataFrame does not come from a stream that was attached with with_source_watermark() or read_stream()"
        )
    return max(delays)


def _plan(df: DataFrame) -> Any:
    return df._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark itself only prints plans
