"""The watermark of the whole source: its splits, the clock, and the other sources of its query.

In this order, and never backwards:

1. the splits' combination: the minimum over active splits, the maximum if all are idle;
2. `watermark.all-idle` = processing-time: while all splits are idle the maximum advances at the clock's pace from the
   time when the last of them became idle. Not *to* the clock: a stream that arrives an hour late still does afterwards;
3. an idle source follows the other sources of its query;
4. in processing time the splits do not count: the source follows the query's event-time sources, else the clock.

The result is written into the offset, so that a batch can be read again without any of these inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.watermarks.combine import combined_ms
from datasources.source.watermarks.source_status import Peer, SourceStatus, followed_ms
from watermark import SplitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWatermark:
    """The source's watermark as one planning computes it.

    Attributes:
        combined_ms: the source's watermark, ms; None = none yet.
        own_ms: the same without the other sources, as it is published to them.
        is_idle: all splits are idle, or there is none.
        is_finished: all splits have finished.
    """

    combined_ms: int | None
    own_ms: int | None
    is_idle: bool
    is_finished: bool


def source_watermark(  # noqa: PLR0913 - the facts of one planning
    splits: Sequence[SplitProgress],
    peers: Sequence[Peer],
    *,
    previous_ms: int | None,
    clock_ms: int,
    idle_since_ms: int | None,
    is_processing: bool,
) -> SourceWatermark:
    """Return the source's watermark.

    Args:
        splits: reconciled, with statuses.
        peers: the other sources.
        previous_ms: emitted before.
        clock_ms: the driver's clock.
        idle_since_ms: since when all splits are idle, if the watermark then goes on with the clock; else None.
        is_processing: whether the source is in processing time.
    """
    holding = any(split.status.holds_back for split in splits)
    is_finished = bool(splits) and all(split.status is SplitStatus.FINISHED for split in splits)
    is_idle = not holding and not is_finished and not is_processing
    own_ms = None if is_processing and not is_finished else combined_ms(splits, None if is_idle else previous_ms)
    if is_idle and own_ms is not None and idle_since_ms is not None:
        own_ms += max(0, clock_ms - idle_since_ms)
    status = SourceStatus(is_idle=is_idle, is_processing=is_processing)
    followed = None if is_finished else followed_ms(status, peers, clock_ms=clock_ms)
    combined = max((ms for ms in (previous_ms, own_ms, followed) if ms is not None), default=None)
    return SourceWatermark(
        combined_ms=combined, own_ms=own_ms if is_idle else combined, is_idle=is_idle, is_finished=is_finished
    )


def with_unread(splits: tuple[SplitProgress, ...], unread_ms: Mapping[SplitId, int]) -> tuple[SplitProgress, ...]:
    """Return the splits as they count for the combination: a paused one without watermark comes up to its next record.

    Alignment lets a split that is far ahead wait before its very first record. As one that never had a watermark it
    would hold the combination at none, and no state would be evicted until the slow splits have come that far. But its
    first record is known, and it lies beyond what any slower split may reach; whatever follows it is treated as if it
    had been read. The watermark stays a millisecond before it: it must not make that record itself late.

    Args:
        splits: reconciled.
        unread_ms: the candidate of the next record of each paused split.
    """
    if not unread_ms:
        return splits
    return tuple(
        replace(split, watermark_ms=unread_ms[split.split] - 1)
        if split.watermark_ms is None and split.split in unread_ms
        else split
        for split in splits
    )
