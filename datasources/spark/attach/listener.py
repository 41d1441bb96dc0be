"""What register() learns from Spark while queries run, and the one setting that it changes.

Spark calls `onQueryStarted` before the first batch of a run, and waits for it. So what makes a query wrong is found
before its tasks ask to be admitted; they then raise the reason.

**Exchanges are not reused** in queries that follow a watermark of ours. Where two branches of a plan are alike up to a
shuffle, Spark runs that shuffle once and puts a ReusedExchange into the other branch. It has no children, so when Spark
computes each operator's watermark from the plan of the batch before (`shouldRunAnotherBatch` and the
`PropagateWatermarkSimulator`), the other branch has none: its aggregations close no window and take rows that are late.
The setting is changed in the query's own session, which Spark has cloned from the user's.
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
from datasources.source.coordination.server import Coordinator
from datasources.spark.plans.incomplete import incomplete_plan
from datasources.spark.plans.load_gate_checks import builds_by_name, gate_options_of
from datasources.spark.plans.plan_walk import forgets_duplicates_at_once, has_attachment
from datasources.spark.plans.session_checks import EXCHANGE_REUSE, require_working_settings

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

_logger = logging.getLogger(__name__)


class QueryListener(StreamingQueryListener):
    """Tells the coordinator which runs may go on and how much state they keep."""

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
            sources = gate_options_of(plan)
            lossy = None
            if has_attachment(plan):
                lossy = incomplete_plan(plan)
                query.streamingQuery().sparkSessionForStream().conf().set(EXCHANGE_REUSE, "false")
        except (Py4JError, AttributeError) as error:
            return f"Spark does not let its plan be read, so it cannot be checked: {str(error)[:200]}"
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
        return lossy


class _Events(JStreamingQueryListener):
    """What Java calls; of a batch's progress it takes what we need.

    PySpark's own takes everything, with a call to the JVM for each of some two hundred numbers: a twentieth of the CPU
    of a query of small batches.
    """

    def onQueryProgress(self, jevent: JavaObject) -> None:  # noqa: N802
        progress = jevent.progress()
        rows = sum(operator.numRowsTotal() for operator in progress.stateOperators())
        self.pylistener.note_progress(progress.id().toString(), progress.batchId(), rows)
