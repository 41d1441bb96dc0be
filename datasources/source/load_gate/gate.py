"""A planner's dealings with holding: as a probe, as a build, as both; for any other source they do nothing.

Theory of operation. A probe is held from its first planning on: it plans no data, and its splits stay where the query
began. In every planning it asks the coordinator; when all builds that it waits for say that they are loaded, it is
released, and the offset of that batch says so. A build that becomes loaded changes its offset too, so that the query
has one more batch, after which the probe is asked again: else `Trigger.AvailableNow` might end between the two.

Silence never releases: a coordinator that cannot be reached, a build that was never heard or whose lease is over, one
that the plan has and nobody heard of yet. A probe that is held keeps a run for `AvailableNow` going as long as
something waits for it, unless alignment lets its builds read nothing more in this run.

Sources meet by their tasks' word, so each of them that holds or is waited for sends one batch first, and again while
the coordinator does not know whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from datasources.errors import OffsetError
from datasources.source.api.split import SplitBounds, SplitId
from datasources.source.checkpoint.load_gate_state import Hold, HoldSettings, Load, LoadSettings
from datasources.source.checkpoint.offset import Offset
from datasources.source.load_gate.build_progress import BuildLoad, LoadFacts
from datasources.source.load_gate.gate_protocol import Build, HoldAnswer, HoldExchange, HoldRequest
from watermark import Clock

__all__ = ["HoldParts", "SourceHold"]

_INTRODUCTION_NS = 1_000_000_000  # how often a batch without data is sent for being known
_REPEAT_NS = 30_000_000_000  # how long a build that said that it is loaded relies on the coordinator's memory
_PAUSE_NS = 200_000_000  # between the batches that only keep a run going


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldParts:
    """What an offset says of holding; None = the source is no probe, no build."""

    hold: Hold | None = None
    load: Load | None = None


class SourceHold:
    """Holds, and says when it is loaded, for one source in one process.

    Attributes:
        parts: what the offset of the batch that is being planned says.
        is_held: whether that batch may read nothing.
        is_due: whether that batch is to be planned although it reads nothing.
        says: what the source last said; None = it has nothing to say.

    Args:
        hold: for whom the source waits before it is read; None = for nobody.
        load: by which name others wait for this source, and when it is loaded; None = nobody does.
        exchange: where sources meet; None = nowhere, so a probe is held for ever.
        clock: of the process.
        continue_on_change: whether changed options are accepted on restart.
    """

    def __init__(
        self,
        *,
        hold: HoldSettings | None,
        load: LoadSettings | None,
        exchange: HoldExchange | None,
        clock: Clock,
        continue_on_change: bool,
    ) -> None:
        self._until = () if hold is None else hold.until
        self._build = None if load is None else BuildLoad(load, clock)
        self._allows_change = continue_on_change
        self._exchange = exchange
        self._clock = clock
        self._answer: HoldAnswer | None = None
        self._introduced_ns = self._said_ns = clock.monotonic_ns()
        self._keeps_going = False
        self.parts = HoldParts()
        self.is_held = self.is_due = False
        self.says: HoldRequest | None = None

    def initial(self, bounds: Mapping[SplitId, SplitBounds]) -> HoldParts:
        """Return what the offset of a new query says.

        Args:
            bounds: what the source holds at this moment; only needed of a build (see `is_build`).
        """
        return HoldParts(hold=self._new_hold(), load=None if self._build is None else self._build.begin(bounds))

    @property
    def is_build(self) -> bool:
        """Whether other sources wait for this one."""
        return self._build is not None

    def require_fitting(self, start: Offset) -> None:
        """Raise if a checkpoint is held and the options do not say for whom any more.

        Raises:
            OffsetError: with the ways out.
        """
        is_held = start.hold is not None and start.hold.released is None
        if is_held and not self._until and not self._allows_change:
            raise OffsetError(
                "the source of this checkpoint waits for another one to be loaded, and 'scan.hold.until' is not set "
                "any more: its rows would miss what is not loaded yet. Set the option as it was, or set "
                "watermark.on-change to 'continue' to read on without waiting."
            )

    def decide(self, start: Offset, facts: LoadFacts, *, is_first: bool) -> None:
        """Decide whether the next batch may read, and whether the source is loaded.

        Args:
            start: the end of the last batch, which is over.
            facts: of the own source.
            is_first: whether this is the first planning of the process.
        """
        if not self._until and self._build is None:
            return
        before = HoldParts(
            hold=(start.hold or self._new_hold()) if self._until else None,
            load=None if self._build is None else start.load or self._build.begin(facts.bounds),
        )
        sequence = start.sequence + 1
        load = None if self._build is None or before.load is None else self._build.after(before.load, sequence, facts)
        self._talk(before.hold, load, facts)
        hold = before.hold
        if hold is not None and hold.released is None and self._may_release():
            hold = replace(hold, released=sequence)
        self.parts = HoldParts(hold=hold, load=load)
        self.is_held = _is_held(hold)
        if not self.is_held and load is None:
            self.says = None
        self._keeps_going = self.is_held and facts.is_capped and facts.is_unread and not self._is_hopeless
        is_introduction = is_first and (self.is_held or load is not None)
        is_decision = (before.hold, before.load) != (hold, load)
        self.is_due = is_introduction or is_decision or self._keeps_going or self._is_stranger()

    def note_plan(self, *, has_data: bool) -> None:
        """Note whether the planning under way found anything that it may read.

        Not called for the first one of a process: in it nobody has been met yet.
        """
        if self._build is None or self.is_held:
            return
        self._build.note_plan(has_data=has_data)
        said = None if self.says is None else self.says.load
        if has_data and said is not None and said.is_stuck and self.says is not None:
            self._say(replace(self.says, load=replace(said, is_stuck=False)))

    def planned(self) -> None:
        """Note that a batch was planned: its tasks will tell whose the source is."""
        self._introduced_ns = self._clock.monotonic_ns()

    @property
    def may_rest(self) -> bool:
        """Whether nothing of it can change while nothing else does."""
        if self.is_held:
            return False
        return self.parts.load is None or self._is_settled

    @property
    def is_overdue(self) -> bool:
        """Whether it has to speak although nothing happened."""
        return self._build is not None and not self._is_settled

    @property
    def pause_ns(self) -> int:
        """How much longer than usual to wait before planning again: batches that only keep a run going are not free."""
        is_working = self._answer is not None and any(build.says.is_working for build in self._answer.builds)
        return _PAUSE_NS if self._keeps_going and not is_working else 0

    def progress(self) -> Mapping[str, Any]:
        """Return what to show beside the splits: times in ms since the epoch, JSON primitives."""
        shown: dict[str, Any] = {"status": "waiting"} if self.is_held else {}
        if self.parts.hold is not None:
            shown["hold"] = self._shown_hold(self.parts.hold)
        if self.says is not None and self.says.load is not None:
            said = self.says.load
            shown["load"] = {
                "name": said.name,
                "status": "loaded" if said.is_loaded else "loading",
                "since": said.since_ms,
                "unread": said.unread,
            }
        return shown

    # -- inside --

    def _new_hold(self) -> Hold | None:
        return Hold(since_ms=self._clock.now_us() // 1_000) if self._until else None

    @property
    def _is_settled(self) -> bool:
        """Whether the coordinator knows of this run that it is loaded; else it is told again."""
        is_loaded = self.parts.load is not None and self.parts.load.loaded is not None
        is_known = self._answer is not None and self._answer.is_query_known
        return is_loaded and is_known and self._clock.monotonic_ns() - self._said_ns < _REPEAT_NS

    def _talk(self, hold: Hold | None, load: Load | None, facts: LoadFacts) -> None:
        if not _is_held(hold) and (load is None or self._is_settled):
            return
        report = None if self._build is None or load is None else self._build.report(load, facts)
        self._say(HoldRequest(until=self._until if _is_held(hold) else (), load=report))

    def _say(self, request: HoldRequest) -> None:
        self.says, self._said_ns = request, self._clock.monotonic_ns()
        self._answer = None if self._exchange is None else self._exchange.hold(request)

    def _may_release(self) -> bool:
        answer = self._answer
        if answer is None or not answer.is_query_known:
            return False
        return all(_are_loaded(_named(answer, name), answer.expected, name) for name in self._until)

    @property
    def _is_hopeless(self) -> bool:
        """Whether no build that is missing will be loaded in this run."""
        builds = () if self._answer is None else self._answer.builds
        missing = [build for build in builds if not build.says.is_loaded]
        return bool(missing) and all(build.says.is_stuck for build in missing)

    def _is_stranger(self) -> bool:
        """Whether a batch is due so that its task tells whose the source is."""
        answer = self._answer
        if answer is None or answer.is_query_known or not (self.is_held or answer.is_awaited):
            return False
        return self._clock.monotonic_ns() - self._introduced_ns >= _INTRODUCTION_NS

    def _shown_hold(self, hold: Hold) -> dict[str, Any]:
        is_held = hold.released is None
        return {
            "status": "waiting" if is_held else "released",
            "since": hold.since_ms,
            "released": hold.released,
            "builds": [shown for name in self._until for shown in self._shown_builds(name)] if is_held else [],
        }

    def _shown_builds(self, name: str) -> list[dict[str, Any]]:
        builds = () if self._answer is None else _named(self._answer, name)
        if not builds:
            return [{"name": name, "status": "not heard", "since": None, "unread": None, "snapshot": None}]
        return [
            {
                "name": name,
                "status": _status(build),
                "since": build.says.since_ms,
                "unread": build.says.unread,
                "snapshot": build.says.snapshot,
            }
            for build in builds
        ]


def _is_held(hold: Hold | None) -> bool:
    return hold is not None and hold.released is None


def _named(answer: HoldAnswer, name: str) -> tuple[Build, ...]:
    return tuple(build for build in answer.builds if build.says.name == name)


def _are_loaded(builds: tuple[Build, ...], expected: Mapping[str, int] | None, name: str) -> bool:
    """Return whether all sources of one name are: those that the plan has, at least one, and all that were heard."""
    if expected is None:
        return False
    return len(builds) >= max(1, expected.get(name, 0)) and all(
        build.is_alive and build.says.is_loaded for build in builds
    )


def _status(build: Build) -> str:
    if not build.is_alive:
        return "silent"
    return "loaded" if build.says.is_loaded else "loading"
