"""The coordinator's part of the load-gate protocol: builds of each run and waiting probes. It decides nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from datasources.errors import CoordinatorError
from datasources.source.coordination.request_fields import list_field, object_field
from datasources.source.load_gate.gate_protocol import LoadGateRequest, LoadReport

_MAX_NAMES = 100


class _Run(Protocol):
    """A source run as the registry keeps it."""

    @property
    def query_run(self) -> str | None: ...
    @property
    def gate_request(self) -> LoadGateRequest | None: ...
    @property
    def gate_requests(self) -> int: ...


@dataclass(slots=True)
class LoadGateRegistry:
    """Keeps how many builds of each name a run has, as the listener read it from the plans of queries.

    Without a listener (Spark Connect) the builds of a run are those that have reported. Spark plans all sources of a
    query in each trigger, so between two requests of a probe each build that is not loaded reports. No gate opens at
    the first request, nor while there is a build of which no task has reported: it may belong to any run.
    """

    expected: OrderedDict[str, Mapping[str, int]] = field(default_factory=OrderedDict)
    has_listener: bool = True

    def answer(self, own: _Run, others: Iterable[_Run], is_alive: Callable[[Any], bool]) -> dict[str, Any]:
        """Return the answer to a source run.

        ``is_alive`` says whether the lease of a run has not expired.
        """
        if own.query_run is None:
            return {
                **unknown_query_answer(),
                "is_awaited": any(is_alive(other) and _waits(other, own) for other in others),
            }
        others = [other for other in others if other.query_run in (None, own.query_run)]
        builds = [other for other in others if other.query_run is not None and _waits(own, other)]
        expected = self.expected.get(own.query_run)
        if not self.has_listener:
            is_unknown = any(other.query_run is None and is_alive(other) and _waits(own, other) for other in others)
            expected = None if is_unknown or own.gate_requests <= 1 else {}
        return {
            "is_query_known": True,
            "is_awaited": any(is_alive(other) and _waits(other, own) for other in others),
            "builds": [{"says": _load(other).to_json(), "is_alive": is_alive(other)} for other in builds],
            "expected": None if expected is None else dict(expected),
        }


def unknown_query_answer() -> dict[str, Any]:
    """Return the answer to a source whose query is not known."""
    return {"is_query_known": False, "is_awaited": False, "builds": [], "expected": None}


def request_of(message: Mapping[str, Any]) -> LoadGateRequest:
    """Return the request in a message.

    Raises:
        CoordinatorError: it is malformed.
    """
    until = list_field(message, "until")
    if len(until) > _MAX_NAMES or not all(isinstance(name, str) for name in until):
        raise CoordinatorError("a source sent a malformed list of the builds that it waits for")
    load = None if message.get("load") is None else LoadReport.from_json(object_field(message, "load"))
    return LoadGateRequest(until=tuple(until), load=load)


def _waits(probe: _Run, build: _Run) -> bool:
    """Return whether one run waits for the name of another, if they belong together."""
    names = () if probe.gate_request is None else probe.gate_request.until
    return (
        build.gate_request is not None and build.gate_request.load is not None and build.gate_request.load.name in names
    )


def _load(build: _Run) -> LoadReport:
    assert build.gate_request is not None
    assert build.gate_request.load is not None
    return build.gate_request.load
