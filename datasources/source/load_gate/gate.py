"""The load gate of one source: as a probe, as a build, as both; for any other source it does nothing.

Theory of operation. The gate of a probe is closed from its first planning on: no data is planned, and its splits stay
where the query began. Every planning asks the coordinator; when all builds that the probe waits for are reported as
loaded, the gate opens, and the offset of that batch records it. A build that becomes loaded changes its offset too, so
that the query has one more batch, in which the probe asks again: else `Trigger.AvailableNow` might end between the two.

A missing or expired report never opens the gate: the coordinator cannot be reached, a build never reported or its lease
expired, or the plan has a build that has not reported yet. A closed gate with unread rows behind it extends an
`AvailableNow` run, unless alignment keeps its builds from reading anything more in this run.

The coordinator learns the query of a source from its tasks, so each probe and build plans one batch first, and again
while it is not registered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from datasources.errors import OffsetError
from datasources.source.api.split import SplitBounds, SplitId
from datasources.source.checkpoint.load_gate_state import GateState, LoadGateSettings, LoadSettings, LoadState
from datasources.source.checkpoint.offset import Offset
from datasources.source.load_gate.build_progress import BuildLoad, LoadInfo
from datasources.source.load_gate.gate_protocol import Build, LoadGateAnswer, LoadGateExchange, LoadGateRequest
from watermark import Clock

__all__ = ["LoadGate", "LoadGateStates"]

_REGISTRATION_NS = 1_000_000_000  # how often a batch without data is planned to register
_REPEAT_NS = 30_000_000_000  # how often a loaded build repeats its report
_PAUSE_NS = 200_000_000  # between the batches that only extend a run


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGateStates:
    """The load gate's states inside an offset; None = the source is no probe, no build."""

    gate: GateState | None = None
    load: LoadState | None = None


