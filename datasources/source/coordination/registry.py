"""The coordinator's memory of the sources, tasks and listener of one application, without its sockets.

Theory of operation. It keeps, per *source run* (a random id that every new planner process takes): reports of the
newest batches, the query behind the source as its tasks saw it, the source's last status, and its table for
people. Spark's listener reports which runs of a query are active and how much state a query keeps.
It decides nothing: planners do.

A source that sends nothing for a lease expires, so that it does not hold back its group indefinitely; a live one renews
in the background, however long a batch takes. For the other sources of its own query run it counts until that run ends:
Spark asks all of them in every trigger, so a process that was paused for minutes (a suspended machine) plans before the
batch of the others is read, and from its own position. Requests are bounded: `_KEPT_BATCHES` batches per run,
`_MAX_RUNS` source runs, `_MAX_QUERIES` query runs; the oldest goes first, should Spark never report its end.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from datasources.errors import CoordinatorError, TidemarkError
from datasources.source.coordination.gate_registry import LoadGateRegistry, request_of, unknown_query_answer
from datasources.source.coordination.reports import SplitReport
from datasources.source.coordination.request_fields import list_field, number_field, object_field, text_field
from datasources.source.load_gate.gate_protocol import LoadGateRequest
from datasources.source.watermarks.source_status import SourceStatus
from watermark import Clock, SystemClock

__all__ = ["LEASE_S", "QueryInfo", "SourceRegistry"]

LEASE_S = 60
_KEPT_BATCHES = 3
_MAX_RUNS = 1_000
_MAX_QUERIES = 10_000
_NS_PER_S = 1_000_000_000

V = TypeVar("V")


@dataclass(slots=True, kw_only=True)
class QueryInfo:
    """What the listener reported of one query. `state_rows` None = no progress yet."""

    state_rows: int | None = None
    batch_id: int = -1


@dataclass(slots=True)
class _SourceRun:
    reports: OrderedDict[int, dict[str, SplitReport]] = field(default_factory=OrderedDict)
    conflict: str | None = None
    query_id: str | None = None
    query_run: str | None = None
    batch_id: int = -1
    status: SourceStatus | None = None
    alive_until_ns: int = 0
    name: str = ""
    table: dict[str, Any] | None = None
    gate_request: LoadGateRequest | None = None
    gate_requests: int = 0


class SourceRegistry:
    """Answers requests; safe to call from many threads."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _SourceRun] = OrderedDict()
        self._queries: OrderedDict[str, QueryInfo] = OrderedDict()
        self._refused: OrderedDict[str, str] = OrderedDict()
        self._checked: OrderedDict[str, None] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._load_gates = LoadGateRegistry()

    # -- called by the listener, in the driver's process --

    def allow(self, run_id: str) -> None:
        """Note that the query run `run_id` passed all checks."""
        with self._lock:
            _put(self._checked, run_id, None)

    def refuse(self, run_id: str, reason: str) -> None:
        """Note that tasks of the query run `run_id` must not emit a row, and why."""
        with self._lock:
            _put(self._refused, run_id, reason)

    def expect_builds(self, run_id: str, builds: Mapping[str, int]) -> None:
        """Note how many sources of each name, by which others wait for them, the plan of a query run has.

        Empty = none, or the plan could not be read. Until this is called no gate in the run opens.
        """
        with self._lock:
            _put(self._load_gates.expected, run_id, dict(builds))

    def expect_no_listener(self) -> None:
        """Note that none will call: the builds of a run are those that report."""
        with self._lock:
            self._load_gates.has_listener = False

    def progress(self, query_id: str, *, batch_id: int, state_rows: int) -> None:
        """Note how many rows of state a query kept after a batch (0 also for a stateless query)."""
        with self._lock:
            _put(self._queries, query_id, QueryInfo(state_rows=state_rows, batch_id=batch_id))

    def terminated(self, query_id: str, run_id: str) -> None:
        """Forget a run, and the sources that it had: they do not bound a group any more."""
        with self._lock:
            self._queries.pop(query_id, None)
            self._refused.pop(run_id, None)
            self._checked.pop(run_id, None)
            self._load_gates.expected.pop(run_id, None)
            for source in [s for s, run in self._runs.items() if run.query_run == run_id]:
                self._forget(source)

    def tables(self) -> list[dict[str, Any]]:
        """Return the newest table of every living source that sends one."""
        with self._lock:
            now = self._clock.monotonic_ns()
            return [
                {"source": source, "name": run.name, "query": run.query_id, "group": _group(run), **run.table}
                for source, run in self._runs.items()
                if run.table is not None and run.alive_until_ns > now
            ]

    # -- requests of tasks and planners --

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one request; every request has one.

        Raises:
            CoordinatorError: the request is unknown or malformed; nothing has changed then.
        """
        handlers = {
            "report": self._report,
            "take": self._take,
            "admit": self._admit,
            "exchange": self._exchange,
            "renew": self._renew,
            "table": self._table,
            "hold": self._load_gate,
            "end": self._end,
        }
        handler = handlers.get(str(message.get("ask")))
        if handler is None:
            raise CoordinatorError(f"unknown request {message.get('ask')!r}")
        with self._lock:
            return handler(message)

    def _report(self, message: dict[str, Any]) -> dict[str, Any]:
        source, batch_id = text_field(message, "source"), number_field(message, "batch")
        query_id = None if message.get("query") is None else text_field(message, "query")
        query_run = None if message.get("run") is None else text_field(message, "run")
        reports = [SplitReport.from_json(raw) for raw in list_field(message, "reports")]
        run = self._source_run(source)  # only a request that is right as a whole has an effect
        run.query_id = query_id or run.query_id
        run.query_run = query_run or run.query_run
        run.batch_id = max(run.batch_id, batch_id)
        for report in reports:
            if run.reports and report.sequence < next(reversed(run.reports)):
                continue  # of an older batch, which is not asked for any more
            self._keep(run, report)
        return {"ok": True, "conflict": run.conflict}

    def _keep(self, run: _SourceRun, report: SplitReport) -> None:
        batch = run.reports.setdefault(report.sequence, {})
        first = batch.setdefault(report.split, report)
        try:
            first.require_equal(report)
        except TidemarkError as error:
            run.conflict = error.message
        while len(run.reports) > _KEPT_BATCHES:
            run.reports.popitem(last=False)

    def _take(self, message: dict[str, Any]) -> dict[str, Any]:
        sequence = number_field(message, "sequence")
        run = self._source_run(text_field(message, "source"))
        reports = run.reports.get(sequence, {})
        return {
            "reports": [report.to_json() for report in reports.values()],
            "conflict": run.conflict,
            "has_state": self._has_state(run),
            "batch": run.batch_id,
        }

    def _has_state(self, run: _SourceRun) -> bool | None:
        info = self._queries.get(run.query_id or "")
        if info is None or info.state_rows is None or info.batch_id < run.batch_id:
            return None
        return info.state_rows > 0

    def _admit(self, message: dict[str, Any]) -> dict[str, Any]:
        run_id = text_field(message, "run")
        return {"refused": self._refused.get(run_id), "checked": run_id in self._checked}

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        source, status = text_field(message, "source"), SourceStatus.from_json(object_field(message, "says"))
        run = self._source_run(source)
        others = self._others(source, run)
        incompatible = next((r.status for r in others.values() if _is_incompatible(status, r.status)), None)
        if incompatible is not None:
            return {"misfit": incompatible.time_type, "peers": []}
        run.status = status
        self._keep_alive(run)
        peers = [_peer(name, other, run) for name, other in others.items() if _are_peers(run, other)]
        return {"peers": peers, "is_query_known": run.query_id is not None}

    def _renew(self, message: dict[str, Any]) -> dict[str, Any]:
        source, status = text_field(message, "source"), SourceStatus.from_json(object_field(message, "says"))
        if source in self._ended:
            return {"ok": True}  # the message was sent before the source heard of its end
        run = self._source_run(source)
        if run.status is None:  # else the planner's own status is not older
            run.status = status
        self._keep_alive(run)
        return {"ok": True}

    def _end(self, message: dict[str, Any]) -> dict[str, Any]:
        self._forget(text_field(message, "source"))
        return {"ok": True}

    def _table(self, message: dict[str, Any]) -> dict[str, Any]:
        table, name = object_field(message, "table"), text_field(message, "name")
        source = text_field(message, "source")
        if source in self._ended:
            return {"ok": True}
        run = self._source_run(source)
        run.table, run.name = table, name
        self._keep_alive(run)
        return {"ok": True}

    def _load_gate(self, message: dict[str, Any]) -> dict[str, Any]:
        source, request = text_field(message, "source"), request_of(message)
        if source in self._ended:
            return unknown_query_answer()
        run = self._source_run(source)
        if run.gate_request is None or not message.get("renews"):  # the planner's own request is not older
            run.gate_request = request
        run.gate_requests += not message.get("renews")
        self._keep_alive(run)
        others = [other for name, other in self._runs.items() if name != source]
        return self._load_gates.answer(run, others, self._is_alive)

    def _forget(self, source: str) -> None:
        self._runs.pop(source, None)
        self._ended[source] = None
        while len(self._ended) > _MAX_RUNS:
            self._ended.popitem(last=False)

    def _is_alive(self, run: _SourceRun) -> bool:
        return run.alive_until_ns > self._clock.monotonic_ns()

    def _keep_alive(self, run: _SourceRun) -> None:
        run.alive_until_ns = self._clock.monotonic_ns() + LEASE_S * _NS_PER_S

    def _others(self, source: str, own: _SourceRun) -> dict[str, _SourceRun]:
        """The sources with a status that are alive as far as `own` can know."""
        return {
            name: run
            for name, run in self._runs.items()
            if name != source and run.status is not None and (self._is_alive(run) or _is_same_run(own, run))
        }

    def _source_run(self, source: str) -> _SourceRun:
        run = self._runs.setdefault(source, _SourceRun())
        self._runs.move_to_end(source)
        while len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)
        return run


def _put(entries: OrderedDict[str, V], key: str, value: V) -> None:
    """Enter a value as the newest; the oldest goes where there are too many."""
    entries[key] = value
    entries.move_to_end(key)
    while len(entries) > _MAX_QUERIES:
        entries.popitem(last=False)


def _group(run: _SourceRun) -> str | None:
    return None if run.status is None else run.status.group


def _is_incompatible(one: SourceStatus, other: SourceStatus | None) -> bool:
    return other is not None and one.group is not None and one.group == other.group and one.time_type != other.time_type


def _is_same_query(one: _SourceRun, other: _SourceRun) -> bool:
    return one.query_id is not None and one.query_id == other.query_id


def _is_same_run(one: _SourceRun, other: _SourceRun) -> bool:
    return one.query_run is not None and one.query_run == other.query_run


def _are_peers(own: _SourceRun, other: _SourceRun) -> bool:
    return _is_same_query(own, other) or (_group(own) is not None and _group(own) == _group(other))


def _peer(name: str, other: _SourceRun, own: _SourceRun) -> dict[str, Any]:
    assert other.status is not None
    return {"source": name, "says": other.status.to_json(), "same_query": _is_same_query(own, other)}
