"""Sessions and DataFrames of Spark Connect: clients of a driver in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGE: Final = "pyspark.sql.connect."
_IN_PIPELINE: Final = "SESSION_MUTATION_IN_DECLARATIVE_PIPELINE"


def is_connect(spark: SparkSession) -> bool:
    """Return whether a session is a client of Spark Connect."""
    return type(spark).__module__.startswith(_PACKAGE)


def set_in_session(spark: SparkSession, key: str, value: str) -> bool:
    """Set a setting of a session; return whether it has the value now: the definition of a pipeline may set none."""
    from pyspark.errors import PySparkException

    if spark.conf.get(key, None) == value:
        return True
    try:
        spark.conf.set(key, value)
    except PySparkException as refusal:
        if not str(refusal.getCondition()).startswith(_IN_PIPELINE):
            raise
        return False
    return True


def application_setting(spark: SparkSession, key: str) -> str | None:
    """Return a setting of the application, None if it is not set or empty.

    A client of Spark Connect sees what its session sees, which its user may have changed.
    """
    conf = spark.conf if is_connect(spark) else spark.sparkContext.getConf()
    return conf.get(key, None) or None