class LoadGate:
    """Decides for one source in one process whether its gate is open and whether it is loaded.

    Attributes:
        parts: for the offset of the batch that is being planned.
        is_closed: whether that batch must not read data.
        is_due: whether that batch is to be planned although it reads nothing.
        reported: the last request; None = there is nothing to report.

    Args:
        gate: which builds the source waits for before it is read; None = it is not a probe.
        load: the build's name and when it is loaded; None = it is not a build.
        exchange: with the coordinator; None = there is none, so a closed gate never opens.
        clock: of the process.
        continue_on_change: whether changed options are accepted on restart.
    """

    def __init__(
        self,
        *,
        gate: LoadGateSettings | None,
        load: LoadSettings | None,
        exchange: LoadGateExchange | None,
        clock: Clock,
        continue_on_change: bool,
    ) -> None:
        self._until = () if gate is None else gate.until
        self._build = None if load is None else BuildLoad(load, clock)
        self._allows_change = continue_on_change
        self._exchange = exchange
        self._clock = clock
        self._answer: LoadGateAnswer | None = None
        self._registered_ns = self._reported_ns = clock.monotonic_ns()
        self._extends_run = False
        self.parts = LoadGateStates()
        self.is_closed = self.is_due = False
        self.reported: LoadGateRequest | None = None

    def initial(self, bounds: Mapping[SplitId, SplitBounds]) -> LoadGateStates:
        """Return the states for the offset of a new query.

        Args:
            bounds: what the source holds at this moment; only needed of a build (see `is_build`).
        """
        return LoadGateStates(gate=self._new_gate(), load=None if self._build is None else self._build.begin(bounds))

    @property
    def is_build(self) -> bool:
        """Whether other sources wait for this one."""
        return self._build is not None

    def require_compatible(self, start: Offset) -> None:
        """Raise if the gate is closed in the checkpoint and the options name no build any more.

        Raises:
            OffsetError: with the possible remedies.
        """
        is_closed = start.gate is not None and start.gate.opened is None
        if is_closed and not self._until and not self._allows_change:
            raise OffsetError(
                "the source of this checkpoint waits for another one to be loaded, and 'scan.hold.until' is not set "
                "any more: its rows would miss what is not loaded yet. Set the option as it was, or set "
                "watermark.on-change to 'continue' to read on without waiting."
            )

    def decide(self, start: Offset, info: LoadInfo, *, is_first: bool) -> None:
        """Decide whether the next batch may read, and whether the source is loaded.

        Args:
            start: the end of the last batch, which is over.
            info: of the own source.
            is_first: whether this is the first planning of the process.
        """
        if not self._until and self._build is None:
            return
        before = LoadGateStates(
            gate=(start.gate or self._new_gate()) if self._until else None,
            load=None if self._build is None else start.load or self._build.begin(info.bounds),
        )
        sequence = start.sequence + 1
        load = None if self._build is None or before.load is None else self._build.after(before.load, sequence, info)
        self._exchange_load(before.gate, load, info)
        gate = before.gate
        if gate is not None and gate.opened is None and self._may_open():
            gate = replace(gate, opened=sequence)
        self.parts = LoadGateStates(gate=gate, load=load)
        self.is_closed = _is_closed(gate)
        if not self.is_closed and load is None:
            self.reported = None
        self._extends_run = self.is_closed and info.is_available_now and info.is_unread and not self._is_unreachable
        is_registration = is_first and (self.is_closed or load is not None)
        is_decision = (before.gate, before.load) != (gate, load)
        self.is_due = is_registration or is_decision or self._extends_run or self._is_unregistered()

    def note_plan(self, *, has_data: bool) -> None:
        """Note whether the planning under way found anything that it may read.

        Not called for the first one of a process: it has no peers yet.
        """
        if self._build is None or self.is_closed:
            return
        self._build.note_plan(has_data=has_data)
        report = None if self.reported is None else self.reported.load
        if has_data and report is not None and report.is_stuck and self.reported is not None:
            self._report(replace(self.reported, load=replace(report, is_stuck=False)))

    def planned(self) -> None:
        """Note that a batch was planned: its tasks register the source."""
        self._registered_ns = self._clock.monotonic_ns()

    @property
    def may_skip(self) -> bool:
        """Whether plannings may be skipped while nothing else changes."""
        if self.is_closed:
            return False
        return self.parts.load is None or self._is_load_acknowledged

    @property
    def is_overdue(self) -> bool:
        """Whether a report is due although nothing happened."""
        return self._build is not None and not self._is_load_acknowledged

    @property
    def pause_ns(self) -> int:
        """How much longer than usual to wait before planning again: batches that only extend a run have a cost."""
        is_working = self._answer is not None and any(build.reported.is_working for build in self._answer.builds)
        return _PAUSE_NS if self._extends_run and not is_working else 0

    def progress(self) -> Mapping[str, Any]:
        """Return what to show beside the splits: times in ms since the epoch, JSON primitives."""
        shown: dict[str, Any] = {"status": "waiting"} if self.is_closed else {}
        if self.parts.gate is not None:
            shown["hold"] = self._shown_gate(self.parts.gate)
        if self.reported is not None and self.reported.load is not None:
            report = self.reported.load
            shown["load"] = {
                "name": report.name,
                "status": "loaded" if report.is_loaded else "loading",
                "since": report.since_ms,
                "unread": report.unread,
            }
        return shown

    # -- inside --

    def _new_gate(self) -> GateState | None:
        return GateState(since_ms=self._clock.now_us() // 1_000) if self._until else None

    @property
    def _is_load_acknowledged(self) -> bool:
        """Whether the coordinator knows that this run is loaded; else the report is repeated."""
        is_loaded = self.parts.load is not None and self.parts.load.loaded is not None
        is_known = self._answer is not None and self._answer.is_query_known
        return is_loaded and is_known and self._clock.monotonic_ns() - self._reported_ns < _REPEAT_NS

    def _exchange_load(self, gate: GateState | None, load: LoadState | None, info: LoadInfo) -> None:
        if not _is_closed(gate) and (load is None or self._is_load_acknowledged):
            return
        report = None if self._build is None or load is None else self._build.report(load, info)
        self._report(LoadGateRequest(until=self._until if _is_closed(gate) else (), load=report))

    def _report(self, request: LoadGateRequest) -> None:
        self.reported, self._reported_ns = request, self._clock.monotonic_ns()
        self._answer = None if self._exchange is None else self._exchange.exchange_gate(request)

    def _may_open(self) -> bool:
        answer = self._answer
        if answer is None or not answer.is_query_known:
            return False
        return all(_are_loaded(_named(answer, name), answer.expected, name) for name in self._until)

    @property
    def _is_unreachable(self) -> bool:
        """Whether no missing build can be loaded in this run."""
        builds = () if self._answer is None else self._answer.builds
        missing = [build for build in builds if not build.reported.is_loaded]
        return bool(missing) and all(build.reported.is_stuck for build in missing)

    def _is_unregistered(self) -> bool:
        """Whether a batch is due so that its task registers the source."""
        answer = self._answer
        if answer is None or answer.is_query_known or not (self.is_closed or answer.is_awaited):
            return False
        return self._clock.monotonic_ns() - self._registered_ns >= _REGISTRATION_NS

    def _shown_gate(self, gate: GateState) -> dict[str, Any]:
        is_closed = gate.opened is None
        return {
            "status": "waiting" if is_closed else "released",
            "since": gate.since_ms,
            "released": gate.opened,
            "builds": [shown for name in self._until for shown in self._shown_builds(name)] if is_closed else [],
        }

    def _shown_builds(self, name: str) -> list[dict[str, Any]]:
        builds = () if self._answer is None else _named(self._answer, name)
        if not builds:
            return [{"name": name, "status": "not heard", "since": None, "unread": None, "snapshot": None}]
        return [
            {
                "name": name,
                "status": _status(build),
                "since": build.reported.since_ms,
                "unread": build.reported.unread,
                "snapshot": build.reported.snapshot,
            }
            for build in builds
        ]


def _is_closed(gate: GateState | None) -> bool:
    return gate is not None and gate.opened is None


def _named(answer: LoadGateAnswer, name: str) -> tuple[Build, ...]:
    return tuple(build for build in answer.builds if build.reported.name == name)


def _are_loaded(builds: tuple[Build, ...], expected: Mapping[str, int] | None, name: str) -> bool:
    """Return whether all sources of one name are: those in the plan, at least one, and all that reported."""
    if expected is None:
        return False
    return len(builds) >= max(1, expected.get(name, 0)) and all(
        build.is_alive and build.reported.is_loaded for build in builds
    )


def _status(build: Build) -> str:
    if not build.is_alive:
        return "silent"
    return "loaded" if build.reported.is_loaded else "loading"
