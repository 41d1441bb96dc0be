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
from datasources.source.api.dialogue import Dialogue
from datasources.source.api.scan_range import ScanEnd, ScanRange, Stops
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.watermarks.combine import bound_us, to_us

MAX_ROWS = 100_000


def end_of_allowed(
    aligned: AlignedShares, splits: Mapping[SplitId, SplitProgress], ceiling_ms: int | None
) -> Dialogue[tuple[AlignedShares, Stops]]:
    """Return the decision with the shares of `splits` cut down to what may be read, and nothing left to stop at.

    Asks with a `ScanRange` for each split. Beside the decision it returns where ranges end early, as reports would.

    Args:
        aligned: at most `MAX_ROWS` per split of `splits`.
        splits: those whose records may vanish.
        ceiling_ms: candidates beyond it do not count.

    Raises:
        DataLossError, SourceUnavailable, RecordError: a range cannot be read.
    """
    if aligned.allowed_ms is None:
        return aligned, {}
    ends: dict[SplitId, ScanEnd] = {}
    for name in sorted(splits.keys() & aligned.shares.keys()):
        split = splits[name]
        ends[name] = yield ScanRange(
            split=name,
            start=split.end,
            end=split.end + aligned.shares[name],
            watermark_us=to_us(split.watermark_ms),
            ceiling_us=bound_us(ceiling_ms),
            allowed_us=bound_us(aligned.allowed_ms),
        )
    stops = {name: (end.position, end.next_us // 1_000) for name, end in ends.items() if end.next_us is not None}
    shares = {**aligned.shares, **{name: end.position - splits[name].end for name, end in ends.items()}}
    paused = aligned.paused | {name for name in ends if not shares[name]}
    shares = {name: rows for name, rows in shares.items() if rows}
    return replace(aligned if shares else aligned.without_data(), shares=shares, paused=paused), stops
