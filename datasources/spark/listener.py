"""What register() learns from Spark while queries run.

Spark calls `onQueryStarted` before the first batch of a run, and waits for it. So a query over a source with hidden
columns that was never attached is found before its tasks ask to be admitted; they then raise the reason.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql.streaming.listener import (
    JStreamingQueryListener,
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from datasources.errors import QueryError
from datasources.source.coordinator import Coordinator
from datasources.spark.hold_check import builds_by_name, holds_of
from datasources.spark.plan_walk import forgets_duplicates_at_once, is_fully_attached
from datasources.spark.session_checks import require_working_settings

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

__all__ = ["NOT_ATTACHED", "QueryListener"]

_logger = logging.getLogger(__name__)

NOT_ATTACHED = (
    "the query reads a source with a watermark but was not attached to it, so its operators would see heartbeat rows "
    "and ignore the watermark. Use read_stream(...), or with_source_watermark(df) directly on the loaded DataFrame; "
    "without watermark.for the source is a plain one."
)


class QueryListener(StreamingQueryListener):
    """Tells the coordinator which runs are attached and how much state they keep.

    Args:
        spark: the session whose queries it hears.
        coordinator: of the application.
    """

    def __init__(self, spark: SparkSession, coordinator: Coordinator) -> None:
        super().__init__()
        self._spark = spark
        self._coordinator = coordinator
        self._java: JavaObject | None = None

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Look at the plan of a query that is about to run."""
        run_id = str(event.runId)
        self._coordinator.registry.expect_builds(run_id, {})
        reason = self._reason_to_refuse(str(event.id), run_id)
        if reason is None:
            self._coordinator.registry.allow(run_id)
        else:
            self._coordinator.registry.refuse(run_id, reason)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Nothing to note: `_Events` has called `note_progress`."""

    def note_progress(self, query_id: str, batch_id: int, state_rows: int) -> None:
        """Note the rows of state after a batch."""
        self._coordinator.registry.progress(query_id, batch_id=batch_id, state_rows=state_rows)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing to note."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Forget the run."""
        self._coordinator.registry.terminated(str(event.id), str(event.runId))

    @property
    def _jlistener(self) -> JavaObject:
        if self._java is None:
            jvm = SparkContext._jvm  # noqa: SLF001 - as PySpark's own property does it
            self._java = jvm.PythonStreamingQueryListenerWrapper(_Events(self))
        return self._java

    def _reason_to_refuse(self, query_id: str, run_id: str) -> str | None:
        try:
            query = self._spark._jsparkSession.streams().get(query_id)  # noqa: SLF001 - PySpark hides the plan
            plan = query.streamingQuery().analyzedPlan()
            sources = holds_of(plan)
        except (Py4JError, AttributeError) as error:
            _logger.warning("query_plan_unreadable query=%s error=%r", query_id, str(error)[:200])
            return None
        if not is_fully_attached(plan):
            return NOT_ATTACHED
        if forgets_duplicates_at_once(plan):
            _logger.warning(
                "query %s uses dropDuplicatesWithinWatermark, but watermark.as has no constant bound: a key is "
                "forgotten as soon as the watermark passes it. Set watermark.dedup-horizon.",
                query_id,
            )
        try:
            require_working_settings(self._spark)
            builds = builds_by_name(sources)
        except QueryError as error:
            return error.message
        self._coordinator.registry.expect_builds(run_id, builds)
        return None


class _Events(JStreamingQueryListener):
    """What Java calls; of a batch's progress it takes what we need.

    PySpark's own takes everything, with a call to the JVM for each of some two hundred numbers: a twentieth of the CPU
    of a query of small batches.
    """

    def onQueryProgress(self, jevent: JavaObject) -> None:  # noqa: N802
        progress = jevent.progress()
        rows = sum(operator.numRowsTotal() for operator in progress.stateOperators())
        self.pylistener.note_progress(progress.id().toString(), progress.batchId(), rows)
