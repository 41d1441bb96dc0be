"""A task's side of the channel: may the query run, and the report at the end.

Connections are kept per worker process, because Spark reuses workers for many tasks and batches.
"""

from __future__ import annotations

from pyspark import TaskContext

from datasources.errors import NonDeterminismError, QueryError
from datasources.source.coordination.client import CoordinatorClient
from datasources.source.coordination.reports import SplitReport
from datasources.source.coordination.server import Endpoint
from datasources.spark.adapter.partition import TaskPartition

_clients: dict[Endpoint, CoordinatorClient] = {}
_admitted: set[tuple[Endpoint, str]] = set()


class TaskChannel:
    """The channel of one task."""

    def __init__(self, endpoint: Endpoint, source: str) -> None:
        self._endpoint = endpoint
        self._source = source
        self._client = _clients.setdefault(endpoint, CoordinatorClient(endpoint))

    @classmethod
    def of(cls, partition: TaskPartition) -> TaskChannel | None:
        """Return the channel of a partition, None if it has none."""
        return None if partition.endpoint is None else cls(partition.endpoint, partition.source)

    def require_admission(self) -> None:
        """Raise if the listener rejected this query run because it would give wrong rows.

        Asked once per query run and worker. A coordinator that cannot be reached refuses nothing.

        Raises:
            QueryError: naming the change that is needed.
        """
        run_id = _property("spark.jobGroup.id")
        if run_id is None or (self._endpoint, run_id) in _admitted:
            return
        answer = self._client.ask({"ask": "admit", "run": run_id})
        if answer is None:
            return
        if answer.get("refused"):
            raise QueryError(str(answer["refused"]))
        _admitted.add((self._endpoint, run_id))

    def report(self, reports: list[SplitReport]) -> None:
        """Deliver the reports of a task; an undelivered one costs the next batch a second look at the range.

        Raises:
            NonDeterminismError: another task reported something else for the same range.
        """
        answer = self._client.ask(
            {
                "ask": "report",
                "source": self._source,
                "query": _property("sql.streaming.queryId"),
                "run": _property("spark.jobGroup.id"),
                "batch": int(_property("streaming.sql.batchId") or -1),
                "reports": [report.to_json() for report in reports],
            }
        )
        if answer is not None and answer.get("conflict"):
            raise NonDeterminismError(str(answer["conflict"]))


def _property(name: str) -> str | None:
    context = TaskContext.get()
    value = None if context is None else context.getLocalProperty(name)
    return None if value is None else str(value)
