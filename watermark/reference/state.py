"""What must survive a restart, and its form in JSON.

The form is versioned and made of JSON primitives. "No watermark" is null. A reader refuses a version that it does not
know: guessing would move a watermark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from watermark.errors import InvalidState
from watermark.event_time import MAX_WATERMARK, MIN_WATERMARK
from watermark.reference.watermark import NO_WATERMARK, PROCESSING_TIME, Watermark
from watermark.split_status import SplitStatus

__all__ = ["STATE_VERSION", "JsonValue", "ReaderSnapshot", "SplitSnapshot"]

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What ``json.loads`` returns."""

STATE_VERSION: Final = 1
"""The version that is written."""

_PROCESSING_TIME: Final = "processing-time"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSnapshot:
    """One split across a restart.

    Attributes:
        watermark: Its watermark; Flink forgets it, and the source's watermark falls back to nothing.
        status: Its status.
        is_paused: Whether it was not polled; an idle split may be paused too.
        idle_ns: Idle time so far, nanoseconds.
    """

    watermark: Watermark = NO_WATERMARK
    status: SplitStatus = SplitStatus.ACTIVE
    is_paused: bool = False
    idle_ns: int = 0

    def to_json(self) -> dict[str, JsonValue]:
        """Return the JSON form."""
        return {
            "idle_ns": self.idle_ns,
            "paused": self.is_paused,
            "status": self.status.name,
            "watermark": _watermark_to_json(self.watermark),
        }

    @classmethod
    def from_json(cls, value: JsonValue) -> SplitSnapshot:
        """Return the snapshot of a JSON form.

        Raises:
            InvalidState: It does not have that form.
        """
        members = _object(value, "a split", {"idle_ns", "paused", "status", "watermark"})
        status, is_paused, idle_ns = members["status"], members["paused"], members["idle_ns"]
        if not isinstance(status, str) or status not in SplitStatus.__members__:
            raise InvalidState(f"{status!r} is not the status of a split: the state is damaged")
        if not isinstance(is_paused, bool):
            raise InvalidState(f"'paused' must be true or false, got {is_paused!r}: the state is damaged")
        return cls(
            watermark=_watermark_from_json(members["watermark"]),
            status=SplitStatus[status],
            is_paused=is_paused,
            idle_ns=_integer(idle_ns, "idle_ns", 0, MAX_WATERMARK),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSnapshot:
    """A reader across a restart.

    Whether the stream was idle is not kept: a restarted stream starts active, and idleness is emitted again.

    Attributes:
        watermark: The combined watermark that was reached; the restarted reader never goes below it.
        had_splits: Whether there ever was a split.
        splits: Each split by its id.
    """

    watermark: Watermark = NO_WATERMARK
    had_splits: bool = False
    splits: Mapping[str, SplitSnapshot] = field(default_factory=dict)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the JSON form, splits sorted by id."""
        return {
            "had_splits": self.had_splits,
            "splits": {split_id: self.splits[split_id].to_json() for split_id in sorted(self.splits)},
            "version": STATE_VERSION,
            "watermark": _watermark_to_json(self.watermark),
        }

    @classmethod
    def from_json(cls, value: JsonValue) -> ReaderSnapshot:
        """Return the snapshot of a JSON form.

        Raises:
            InvalidState: It does not have that form, or is of another version.
        """
        if isinstance(value, dict) and value.get("version") != STATE_VERSION:
            message = (
                f"watermark state of version {value.get('version')!r} cannot be read: "
                f"this release reads version {STATE_VERSION}"
            )
            raise InvalidState(message)
        members = _object(value, "watermark state", {"had_splits", "splits", "version", "watermark"})
        splits, had_splits = members["splits"], members["had_splits"]
        if not isinstance(splits, dict) or not isinstance(had_splits, bool):
            raise InvalidState("'splits' must be an object and 'had_splits' true or false: the state is damaged")
        return cls(
            watermark=_watermark_from_json(members["watermark"]),
            had_splits=had_splits,
            splits={split_id: SplitSnapshot.from_json(split) for split_id, split in splits.items()},
        )


def _watermark_to_json(watermark: Watermark) -> JsonValue:
    if watermark.use_processing_time:
        return _PROCESSING_TIME
    return None if watermark == NO_WATERMARK else watermark.timestamp


def _watermark_from_json(value: JsonValue) -> Watermark:
    if value is None:
        return NO_WATERMARK
    if value == _PROCESSING_TIME:
        return PROCESSING_TIME
    return Watermark(_integer(value, "watermark", MIN_WATERMARK + 1, MAX_WATERMARK))


def _object(value: JsonValue, what: str, keys: set[str]) -> dict[str, JsonValue]:
    if not isinstance(value, dict) or value.keys() != keys:
        raise InvalidState(f"{what} must be an object with exactly the keys {', '.join(sorted(keys))}, got {value!r}")
    return value


def _integer(value: JsonValue, key: str, lowest: int, highest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise InvalidState(
            f"{key!r} must be an integer from {lowest} to {highest}, got {value!r}: the state is damaged"
        )
    return value
