"""When a build is loaded.

Theory of operation. A source that reads tables first is loaded when the tables are read; any source is when that is
read which it held as the query began, or, if a time was given, when its watermark has reached it; or when nothing came
for the idle timeout. All of it is decided by batches that are *over*: the start of the batch that is
being planned. So the rows of this batch find it in the join's state.
Source: FLIP-579; `commit()` would be no proof, it lags by a batch and may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.load_gate_state import LoadSettings, LoadState
from datasources.source.load_gate.gate_protocol import LoadReport, Progress
from watermark import Clock

__all__ = ["BuildLoad", "LoadInfo"]

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadInfo:
    """The facts about the own source that one planning has collected.

    Attributes:
        splits: settled: they stand where the batches that are over ended.
        bounds: what the source holds now, up to the limit of an AvailableNow run.
        is_unread: whether anything of that is unread.
        is_snapshot_over: whether the tables are read that come first; True where there are none.
        is_available_now: whether the run is an AvailableNow run.
        emitted_watermark_ms: the largest watermark emitted; None = none.
        snapshot: how far the reading of tables came, for people.
    """

    splits: tuple[SplitProgress, ...]
    bounds: Mapping[SplitId, SplitBounds]
    is_unread: bool
    is_snapshot_over: bool
    is_available_now: bool
    emitted_watermark_ms: int | None
    snapshot: Progress | None = None


class BuildLoad:
    """Decides for one source in one process.

    Args:
        settings: from the options.
        clock: monotonic for the idle timeout, wall time for people.
    """

    def __init__(self, settings: LoadSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._last_bounds: Mapping[SplitId, SplitBounds] | None = None
        self._inactive_since_ns = 0
        self._is_stopped = False

    def note_plan(self, *, has_data: bool) -> None:
        """Note whether a planning that was allowed to read planned data."""
        self._is_stopped = not has_data

    def begin(self, bounds: Mapping[SplitId, SplitBounds]) -> LoadState:
        """Return what is to be loaded of a source that holds `bounds` now."""
        return LoadState.begin(bounds, now_ms=self._clock.now_us() // 1_000)

    def after(self, load: LoadState, sequence: int, info: LoadInfo) -> LoadState:
        """Return the state for the offset of batch `sequence`: once loaded, always loaded."""
        if load.loaded is not None or not self._is_loaded(load, info):
            return load
        return replace(load, loaded=sequence, ends={})

    def report(self, load: LoadState, info: LoadInfo) -> LoadReport:
        """Return its progress."""
        is_loaded = load.loaded is not None
        return LoadReport(
            name=self._settings.name,
            is_loaded=is_loaded,
            is_working=info.is_unread,
            since_ms=load.since_ms,
            unread=0 if is_loaded else _unread(load, info),
            snapshot=info.snapshot,
            is_stuck=info.is_available_now and info.is_unread and self._is_stopped and not is_loaded,
        )

    def _is_loaded(self, load: LoadState, info: LoadInfo) -> bool:
        is_inactive = self._is_inactive(info)
        if not info.is_snapshot_over:
            return False
        if is_inactive:
            return True
        if self._settings.time_ms is not None:
            return info.emitted_watermark_ms is not None and info.emitted_watermark_ms >= self._settings.time_ms
        return _unread(load, info) == 0

    def _is_inactive(self, info: LoadInfo) -> bool:
        if self._settings.idle_timeout_ms is None:
            return False
        now_ns = self._clock.monotonic_ns()
        if info.is_unread or info.bounds != self._last_bounds:
            self._last_bounds, self._inactive_since_ns = info.bounds, now_ns
        return not info.is_unread and now_ns - self._inactive_since_ns >= self._settings.idle_timeout_ms * _NS_PER_MS


def _unread(load: LoadState, info: LoadInfo) -> int:
    """Return how many positions before the recorded ends are unread; a split that vanished has none."""
    return sum(max(0, load.ends.get(split.split, 0) - split.end) for split in info.splits)
