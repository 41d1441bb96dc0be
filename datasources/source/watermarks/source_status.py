"""What a source reports of itself to the other sources of its query and of its alignment group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from datasources.errors import CoordinatorError


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """The status that a source publishes. Units: ms since the epoch; None = none.

    Attributes:
        round: how often the source has planned. Sources of one query plan in the same order in every trigger.
        group: its alignment group; None = it is in none.
        time_type: "instant" or "local": candidates of the two cannot be compared.
        planned_minimum_ms: the smallest candidate of the splits' next records once the planned batch is read; None =
            the source does not bound its group.
        guaranteed_minimum_ms: a lower bound of the same after the *next* batch, provided the group allows it.
        is_idle: all splits are idle, or there is none.
        is_finished: all splits have finished: the source bounds no peer, and none follows it.
        is_processing: the source is in processing time.
        watermark_ms: its combined watermark; while it is idle, the maximum over its own splits.
    """

    round: int = 0
    group: str | None = None
    time_type: str = "instant"
    planned_minimum_ms: int | None = None
    guaranteed_minimum_ms: int | None = None
    is_idle: bool = False
    is_finished: bool = False
    is_processing: bool = False
    watermark_ms: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives."""
        return {key: getattr(self, name) for name, key in _KEYS.items()}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SourceStatus:
        """Return the status in `raw`; anything but the exact fields and types is a `CoordinatorError`."""
        if not isinstance(raw, Mapping) or set(raw) != set(_KEYS.values()):
            raise CoordinatorError("a source sent a malformed status: not exactly the fields of this version")
        own = cls(**{name: raw[key] for name, key in _KEYS.items()})
        numbers = (own.planned_minimum_ms, own.guaranteed_minimum_ms, own.watermark_ms)
        if (
            type(own.round) is not int
            or not all(value is None or type(value) is int for value in numbers)
            or not isinstance(own.group, str | None)
            or not isinstance(own.time_type, str)
            or not all(isinstance(value, bool) for value in (own.is_idle, own.is_finished, own.is_processing))
        ):
            raise CoordinatorError("a source sent a status with fields of the wrong type")
        return own


_OLDER_KEYS = {"planned_minimum_ms": "floor_ms", "guaranteed_minimum_ms": "reach_ms"}
_KEYS = {field.name: _OLDER_KEYS.get(field.name, field.name) for field in fields(SourceStatus)}  # name -> key, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another live source, as the coordinator knows it."""

    source: str
    status: SourceStatus
    same_query: bool


def followed_ms(own: SourceStatus, peers: Sequence[Peer], *, clock_ms: int) -> int | None:
    """Return the watermark that this source follows: that of the other sources of the query; None = there is none.

    An idle source follows the minimum of the others that are not idle; where all are idle the maximum counts, as it
    does among splits. A source in processing time follows the sources in event time while one is active, else the
    clock.
    Source: Flink's CombinedWatermarkStatus; FLIP-326's table.
    """
    mine = [peer.status for peer in peers if peer.same_query and not peer.status.is_finished]
    in_event_time = [p.watermark_ms for p in mine if not p.is_idle and not p.is_processing]
    if own.is_processing:
        return _minimum(in_event_time) if in_event_time else clock_ms
    if not own.is_idle:
        return None
    if in_event_time:
        return _minimum(in_event_time)
    active = [p.watermark_ms for p in mine if p.is_processing]
    if active:
        return _minimum(active)
    return max((p.watermark_ms for p in mine if p.watermark_ms is not None), default=None)


def _minimum(watermarks: Sequence[int | None]) -> int | None:
    known = [watermark for watermark in watermarks if watermark is not None]
    return min(known) if len(known) == len(watermarks) and known else None
