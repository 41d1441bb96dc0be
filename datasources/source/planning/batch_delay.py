"""Whether a batch waits for more rows: Spark's minOffsetsPerTrigger and maxTriggerDelay.

A batch that waits is no batch: nothing is written, so there is nothing to replay. Its rows are unread as those beyond a
budget are: their splits are not idle and hold the watermark where it is. What was read before still sends heartbeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from datasources.source.api.abilities import DelaySettings
from datasources.source.api.split import SplitId, SplitProgress

_NS_PER_MS = 1_000_000


def is_delayed(  # noqa: PLR0913 - the facts of the rule
    settings: DelaySettings | None,
    since_ns: int | None,
    backlog: Mapping[SplitId, int],
    splits: Iterable[SplitProgress],
    *,
    ends: bool,
    now_ns: int,
) -> bool:
    """Return whether the rows that are there wait.

    Args:
        settings: None = batches never wait.
        since_ns: when the time began; None = the first rows that a process finds in its first planning do not wait, as
            in Spark.
        backlog: how many positions wait in each split.
        splits: all of the source; where each ends for good and has no more, waiting would bring nothing.
        ends: whether the run ends with what is there (Trigger.AvailableNow).
        now_ns: the monotonic time of the planning.
    """
    if settings is None or since_ns is None or ends:
        return False
    is_early = now_ns - since_ns < settings.max_delay_ms * _NS_PER_MS
    return is_early and 0 < _rows(backlog) < settings.min_rows and _may_grow(backlog, splits)


def delayed_since_ns(
    since_ns: int | None, backlog: Mapping[SplitId, int], *, is_delayed: bool, now_ns: int
) -> int | None:
    """Return when the time of the next delay began: now, if rows that are there do not wait."""
    is_silent = since_ns is not None and not _rows(backlog)
    return since_ns if is_delayed or is_silent else now_ns


def _rows(backlog: Mapping[SplitId, int]) -> int:
    return sum(max(0, waiting) for waiting in backlog.values())


def _may_grow(backlog: Mapping[SplitId, int], splits: Iterable[SplitProgress]) -> bool:
    return any(s.limit is None or s.end + backlog.get(s.split, 0) < s.limit for s in splits)
