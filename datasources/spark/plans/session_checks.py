"""Settings of a session under which a source's watermark would be ignored or lie."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from datasources.errors import QueryError
from datasources.spark.boundary.connect import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXCHANGE_REUSE = "spark.sql.exchange.reuse"
"""Why it is off where a watermark is followed: see `datasources.spark.attach.listener`."""

_logger = logging.getLogger(__name__)

_POLICY = "spark.sql.streaming.multipleWatermarkPolicy"
_ALLOW_MULTIPLE = "spark.sql.streaming.statefulOperator.allowMultiple"
_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"


def registered_formats(spark: SparkSession) -> frozenset[str]:
    """Return the names of the formats that `register()` made known to the session, in lower case."""
    return frozenset(name.lower() for name in getattr(spark, "_tidemark_formats", {}))


def require_session(spark: SparkSession) -> None:
    """Raise where None is passed instead of a session.

    Raises:
        QueryError: it is None.
    """
    if spark is None:
        raise QueryError("there is no Spark session: None was given instead.")


def require_classic(spark: SparkSession, what: str) -> None:
    """Raise on Spark Connect, for what has to read Spark's plans: a client has no access to them.

    Args:
        spark: the session.
        what: the subject of the message, such as "a table in SQL".

    Raises:
        QueryError: naming where to run instead, or that there is no session.
    """
    require_session(spark)
    if is_connect(spark):
        raise QueryError(
            f"{what} needs Spark's plan, which a Spark Connect client does not have: run the job in the driver's own "
            f"process (spark-submit, or a session without .remote(...))."
        )


def require_frame(df: DataFrame, what: str) -> None:
    """Raise where None is passed instead of the result of a call.

    Raises:
        QueryError: it is None.
    """
    if df is None:
        raise QueryError(f"{what} needs a DataFrame, and None was given.")


def require_working_settings(spark: SparkSession) -> None:
    """Raise or warn if the session's settings break event time.

    Raises:
        QueryError: naming the setting and the value that works.
    """
    if str(spark.conf.get(_POLICY, "min")).lower() == "max":
        raise QueryError(
            f"{_POLICY} is 'max': the fastest source would decide which rows of the slower ones are dropped. Set it to "
            f"'min'."
        )
    if str(spark.conf.get(_ALLOW_MULTIPLE, "true")).lower() == "false":
        raise QueryError(
            f"{_ALLOW_MULTIPLE} is false: Spark then drops late rows by the current instead of the previous batch's "
            f"watermark. Set it to true."
        )
    if str(spark.conf.get(_NO_DATA, "true")).lower() == "false":
        _logger.warning(
            "%s is false: results appear with the next batch after the watermark moved, not with the heartbeat",
            _NO_DATA,
        )
