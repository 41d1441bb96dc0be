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
from dataclasses import dataclass, field, replace
from typing import Any

from datasources.errors import OffsetError
from datasources.source.api.dialogue import Dialogue
from datasources.source.checkpoint.load_gate_state import GateState, LoadGateSettings, LoadSettings, LoadState
from datasources.source.checkpoint.offset import Offset
from datasources.source.load_gate.build_progress import BuildActivity, LoadInfo, load_after, load_report
from datasources.source.load_gate.gate_protocol import Build, LoadGateAnswer, LoadGateRequest
from datasources.source.watermarks.planning_time import PlanningTime

_REGISTRATION_NS = 1_000_000_000  # how often a batch without data is planned to register
_REPEAT_NS = 30_000_000_000  # how often a loaded build repeats its report
_PAUSE_NS = 200_000_000  # between the batches that only extend a run


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGateStates:
    """The load gate's states inside an offset; None = the source is no probe, no build."""

    gate: GateState | None = None
    load: LoadState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGate:
    """What a process knows of its source's load gate after a planning.

    Attributes:
        parts: for the offset of the batch that is being planned.
        is_due: whether that batch is to be planned although it reads nothing.
        extends_run: whether that batch only keeps an AvailableNow run from ending.
        reported: the last request; None = there is nothing to report.
        reported_ns: when it was sent, monotonic.
        answer: the answer to it; None = there was none.
        registered_ns: when a batch was planned last, whose tasks register the source.
        activity: of a build.
    """

    parts: LoadGateStates = LoadGateStates()
    is_due: bool = False
    extends_run: bool = False
    reported: LoadGateRequest | None = None
    reported_ns: int
    answer: LoadGateAnswer | None = None
    registered_ns: int
    activity: BuildActivity = field(default_factory=BuildActivity)

    @property
    def is_closed(self) -> bool:
        """Whether the batch must not read data."""
        return _is_closed(self.parts.gate)

    def may_skip(self, now: PlanningTime) -> bool:
        """Return whether plannings may be skipped while nothing else changes."""
        return not self.is_closed and (self.parts.load is None or self.is_acknowledged(now))

    def is_acknowledged(self, now: PlanningTime) -> bool:
        """Return whether the coordinator knows that this run is loaded; else a build repeats its report."""
        is_loaded = self.parts.load is not None and self.parts.load.loaded is not None
        is_known = self.answer is not None and self.answer.is_query_known
        return is_loaded and is_known and now.monotonic_ns - self.reported_ns < _REPEAT_NS

    @property
    def pause_ns(self) -> int:
        """How much longer than usual to wait before planning again: batches that only extend a run have a cost."""
        is_working = self.answer is not None and any(build.reported.is_working for build in self.answer.builds)
        return _PAUSE_NS if self.extends_run and not is_working else 0

    def progress(self, settings: LoadGateSettings | None) -> Mapping[str, Any]:
        """Return what to show beside the splits: times in ms since the epoch, JSON primitives."""
        shown: dict[str, Any] = {"status": "waiting"} if self.is_closed else {}
        if self.parts.gate is not None:
            shown["hold"] = _shown_gate(self.parts.gate, settings, self.answer)
        if self.reported is not None and self.reported.load is not None:
            report = self.reported.load
            shown["load"] = {
                "name": report.name,
                "status": "loaded" if report.is_loaded else "loading",
                "since": report.since_ms,
                "unread": report.unread,
            }
        return shown


def require_compatible_gate(start: Offset, settings: LoadGateSettings | None, *, continue_on_change: bool) -> None:
    """Raise if the gate is closed in the checkpoint and the options name no build any more.

    Raises:
        OffsetError: with the possible remedies.
    """
    if _is_closed(start.gate) and settings is None and not continue_on_change:
        raise OffsetError(
            "the source of this checkpoint waits for another one to be loaded, and 'scan.hold.until' is not set "
            "any more: its rows would miss what is not loaded yet. Set the option as it was, or set "
            "watermark.on-change to 'continue' to read on without waiting."
        )


