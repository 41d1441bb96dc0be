"""A bucket of an OVER operator: takes the packets of a batch, gives the rows that fire, changes the bucket's state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from datasources.spark.operators.buckets.bucket_batches import Packet
from datasources.spark.operators.buckets.bucket_rows import largest_stamp, rows_by_stamp
from datasources.spark.operators.buckets.row_batches import NO_STAMP, ROWTIME_COLUMN
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.over_state import Brief, OverStore, Parts
from datasources.spark.operators.over.over_step import OverTurn

__all__ = ["OverEmitted", "advance_over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverEmitted:
    """What a bucket gives for a batch.

    Attributes:
        rows: the rows that fire, in the order of their times, with the stamp of each, µs; None if none does. A stamp is
            the watermark before the advance that made the row fire, at which it was not late.
        clock_us: the watermark after the batch, µs, floored at the epoch.
        late_rows: rows of this batch that were too late.
        null_rowtime_rows: rows of this batch without rowtime.
        state_keys: keys that the bucket keeps.
    """

    rows: pa.Table | None
    clock_us: int
    late_rows: int
    null_rowtime_rows: int
    state_keys: int


def advance_over(rule: OverRule, store: OverStore, packets: Sequence[Packet]) -> OverEmitted:
    """Take everything that a batch holds for a bucket."""
    before = store.brief()
    arrived, stamp_us = rows_by_stamp(packets), largest_stamp(packets)
    null_rowtimes = sum(packet.null_rowtimes for packet in packets)
    clock_us = _clock(rule, before, stamp_us, arrived)
    after, rows, late_rows = replace(before, clock_us=clock_us), None, 0
    if arrived is not None or clock_us >= before.next_due_us:
        turn = OverTurn(rule, store, before, clock_us, arrived)
        rows, late_rows = turn.results(), turn.late_rows
        after = turn.save(after)
    elif before.keys.parts and clock_us >= before.forgotten_us:
        store.replace("keys", [])
        store.replace("retained", [])
        after = replace(after, live_keys=0, keys=Parts(), retained=Parts())
    after = after.counted(late_rows=late_rows, null_rowtime_rows=null_rowtimes)
    store.put_brief(after)
    return OverEmitted(
        rows=rows,
        clock_us=max(stamp_us, 0) if rule.is_processing_time else max(after.clock_us, 0),
        late_rows=late_rows,
        null_rowtime_rows=null_rowtimes,
        state_keys=after.live_keys,
    )


def _clock(rule: OverRule, before: Brief, stamp_us: int, arrived: pa.Table | None) -> int:
    if not rule.is_processing_time:
        return max(before.clock_us, stamp_us)
    newest = NO_STAMP if arrived is None else int(pc.max(arrived.column(ROWTIME_COLUMN)).as_py())
    return max(before.clock_us, newest)
