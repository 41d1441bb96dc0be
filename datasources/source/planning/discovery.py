"""Splits that appear, vanish, or lose data while a query runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from datasources.errors import DataLossError
from datasources.source.api.enumerator import Absence, ConfirmsAbsence, SplitEnumerator
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.offset import split_sort_key
from datasources.source.watermarks.idleness import SplitIdleness

__all__ = ["Discovery"]

_logger = logging.getLogger(__name__)


class Discovery:
    """Brings the splits of an offset in line with what the source has now.

    Args:
        enumerator: asked where to begin in a new split.
        idleness: told about splits that went away.
        fail_on_data_loss: whether loss stops the query; otherwise it is logged, once per loss.
        reaches_processing_time: whether the source comes to processing time; a new split is in it from its beginning.
    """

    def __init__(
        self,
        enumerator: SplitEnumerator,
        idleness: SplitIdleness,
        *,
        fail_on_data_loss: bool,
        reaches_processing_time: bool = False,
    ) -> None:
        self._enumerator = enumerator
        self._idleness = idleness
        self._fail = fail_on_data_loss
        self._reaches_processing_time = reaches_processing_time

    def update(
        self, splits: tuple[SplitProgress, ...], bounds: Mapping[SplitId, SplitBounds], *, limited: bool
    ) -> tuple[SplitProgress, ...]:
        """Return the splits to plan with: vanished ones gone, new ones at their earliest position.

        A new split has no watermark: it holds the combination where it is until it is caught up or idle.

        Args:
            splits: as of the last offset.
            bounds: what the source has now.
            limited: AvailableNow; a split that is not in the cap is then new, not vanished.

        Raises:
            DataLossError: a split or a part of its log is gone.
        """
        kept = [self._checked(split, bounds) for split in splits if self._exists(split, bounds, limited=limited)]
        known = {split.split for split in splits}
        bounded = any(split.limit is not None for split in splits)
        new = [] if bounded else [self._begin(split, found) for split, found in bounds.items() if split not in known]
        if not new:
            return tuple(kept)
        return tuple(sorted([*kept, *new], key=lambda s: split_sort_key(s.split)))

    def _exists(self, split: SplitProgress, bounds: Mapping[SplitId, SplitBounds], *, limited: bool) -> bool:
        if split.split in bounds or limited:
            return True
        finished = split.limit is not None and split.end >= split.limit
        absence = self._absence(split.split)
        if absence is Absence.UNCONFIRMED:
            return True
        if absence is Absence.LEFT_OUT:
            _logger.info("split_left_out split=%r", split.split)
        elif not finished:
            self._lose(f"split '{split.split}' does not exist any more; it was read up to position {split.end}")
        self._idleness.forget([split.split])
        return finished

    def _absence(self, split: SplitId) -> Absence:
        return self._enumerator.absence(split) if isinstance(self._enumerator, ConfirmsAbsence) else Absence.GONE

    def _checked(self, split: SplitProgress, bounds: Mapping[SplitId, SplitBounds]) -> SplitProgress:
        found = bounds.get(split.split)
        if found is None or split.limit is not None:
            return split
        if _is_other_log(split, found):
            return self._begin_again(split, found, _other_log(split, found))
        if found.end_exclusive < split.end:
            what = (
                f"split '{split.split}' ends at position {found.end_exclusive} but was already read up to {split.end}: "
                f"it was deleted and created again, or truncated"
            )
            return self._begin_again(split, found, what)
        if found.log is None or found.log is split.log:
            return split
        log = found.log if split.log is None else split.log.seen_as(found.log)
        return split if log == split.log else replace(split, log=log)

    def _begin_again(self, split: SplitProgress, found: SplitBounds, what: str) -> SplitProgress:
        self._lose(what)
        begin = self._enumerator.late_start_position(split.split)
        log = None if found.log is None else found.log.at_range_end()
        return replace(split, start=begin, end=begin, known_at=begin, log=log)

    def _begin(self, split: SplitId, found: SplitBounds) -> SplitProgress:
        position = self._enumerator.late_start_position(split)
        processing_start = position if self._reaches_processing_time else None
        log = found.log
        return SplitProgress(
            split=split, start=position, end=position, known_at=position, processing_start=processing_start, log=log
        )

    def _lose(self, what: str) -> None:
        message = f"{what}. Set failOnDataLoss to false to go on with what is there."
        if self._fail:
            raise DataLossError(message)
        _logger.warning("data_loss accepted=true what=%r", what)


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
