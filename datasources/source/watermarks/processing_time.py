"""When a source leaves event time for the clock, for good.

Every split has a *processing-time start*: the position from which it is in processing time. The source changes over
when everything before these positions was in earlier batches; this is final, and the positions are dropped.
Source: FLIP-326.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from datasources.errors import OffsetError
from datasources.source.api.abilities import ProcessingTime
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Offset


def processing_starts_of(
    mode: ProcessingTime, starts: Mapping[SplitId, int], enumerator: SplitEnumerator
) -> Mapping[SplitId, int]:
    """Return the processing-time start of each split of a new query; none if the source stays in event time."""
    if mode is ProcessingTime.NEVER:
        return {}
    if mode is ProcessingTime.ALWAYS:
        return starts
    ends = {split: bounds.end_exclusive for split, bounds in enumerator.bounds().items()}
    return {split: max(start, ends.get(split, start)) for split, start in starts.items()}


def is_in_processing_time(mode: ProcessingTime, start: Offset, splits: Sequence[SplitProgress]) -> bool:
    """Return whether the batch after `start` is in processing time.

    Args:
        mode: from the options.
        start: the end of the last batch.
        splits: reconciled.
    """
    if mode is ProcessingTime.NEVER:
        return False
    return start.is_processing or all(_is_past_processing_start(split) for split in splits)


def _is_past_processing_start(split: SplitProgress) -> bool:
    is_finished = split.limit is not None and split.end >= split.limit
    return split.processing_start is None or split.end >= split.processing_start or is_finished


def require_no_return(mode: ProcessingTime, start: Offset) -> None:
    """Raise if a checkpoint in processing time would go on in event time.

    Raises:
        OffsetError: naming the option.
    """
    if start.is_processing and mode is ProcessingTime.NEVER:
        raise OffsetError(
            "the source of this checkpoint is in processing time, and there is no way back to event time: set "
            "watermark.processing-time as it was, or start with a new checkpoint location."
        )