def decide_load_gate(  # noqa: PLR0913 - the facts of one planning
    probe: LoadGateSettings | None,
    build: LoadSettings | None,
    before: LoadGate,
    start: Offset,
    info: LoadInfo,
    *,
    now: PlanningTime,
    is_first: bool,
) -> Dialogue[LoadGate]:
    """Decide whether the next batch may read, and whether the source is loaded. Asks with a `LoadGateRequest`.

    Args:
        probe: which builds the source waits for before it is read; None = it is not a probe.
        build: the build's name and when it is loaded; None = it is not a build.
        before: after the last planning.
        start: the end of the last batch, which is over.
        info: of the own source.
        now: the time of the planning.
        is_first: whether this is the first planning of the process.
    """
    if probe is None and build is None:
        return before
    sequence = start.sequence + 1
    gate = None if probe is None else start.gate or GateState(since_ms=now.wall_ms)
    load = None if build is None else start.load or LoadState.begin(info.bounds, now_ms=now.wall_ms)
    was = LoadGateStates(gate=gate, load=load)
    gated = before
    if build is not None and load is not None:
        gated = replace(gated, activity=gated.activity.observed(info, now))
        load = load_after(build, load, info, gated.activity, sequence=sequence, now=now)
    if _is_closed(gate) or (load is not None and not before.is_acknowledged(now)):
        report = None if build is None or load is None else load_report(build, load, info, gated.activity)
        until = probe.until if probe is not None and _is_closed(gate) else ()
        gated = yield from _requested(gated, LoadGateRequest(until=until, load=report), now)
    if probe is not None and gate is not None and gate.opened is None and _may_open(gated.answer, probe.until):
        gate = replace(gate, opened=sequence)
    parts, is_closed = LoadGateStates(gate=gate, load=load), _is_closed(gate)
    extends_run = is_closed and info.is_available_now and info.is_unread and not _is_unreachable(gated.answer)
    is_registration = is_first and (is_closed or load is not None)
    is_due = is_registration or was != parts or extends_run or _is_unregistered(gated, now, is_closed=is_closed)
    reported = gated.reported if is_closed or load is not None else None
    return replace(gated, parts=parts, is_due=is_due, extends_run=extends_run, reported=reported)


def note_admission(gate: LoadGate, now: PlanningTime, *, has_data: bool) -> Dialogue[LoadGate]:
    """Note whether the planning under way found anything that it may read.

    Not called for the first one of a process: it has no peers yet.
    """
    if gate.parts.load is None or gate.is_closed:
        return gate
    gate = replace(gate, activity=replace(gate.activity, is_stopped=not has_data))
    report = None if gate.reported is None else gate.reported.load
    if has_data and report is not None and report.is_stuck and gate.reported is not None:
        gate = yield from _requested(gate, replace(gate.reported, load=replace(report, is_stuck=False)), now)
    return gate


def _requested(gate: LoadGate, request: LoadGateRequest, now: PlanningTime) -> Dialogue[LoadGate]:
    answer: LoadGateAnswer | None = yield request
    return replace(gate, reported=request, reported_ns=now.monotonic_ns, answer=answer)


def _may_open(answer: LoadGateAnswer | None, until: tuple[str, ...]) -> bool:
    if answer is None or not answer.is_query_known:
        return False
    return all(_are_loaded(_named(answer, name), answer.expected, name) for name in until)


def _is_unreachable(answer: LoadGateAnswer | None) -> bool:
    """Return whether no missing build can be loaded in this run."""
    builds = () if answer is None else answer.builds
    missing = [build for build in builds if not build.reported.is_loaded]
    return bool(missing) and all(build.reported.is_stuck for build in missing)


def _is_unregistered(gate: LoadGate, now: PlanningTime, *, is_closed: bool) -> bool:
    """Return whether a batch is due so that its task registers the source."""
    answer = gate.answer
    if answer is None or answer.is_query_known or not (is_closed or answer.is_awaited):
        return False
    return now.monotonic_ns - gate.registered_ns >= _REGISTRATION_NS


def _shown_gate(gate: GateState, settings: LoadGateSettings | None, answer: LoadGateAnswer | None) -> dict[str, Any]:
    is_closed = gate.opened is None
    until = settings.until if settings is not None and is_closed else ()
    return {
        "status": "waiting" if is_closed else "released",
        "since": gate.since_ms,
        "released": gate.opened,
        "builds": [shown for name in until for shown in _shown_builds(name, answer)],
    }


def _shown_builds(name: str, answer: LoadGateAnswer | None) -> list[dict[str, Any]]:
    builds = () if answer is None else _named(answer, name)
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
