"""The format of ``python -m watermark``: what happened to the splits of one reader, step by step.

Everything that can be wrong with a file is found here, before the first step is replayed, so that a replay only has to
follow the rules of watermarks. Files are in milliseconds, the steps that this module returns in microseconds.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from watermark.emission import EmitStrategy
from watermark.errors import InvalidTimeline
from watermark.event_time import MAX_WATERMARK, MICROS_PER_MILLI, EventTime, ms_to_us, saturating_add
from watermark.reference.strategy import WatermarkStrategy

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What ``json.loads`` returns."""

_MAX_MS: Final = MAX_WATERMARK // MICROS_PER_MILLI
_SHOWN_CHARS: Final = 60
_STRATEGY_KEYS: Final = frozenset({"out_of_orderness_ms", "emit", "interval_ms", "idle_timeout_ms", "max_drift_ms"})


class StepKind(enum.Enum):
    """What happens in a step; the value is its JSON key."""

    ADD = "add"
    ROW = "split"
    IDLE = "idle"
    ACTIVE = "active"
    PAUSE = "pause"
    RESUME = "resume"
    FINISH = "finish"
    REMOVE = "remove"
    PROCESSING_TIME = "processing_time"
    TICK = "tick"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineStep:
    """One step.

    Attributes:
        at_ms: The clock.
        kind: What happens.
        split_id: To which split; empty for a tick.
        rowtime_us: A row's event time; ``None`` if it is null.
        value_us: A row's candidate; ``None`` if it has none.
    """

    at_ms: int
    kind: StepKind
    split_id: str = ""
    rowtime_us: EventTime | None = None
    value_us: EventTime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A file that was found correct.

    Attributes:
        strategy: How watermarks are made from the candidates.
        max_drift_us: How far a split may be ahead of the slowest; ``None``: not aligned.
        steps: What happens, in order.
    """

    strategy: WatermarkStrategy
    max_drift_us: int | None
    steps: tuple[TimelineStep, ...]


def parse_timeline(text: str) -> Timeline:
    """Return the timeline in a file's text.

    Raises:
        InvalidTimeline: It is not JSON, or not of the documented form.
    """
    try:
        document: JsonValue = json.loads(text, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        raise InvalidTimeline(f"not a JSON document: {error}") from error
    members = _members(document, "a timeline", {"strategy", "steps"})
    strategy = _members(members.get("strategy", {}), "'strategy'", _STRATEGY_KEYS)
    steps = members.get("steps")
    if not isinstance(steps, list):
        raise InvalidTimeline("a timeline needs 'steps', a list of what happens")
    bound_us = ms_to_us(_integer(strategy.get("out_of_orderness_ms", 0), "out_of_orderness_ms", lowest=0))
    drift_ms = _optional_integer(strategy.get("max_drift_ms"), "max_drift_ms", lowest=0)
    return Timeline(
        strategy=_parse_strategy(strategy),
        max_drift_us=None if drift_ms is None else ms_to_us(drift_ms),
        steps=_parse_steps(steps, bound_us),
    )


def _parse_strategy(members: dict[str, JsonValue]) -> WatermarkStrategy:
    emit = members.get("emit", EmitStrategy.ON_EVENT.value)
    if emit not in [strategy.value for strategy in EmitStrategy]:
        raise InvalidTimeline(f"'emit' must be 'on-event' or 'on-periodic', got {_shown(emit)}")
    # Without an interval there is no periodic tick, so every row has to count by itself.
    if _integer(members.get("interval_ms", 200), "interval_ms", lowest=0) == 0:
        emit = EmitStrategy.ON_EVENT.value
    timeout_ms = _optional_integer(members.get("idle_timeout_ms"), "idle_timeout_ms", lowest=1)
    timeout_us = None if timeout_ms is None else timeout_ms * MICROS_PER_MILLI
    return WatermarkStrategy(emit=EmitStrategy(emit), idle_timeout_us=timeout_us)


def _parse_steps(values: list[JsonValue], bound_us: int) -> tuple[TimelineStep, ...]:
    membership = _Membership()
    steps: list[TimelineStep] = []
    for number, value in enumerate(values, start=1):
        try:
            step = _parse_step(value, bound_us)
            if steps and step.at_ms < steps[-1].at_ms:
                raise InvalidTimeline(f"'at' goes back from {steps[-1].at_ms} to {step.at_ms}")  # noqa: TRY301
            membership.follow(step)
        except InvalidTimeline as error:
            raise InvalidTimeline(f"step {number}: {error}") from error
        steps.append(step)
    return tuple(steps)


def _parse_step(value: JsonValue, bound_us: int) -> TimelineStep:
    members, kind = _kind_of(value)
    at_ms = _instant_ms(members["at"], "at")
    subject = members[kind.value]
    if kind is StepKind.TICK:
        if subject is not True:
            raise InvalidTimeline(f"'tick' must be true, got {_shown(subject)}")
        return TimelineStep(at_ms=at_ms, kind=kind)
    if not isinstance(subject, str) or not subject:
        raise InvalidTimeline(f"{kind.value!r} must name a split, got {_shown(subject)}")
    step = TimelineStep(at_ms=at_ms, kind=kind, split_id=subject)
    return _parse_row(step, members, bound_us) if kind is StepKind.ROW else step


def _kind_of(value: JsonValue) -> tuple[dict[str, JsonValue], StepKind]:
    if not isinstance(value, dict):
        raise InvalidTimeline(f"a step must be an object, got {_shown(value)}")
    kinds = [kind for kind in StepKind if kind.value in value]
    if len(kinds) != 1:
        raise InvalidTimeline(f"a step needs exactly one of {_listed(kind.value for kind in StepKind)}")
    row_keys = {"rowtime", "watermark"} if kinds[0] is StepKind.ROW else set()
    members = _members(value, f"a step with {kinds[0].value!r}", {"at", kinds[0].value} | row_keys)
    if "at" not in members:
        raise InvalidTimeline("a step needs 'at', the clock in milliseconds")
    return members, kinds[0]


def _parse_row(step: TimelineStep, members: dict[str, JsonValue], bound_us: int) -> TimelineStep:
    if "rowtime" not in members:
        raise InvalidTimeline("a row needs 'rowtime', its event time in milliseconds")
    rowtime_us = _optional_instant(members["rowtime"], "rowtime")
    if "watermark" in members:
        value_us = _optional_instant(members["watermark"], "watermark")
    else:
        value_us = None if rowtime_us is None else saturating_add(rowtime_us, -bound_us)
    return replace(step, rowtime_us=rowtime_us, value_us=value_us)


class _Membership:
    """Which splits a timeline may speak of at each step."""

    def __init__(self) -> None:
        self._is_finished: dict[str, bool] = {}

    def follow(self, step: TimelineStep) -> None:
        """Check that a step names a known split, and note the step's change."""
        split_id = step.split_id
        if step.kind is StepKind.ADD:
            if split_id in self._is_finished:
                raise InvalidTimeline(f"split {split_id!r} was added before: remove it first")
            self._is_finished[split_id] = False
        elif step.kind is not StepKind.TICK:
            self._require(split_id, may_be_finished=step.kind is StepKind.REMOVE)
        if step.kind is StepKind.FINISH:
            self._is_finished[split_id] = True
        if step.kind is StepKind.REMOVE:
            del self._is_finished[split_id]

    def _require(self, split_id: str, *, may_be_finished: bool) -> None:
        if split_id not in self._is_finished:
            raise InvalidTimeline(f"split {split_id!r} is not there: add it first")
        if self._is_finished[split_id] and not may_be_finished:
            raise InvalidTimeline(f"split {split_id!r} has finished: nothing more can happen to it")


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a key appears twice in the object with {_listed(members)}")
    return members


def _members(value: JsonValue, what: str, keys: Iterable[str]) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise InvalidTimeline(f"{what} must be an object, got {_shown(value)}")
    for key in value:
        if key not in keys:
            raise InvalidTimeline(f"{what} does not know {key!r}: use {_listed(sorted(keys))}")
    return value


def _integer(value: JsonValue, key: str, *, lowest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= MAX_WATERMARK:
        raise InvalidTimeline(f"{key!r} must be an integer of at least {lowest}, in milliseconds, got {_shown(value)}")
    return value


def _optional_integer(value: JsonValue, key: str, *, lowest: int) -> int | None:
    return None if value is None else _integer(value, key, lowest=lowest)


def _instant_ms(value: JsonValue, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MAX_MS:
        raise InvalidTimeline(f"{key!r} must be an integer within {_MAX_MS} ms of the epoch, got {_shown(value)}")
    return value


def _optional_instant(value: JsonValue, key: str) -> EventTime | None:
    return None if value is None else ms_to_us(_instant_ms(value, key))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _shown(value: JsonValue) -> str:
    """Return a value as written in the file, cut where it would make the message unreadable."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
