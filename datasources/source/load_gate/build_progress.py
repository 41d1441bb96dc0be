"""When a build is loaded.

Theory of operation. A source that reads tables first is loaded when the tables are read; any source is when that is
read which it held as the query began, or, if a time was given, when its watermark has reached it; or when nothing came
for the idle timeout. All of it is judged by what was read in batches that are *over*: the start of the batch that is
being planned. So whoever is read in this batch finds it in the join's state.
Source: FLIP-579; `commit()` would be no proof, it lags by a batch and may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.load_gate_state import Load, LoadSettings
from datasources.source.load_gate.gate_protocol import LoadReport, Progress
from watermark import Clock

__all__ = ["BuildLoad", "LoadFacts"]

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFacts:
    """What a planning knows of its own source.

    Attributes:
        splits: settled: they stand where the batches that are over ended.
        bounds: what the source holds now, up to the cap of a run that is to end.
        is_unread: whether anything of that is unread.
        is_snapshot_over: whether the tables are read that come first; True where there are none.
        is_capped: whether the run is one that ends.
        stamped_ms: the largest watermark that went out; None = none.
        snapshot: how far the reading of tables came, for people.
    """

    splits: tuple[SplitProgress, ...]
    bounds: Mapping[SplitId, SplitBounds]
    is_unread: bool
    is_snapshot_over: bool
    is_capped: bool
    stamped_ms: int | None
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
        self._seen: Mapping[SplitId, SplitBounds] | None = None
        self._quiet_since_ns = 0
        self._is_stopped = False

    def note_plan(self, *, has_data: bool) -> None:
        """Note what a planning came to that might have read something."""
        self._is_stopped = not has_data

    def begin(self, bounds: Mapping[SplitId, SplitBounds]) -> Load:
        """Return what is to be loaded of a source that holds `bounds` now."""
        return Load.begin(bounds, now_ms=self._clock.now_us() // 1_000)

    def after(self, load: Load, sequence: int, facts: LoadFacts) -> Load:
        """Return what the offset of batch `sequence` says: once loaded, always loaded."""
        if load.loaded is not None or not self._is_loaded(load, facts):
            return load
        return replace(load, loaded=sequence, ends={})

    def report(self, load: Load, facts: LoadFacts) -> LoadReport:
        """Return what is said of it."""
        is_loaded = load.loaded is not None
        return LoadReport(
            name=self._settings.name,
            is_loaded=is_loaded,
            is_working=facts.is_unread,
            since_ms=load.since_ms,
            unread=0 if is_loaded else _unread(load, facts),
            snapshot=facts.snapshot,
            is_stuck=facts.is_capped and facts.is_unread and self._is_stopped and not is_loaded,
        )

    def _is_loaded(self, load: Load, facts: LoadFacts) -> bool:
        is_quiet = self._is_quiet(facts)
        if not facts.is_snapshot_over:
            return False
        if is_quiet:
            return True
        if self._settings.time_ms is not None:
            return facts.stamped_ms is not None and facts.stamped_ms >= self._settings.time_ms
        return _unread(load, facts) == 0

    def _is_quiet(self, facts: LoadFacts) -> bool:
        if self._settings.idle_timeout_ms is None:
            return False
        now_ns = self._clock.monotonic_ns()
        if facts.is_unread or facts.bounds != self._seen:
            self._seen, self._quiet_since_ns = facts.bounds, now_ns
        return not facts.is_unread and now_ns - self._quiet_since_ns >= self._settings.idle_timeout_ms * _NS_PER_MS


def _unread(load: Load, facts: LoadFacts) -> int:
    """Return how many positions before the ends that were taken down are unread; a split that vanished has none."""
    return sum(max(0, load.ends.get(split.split, 0) - split.end) for split in facts.splits)
