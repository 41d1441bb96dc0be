"""The adapter to Spark's streaming reader.

Copies of this object live in two places: one in the *planner process*, as long as the query, where Spark asks for
offsets and partitions; and pickled ones on executors, where only `read()` is called. What a task needs travels in its
partition. camelCase is Spark's.
"""

from __future__ import annotations

import functools
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from datasources.errors import OptionError
from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.scan_range import ScanEnd, ScanRange
from datasources.source.checkpoint.identity import require_same_identity
from datasources.source.checkpoint.offset import Offset, with_dead_letter_id
from datasources.source.coordination.client import CoordinatorClient, CoordinatorLink
from datasources.source.coordination.lease import LeaseRenewal
from datasources.source.coordination.server import Coordinator, Endpoint
from datasources.source.planning.planner import BatchPlanner
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_planning import plan_tasks
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.source.watermarks.source_status import SourceStatus
from datasources.spark.adapter.application_coordinator import ApplicationCoordinator
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.partition import TaskPartition
from datasources.spark.adapter.task_channel import TaskChannel
from datasources.spark.boundary.errors import spark_entry, spark_errors
from datasources.spark.boundary.package_version import PackageVersion
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.scan.scan import Scan
from watermark import SystemClock

_RUNNER_STATE = ("planner", "_find", "_link", "_lease_renewal", "_source_id", "_pause")
_WATCHED_SPLITS = 1_000
_PROGRESS_SPLITS = 100
_NS_PER_S = 1_000_000_000


class TidemarkStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads one scan as a stream."""

    def __init__(self, scan: Scan, output: pa.Schema, binding: Binding) -> None:
        self._scan = scan
        self._output = output
        self._binding = binding
        self._initial: dict[str, Any] | None = None
        self._last: Offset | None = None
        self._last_raw: dict[str, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Executors get the description only: no planner, no connection, no thread."""
        kept = {key: value for key, value in self.__dict__.items() if key not in _RUNNER_STATE}
        return {"_version": PackageVersion(), **kept}  # in this order: an executor of another version stops at it

    # -- in the planner process --

    @functools.cached_property
    def planner(self) -> BatchPlanner:
        """The planner of this process."""
        source = self._scan.source
        return BatchPlanner(
            enumerator=source.enumerator(is_batch=False),
            report_store=self._link,
            scan=self._scan_on_driver,
            settings=self._scan.planner_settings(),
            clock=SystemClock(),
            peers=self._link,
            lookahead=None if source.strategy is None else ReaderLookahead(source.reader_factory(), source.strategy),
            load_gates=self._link,
        )

    @functools.cached_property
    def _link(self) -> CoordinatorLink:
        return CoordinatorLink(CoordinatorClient(self._find), self._source_id)

    @functools.cached_property
    def _lease_renewal(self) -> LeaseRenewal:
        """The background thread: it renews the lease however long a batch takes, and publishes the table."""
        strategy = self._scan.source.strategy
        alignment = None if strategy is None else strategy.params.alignment
        return LeaseRenewal(
            CoordinatorClient(self._find),
            source=self._source_id,
            name=self._scan.source.subscription,
            interval_ms=1_000 if alignment is None else alignment.update_interval_ms,
            is_watched=self._binding.is_watched,
        )

    @functools.cached_property
    def _pause(self) -> threading.Event:
        return threading.Event()  # never set: Spark asks about 100 times a second, the brokers should not be

    @functools.cached_property
    def _find(self) -> Callable[[], Endpoint]:
        """Return what finds the coordinator: it may be replaced while the query runs."""
        bound = self._binding.endpoint
        if bound is not None:
            return lambda: bound
        found = ApplicationCoordinator.of_this_process(self._binding.coordinator)
        if found is not None:
            return found.endpoint
        _require_alone(self._scan)
        private = Coordinator()  # only tasks on this machine can reach it
        return lambda: private.endpoint

    @functools.cached_property
    def _source_id(self) -> str:
        return secrets.token_hex(16)

    @spark_entry
    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return where a new query begins. Spark asks twice; "latest" is resolved once."""
        if self._initial is None:
            self._initial = self.planner.initial().to_json()
        return self._initial

    @spark_entry
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return the end of the next batch, or `start` if there is nothing to do."""
        budget = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        self._pause.wait(self.planner.poll_delay_ns() / _NS_PER_S)
        offset = self._parse(start)
        planned = self.planner.plan(offset, budget)
        self._last, self._last_raw = planned, start if planned is offset else planned.to_json()
        status, gate_request = self._status(), self.planner.gate_request
        if status is not None or gate_request is not None:
            self._lease_renewal.update(
                status, lambda: self.planner.table(planned, max_splits=_WATCHED_SPLITS), gate_request
            )
        return self._last_raw

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the bound that the options set."""
        rows = self._scan.max_rows_per_batch
        return ReadAllAvailable() if rows is None else ReadMaxRows(rows)

    @spark_entry
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Fix the end of this run."""
        self.planner.limit_to_available_now()

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        """Return the state of every split, for the query's progress."""
        return None if self._last is None else self.planner.table(self._last, max_splits=_PROGRESS_SPLITS)

    @spark_entry
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:  # noqa: ARG002 - a batch lies in its own end
        """Return the tasks of a batch. Needs nothing but `end`: it may be the first call of a new process."""
        offset = self._localized(self._parse(end))
        require_same_identity(offset.identity, self._scan.planner_settings())
        if self._scan.source.writes_dead_letters:
            offset = with_dead_letter_id(offset)  # it has none where the batch was planned without the option
        has_watermark = self._scan.source.strategy is not None
        max_tasks, division = self._binding.max_tasks, self._scan.source.division
        plans = plan_tasks(offset, has_watermark=has_watermark, max_tasks=max_tasks, division=division)
        endpoint = self._find()
        return [TaskPartition(plan, source=self._source_id, endpoint=endpoint) for plan in plans]

    def commit(self, end: dict[str, Any]) -> None:
        """Do nothing: offsets are the source's whole memory, and Spark keeps them."""

    def stop(self) -> None:
        """Release the runner's connections, and what other sources of the group know of this one."""
        for name in ("_lease_renewal", "planner"):
            opened = self.__dict__.get(name)
            if opened is not None:
                opened.close()
        link = self.__dict__.get("_link")
        if link is not None:
            link.end()

    def _status(self) -> SourceStatus | None:
        """Return the last published status; a source without a watermark has none."""
        return None if self._scan.source.strategy is None else self.planner.status

    def _localized(self, offset: Offset) -> Offset:
        return offset if offset.state is None else self.planner.localize(offset)

    def _parse(self, raw: dict[str, Any]) -> Offset:
        if self._last is not None and self._last_raw == raw:  # the usual case, about 100 times a second
            return self._last
        return Offset.from_json(raw)

    def _scan_on_driver(self, wanted: ScanRange) -> ScanEnd:
        source = self._scan.source
        return scan_watermark(source.reader_factory(), source.strategy, wanted)

    # -- on an executor --

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one task's batches."""
        assert isinstance(partition, TaskPartition)
        with spark_errors():
            channel = TaskChannel.of(partition)
            if channel is not None:
                channel.require_admission()
            source = self._scan.source
            reader = TaskReader(
                factory=source.reader_factory(),
                strategy=source.strategy,
                output=OutputSchema(self._output),
                condition=self._scan.condition,
                replacement=self._scan.replacement,
            )
            yield from reader.run(partition.plan, channel.report if channel else lambda _: None)
            freeze_worker_heap()


def _require_alone(scan: Scan) -> None:
    """Raise for what could not work: a private coordinator knows one source only."""
    if scan.gate is not None:
        raise OptionError(
            f"scan.hold.until = '{','.join(scan.gate.until)}' needs the application's coordinator: call "
            f"datasources.register(spark) before the query starts, or use read_stream(...)."
        )
    strategy = scan.source.strategy
    if strategy is not None and strategy.params.alignment is not None:
        raise OptionError(
            f"alignment group '{strategy.params.alignment.group}' needs the application's coordinator: call "
            f"datasources.register(spark) before the query starts, or use read_stream(...)."
        )
