"""Splits that appear, vanish, or lose data while a query runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from datasources.errors import DataLossError
from datasources.source.api.dialogue import Dialogue
from datasources.source.api.enumerator import Absence
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.offset import split_sort_key


@dataclass(frozen=True, slots=True)
class AskAbsences:
    """Why are these splits not there any more? The answer: an `Absence` for each."""

    splits: tuple[SplitId, ...]


@dataclass(frozen=True, slots=True)
class AskLateStarts:
    """From where are these splits to be read, which appeared or were created again? The answer: a position for each."""

    splits: tuple[SplitId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """The splits of an offset in line with what the source has now.

    Attributes:
        splits: to plan with.
        gone: those whose activity is to be forgotten, so that one of the same name begins afresh.
        left_out: those of `gone` that the subscription does not name any more.
        losses: what was lost, where that is accepted.
    """

    splits: tuple[SplitProgress, ...]
    gone: frozenset[SplitId] = frozenset()
    left_out: tuple[SplitId, ...] = ()
    losses: tuple[str, ...] = ()


def discover(
    splits: tuple[SplitProgress, ...],
    bounds: Mapping[SplitId, SplitBounds],
    *,
    limited: bool,
    fail_on_data_loss: bool,
    reaches_processing_time: bool = False,
) -> Dialogue[Discovered]:
    """Return the splits to plan with: vanished ones gone, new ones at their earliest position.

    A new split has no watermark: it holds the combination where it is until it is caught up or idle.

    Args:
        splits: as of the last offset.
        bounds: what the source has now.
        limited: AvailableNow; a split that is not in the limit is then new, not vanished.
        fail_on_data_loss: whether loss stops the query.
        reaches_processing_time: whether the source comes to processing time; a new split is in it from its beginning.

    Raises:
        DataLossError: a split or a part of its log is gone.
    """
    absent = () if limited else tuple(split.split for split in splits if split.split not in bounds)
    absences: Mapping[SplitId, Absence] = (yield AskAbsences(absent)) if absent else {}
    losses = {
        split.split: loss
        for split in splits
        if (loss := _loss(split, bounds.get(split.split), absences.get(split.split))) is not None
    }
    if losses and fail_on_data_loss:
        raise DataLossError(_advised(next(iter(losses.values()))))
    known = {split.split for split in splits}
    is_bounded = any(split.limit is not None for split in splits)
    new = () if is_bounded else tuple(split for split in bounds if split not in known)
    late = (*(split for split in losses if split in bounds), *new)
    begins: Mapping[SplitId, int] = (yield AskLateStarts(late)) if late else {}
    gone = frozenset(split for split in absent if absences[split] is not Absence.UNCONFIRMED)
    kept = [
        _begin_again(split, bounds[split.split], begins[split.split])
        if split.split in begins
        else _with_log(split, bounds.get(split.split))
        for split in splits
        if split.split not in gone or _is_finished(split)
    ]
    if new:
        begun = [_begin(split, bounds[split], begins[split], reaches_processing_time) for split in new]
        kept = sorted([*kept, *begun], key=lambda split: split_sort_key(split.split))
    return Discovered(
        splits=tuple(kept),
        gone=gone,
        left_out=tuple(split for split in absent if absences[split] is Absence.LEFT_OUT),
        losses=tuple(map(_advised, losses.values())),
    )


def _loss(split: SplitProgress, found: SplitBounds | None, absence: Absence | None) -> str | None:
    """Return what of a split is lost; None = nothing."""
    if found is None:
        if absence is not Absence.GONE or _is_finished(split):
            return None
        return f"split '{split.split}' does not exist any more; it was read up to position {split.end}"
    if split.limit is not None:
        return None
    if _is_other_log(split, found):
        return _other_log(split, found)
    if found.end_exclusive < split.end:
        return (
            f"split '{split.split}' ends at position {found.end_exclusive} but was already read up to {split.end}: "
            f"it was deleted and created again, or truncated"
        )
    return None


def _advised(loss: str) -> str:
    return f"{loss}. Set failOnDataLoss to false to go on with what is there."


def _is_finished(split: SplitProgress) -> bool:
    return split.limit is not None and split.end >= split.limit


def _with_log(split: SplitProgress, found: SplitBounds | None) -> SplitProgress:
    if found is None or split.limit is not None or found.log is None or found.log is split.log:
        return split
    log = found.log if split.log is None else split.log.seen_as(found.log)
    return split if log == split.log else replace(split, log=log)


def _begin_again(split: SplitProgress, found: SplitBounds, begin: int) -> SplitProgress:
    log = None if found.log is None else found.log.at_range_end()
    return replace(split, start=begin, end=begin, known_at=begin, log=log)


def _begin(split: SplitId, found: SplitBounds, begin: int, reaches_processing_time: bool) -> SplitProgress:  # noqa: FBT001 - an option
    processing_start = begin if reaches_processing_time else None
    return SplitProgress(
        split=split, start=begin, end=begin, known_at=begin, processing_start=processing_start, log=found.log
    )


def _is_other_log(split: SplitProgress, found: SplitBounds) -> bool:
    if split.log is None or found.log is None:
        return False
    return split.log.id is not None and found.log.id is not None and split.log.id != found.log.id


def _other_log(split: SplitProgress, found: SplitBounds) -> str:
    assert split.log is not None
    assert found.log is not None
    return (
        f"split '{split.split}' is another log than the one that was read up to position {split.end}: its topic was "
        f"deleted and created again (topic id {split.log.id} then, {found.log.id} now), and positions of the one mean "
        f"nothing in the other"
    )
