"""Secret options in Spark's plans: the session's redaction is widened to those that Spark does not know.

Spark shows the options of a streaming relation in its logical plans (``explain("extended")``, the event log of the UI).
It redacts by two patterns: ``spark.redaction.regex`` of the application, which is fixed when Spark starts, and
``spark.sql.redaction.options.regex`` of the session, which is set here. Queries that run take over the session's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from datasources.secret_keys import redaction_pattern

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["redact_options"]

_PATTERN: Final = "spark.sql.redaction.options.regex"
_WIDENED: Final = "(?:{})|{}"


def redact_options(spark: SparkSession) -> None:
    """Let Spark redact the values of secret options; what the session redacts already stays redacted."""
    ours, present = redaction_pattern(), str(spark.conf.get(_PATTERN, "") or "")
    if not present.endswith(ours):
        spark.conf.set(_PATTERN, _WIDENED.format(present, ours) if present else ours)
