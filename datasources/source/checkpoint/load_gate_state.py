"""The load gate inside offsets: a *probe* is not read before its *builds* are loaded.

A join with the latest version of a table needs the table first: a probe row that is read before would miss versions
that existed before the query started. Flink keeps such rows in state; here the probe's source does not read them.

Rules of this file: both decisions, a build is loaded and the gate of a probe opens, are taken once, by a planner, and
written into the end offset of the batch in which they were taken. From then on they are read there, by any process.
Source: FLIP-326 (the use case), FLIP-579 (LATERAL SNAPSHOT: load_completed_time, load_completed_idle_timeout).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from datasources.source.api.split import ENDLESS, SplitBounds, SplitId
from datasources.source.checkpoint.offset_codec import (
    decode_column,
    decode_names,
    encode_column,
    encode_names,
    require_int,
    split_sort_key,
)

_MAX_SPLITS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGateSettings:
    """The options of a probe.

    It waits for the builds in ``until``, at least one.
    """

    until: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """The options of a build.

    Attributes:
        name: the name that probes wait for.
        time_ms: loaded when the watermark has reached this time, ms since the epoch; None = when everything is
            read that the source held when the query began.
        idle_timeout_ms: loaded also when nothing came and nothing was unread for so long; None = not by that.
    """

    name: str
    time_ms: int | None = None
    idle_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateState:
    """A probe inside its offset.

    Attributes:
        since_ms: wall clock, ms, when the probe began to wait.
        opened: the sequence of the batch from which on it is read; None = the gate is closed.
    """

    since_ms: int
    opened: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives with sorted keys."""
        return {"released": self.opened, "since": self.since_ms}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Return the state in `raw`; anything else is a `LookupError`, `TypeError` or `ValueError`."""
        return cls(since_ms=require_int(raw["since"]), opened=_optional(raw["released"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadState:
    """A build inside its offset.

    Attributes:
        since_ms: wall clock, ms, when loading began.
        loaded: the sequence of the batch before which all that has to be loaded was read; None = not yet.
        ends: where each split ended when loading began; what lies before has to be read. Empty once it is loaded.
    """

    since_ms: int
    loaded: int | None = None
    ends: Mapping[SplitId, int]

    @classmethod
    def begin(cls, bounds: Mapping[SplitId, SplitBounds], *, now_ms: int) -> Self:
        """Return the bounds to be loaded of a source that has `bounds` now; a split without an end has none here."""
        ends = {split: each.end_exclusive for split, each in bounds.items()}
        return cls(since_ms=now_ms, ends={split: end for split, end in ends.items() if 0 < end < ENDLESS})

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives with sorted keys."""
        names = sorted(self.ends, key=split_sort_key)
        return {
            "ends": encode_column([self.ends[name] for name in names]),
            "loaded": self.loaded,
            "since": self.since_ms,
            "splits": encode_names(names),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Return the state in `raw`; anything else is a `LookupError`, `TypeError` or `ValueError`."""
        names = decode_names(raw["splits"], _MAX_SPLITS)
        ends = map(require_int, decode_column(raw["ends"], len(names)))
        return cls(
            since_ms=require_int(raw["since"]),
            loaded=_optional(raw["loaded"]),
            ends={SplitId(name): end for name, end in zip(names, ends, strict=True)},
        )


def _optional(value: object) -> int | None:
    return None if value is None else require_int(value)
