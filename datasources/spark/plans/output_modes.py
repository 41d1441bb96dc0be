"""Whether Spark can run a streaming query at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from datasources.spark.boundary.refusals import REFUSALS, message_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MODES: Final = ("Append", "Update", "Complete")


def unsupported_streaming(frame: DataFrame, modes: Sequence[str] = _MODES) -> str | None:
    """Return why Spark runs a stream in none of these output modes; None if it does in one, or for a batch."""
    if not frame.isStreaming:
        return None
    jvm: Any = frame.sparkSession._jvm  # noqa: SLF001 - the check that Spark makes when a query starts
    checker = getattr(getattr(jvm.org.apache.spark.sql.catalyst.analysis, "UnsupportedOperationChecker$"), "MODULE$")
    known = jvm.org.apache.spark.sql.streaming.OutputMode
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    reasons = []
    for mode in modes:
        try:
            checker.checkForStreaming(plan, getattr(known, mode)())
        except REFUSALS as refusal:
            reasons.append(message_of(refusal).split("\n", 1)[0].rstrip(";"))
        else:
            return None
    return next((reason for reason in reasons if "output mode" not in reason), reasons[0])
