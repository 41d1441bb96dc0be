"""Alignment of splits whose records may vanish: compacted logs.

A stop inside a task is repeatable only while the record that stopped it exists. Where records may vanish from an unread
or unreported range, the batch is planned by position instead: the range is read here first, and the planned end is
where a record lies beyond the allowed candidate. That costs a second reading of the range, on the driver; so it is
bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datasources.source.alignment.aligner import AlignedShares
from datasources.source.api.scan_range import NoteStop, ScanRange, ScanWatermark
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.watermarks.combine import bound_us, to_us

__all__ = ["MAX_ROWS", "end_of_allowed"]

MAX_ROWS = 100_000


def end_of_allowed(
    aligned: AlignedShares,
    splits: Mapping[SplitId, SplitProgress],
    ceiling_ms: int | None,
    scan: ScanWatermark,
    note_stop: NoteStop,
) -> AlignedShares:
    """Return the decision with the shares of `splits` cut down to what may be read, and nothing left to stop at.

    Args:
        aligned: at most MOST_ROWS per split of `splits`.
        splits: those whose records may vanish.
        ceiling_ms: candidates beyond it do not count.
        scan: reads a range.
        note_stop: called where a range ends early, as a report would have reported it.

    Raises:
        DataLossError, SourceUnavailable, RecordError: a range cannot be read.
    """
    if aligned.allowed_ms is None:
        return aligned
    shares, paused = dict(aligned.shares), set(aligned.paused)
    for name in splits.keys() & shares.keys():
        split = splits[name]
        wanted = ScanRange(
            split=name,
            start=split.end,
            end=split.end + shares[name],
            watermark_us=to_us(split.watermark_ms),
            ceiling_us=bound_us(ceiling_ms),
            allowed_us=bound_us(aligned.allowed_ms),
        )
        end = scan(wanted)
        shares[name] = end.position - split.end
        if end.next_us is not None:
            note_stop(name, end.position, end.next_us // 1_000)
        if not shares[name]:
            del shares[name]
            paused.add(name)
    if not shares:
        return replace(aligned.without_data(), paused=frozenset(paused))
    return replace(aligned, shares=shares, paused=frozenset(paused))
