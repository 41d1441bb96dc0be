"""Which splits are idle, decided on the driver.

A split is idle when it has been *caught up* (nothing is left to plan) for the idle timeout. Time with unread backlog
does not count, whatever the reason for the backlog: a slow query, admission, alignment. Within a process the time is
monotonic; across a restart it goes on from the wall time in the offset, but only if the log's end has not moved since.
Any new record re-activates at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from datasources.source.api.abilities import WatermarkParams
from datasources.source.watermarks.planning_time import PlanningTime

_NS_PER_MS = 1_000_000


class SplitActivity(NamedTuple):
    """What a process knows of a split's activity.

    Attributes:
        log_end: where its log ended when it was last looked at.
        moved_ms: the wall time from which idleness counts: the log moved then, or had unread records.
        caught_up_ns: the same on the monotonic clock of this process.
    """

    log_end: int
    moved_ms: int
    caught_up_ns: int


def restored(planned_end: int, moved_ms: int, now: PlanningTime) -> SplitActivity:
    """Return the activity of a split in an offset: idle time since `moved_ms` counts while its log still ends there."""
    return SplitActivity(planned_end, moved_ms, now.monotonic_ns - max(0, now.wall_ms - moved_ms) * _NS_PER_MS)


def observed(
    before: SplitActivity | None, *, planned: int, log_end: int, now: PlanningTime, is_known: bool = True
) -> SplitActivity:
    """Return the activity of a split that was looked at now.

    Args:
        before: as of the last look; None = the split is new.
        planned: everything before it is planned.
        log_end: where the log ends.
        now: the time of the planning.
        is_known: False: that is the last known end, for the server does not answer: it may have more records.
    """
    if before is not None and before.log_end == log_end and planned >= log_end and is_known:
        return before
    return SplitActivity(log_end, now.wall_ms, now.monotonic_ns)


def is_idle(activity: SplitActivity, params: WatermarkParams, now: PlanningTime) -> bool:
    """Return whether a split has been caught up for the timeout; 0 = never idle."""
    timeout_ms = params.idle_timeout_ms
    return timeout_ms > 0 and now.monotonic_ns - activity.caught_up_ns >= timeout_ms * _NS_PER_MS


def next_idle_ns(activities: Iterable[SplitActivity], params: WatermarkParams, now: PlanningTime) -> int | None:
    """Return when the next split will be idle if nothing happens, on the monotonic clock; None = never."""
    timeout_ms = params.idle_timeout_ms
    if not timeout_ms:
        return None
    idle = (activity.caught_up_ns + timeout_ms * _NS_PER_MS for activity in activities)
    return min((at_ns for at_ns in idle if at_ns > now.monotonic_ns), default=None)
