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
from datasources.source.watermarks.planning_time import PlanningTime

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadInfo:
    """What one planning knows of its own source.

    Attributes:
        splits: reconciled: each is at the end of the last completed batch.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildActivity:
    """Since when nothing comes.

    Attributes:
        bounds: what the source held when that was last looked at.
        inactive_since_ns: since when nothing came and nothing was unread, monotonic.
        is_stopped: whether the last planning that was allowed to read planned no data.
    """

    bounds: Mapping[SplitId, SplitBounds] | None = None
    inactive_since_ns: int = 0
    is_stopped: bool = False

    def observed(self, info: LoadInfo, now: PlanningTime) -> BuildActivity:
        """Return it with what a planning collected."""
        if not info.is_unread and info.bounds == self.bounds:
            return self
        return replace(self, bounds=info.bounds, inactive_since_ns=now.monotonic_ns)


def load_after(  # noqa: PLR0913 - the facts of the rule
    settings: LoadSettings,
    load: LoadState,
    info: LoadInfo,
    activity: BuildActivity,
    *,
    sequence: int,
    now: PlanningTime,
) -> LoadState:
    """Return the state for the offset of batch `sequence`: once loaded, always loaded."""
    if load.loaded is not None or not _is_loaded(settings, load, info, activity, now):
        return load
    return replace(load, loaded=sequence, ends={})


def load_report(settings: LoadSettings, load: LoadState, info: LoadInfo, activity: BuildActivity) -> LoadReport:
    """Return the progress of a build."""
    is_loaded = load.loaded is not None
    return LoadReport(
        name=settings.name,
        is_loaded=is_loaded,
        is_working=info.is_unread,
        since_ms=load.since_ms,
        unread=0 if is_loaded else _unread(load, info),
        snapshot=info.snapshot,
        is_stuck=info.is_available_now and info.is_unread and activity.is_stopped and not is_loaded,
    )


def _is_loaded(
    settings: LoadSettings, load: LoadState, info: LoadInfo, activity: BuildActivity, now: PlanningTime
) -> bool:
    if not info.is_snapshot_over:
        return False
    if _is_inactive(settings.idle_timeout_ms, info, activity, now):
        return True
    if settings.time_ms is not None:
        return info.emitted_watermark_ms is not None and info.emitted_watermark_ms >= settings.time_ms
    return _unread(load, info) == 0


def _is_inactive(timeout_ms: int | None, info: LoadInfo, activity: BuildActivity, now: PlanningTime) -> bool:
    if timeout_ms is None or info.is_unread:
        return False
    return now.monotonic_ns - activity.inactive_since_ns >= timeout_ms * _NS_PER_MS


def _unread(load: LoadState, info: LoadInfo) -> int:
    """Return how many positions before the recorded ends are unread; a split that vanished has none."""
    return sum(max(0, load.ends.get(split.split, 0) - split.end) for split in info.splits)
