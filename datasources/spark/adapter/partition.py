"""What travels to an executor with a partition, beside the pickled reader."""

from __future__ import annotations

from pyspark.sql.datasource import InputPartition

from datasources.source.coordination.server import Endpoint
from datasources.source.reading.task_plan import TaskPlan


class TaskPartition(InputPartition):
    """One task's plan, and where to report.

    The endpoint is None where nothing is reported (batch reads).
    """

    def __init__(self, plan: TaskPlan, *, source: str = "", endpoint: Endpoint | None = None) -> None:
        super().__init__(None)
        self.plan = plan
        self.source = source
        self.endpoint = endpoint

    def __repr__(self) -> str:
        return f"TaskPartition({[task.split for task in self.plan.splits]})"
