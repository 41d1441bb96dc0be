"""One bucket of session windows taking a batch: rows in, rows of ended sessions out, the rest into the state.

The clock of a bucket is the largest stamp it was told. A stamp never exceeds what every row still to come will carry,
so a session that is over at the clock is final. Within a batch rows are judged one by one, each by its own stamp, in
the order of stamps; within equal stamps in the order of reading. For one split that is the order of its log, and a
batch's end is no event in it: the result does not depend on how rows fall into batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from datasources.spark.operators.buckets.bucket_batches import Packet
from datasources.spark.operators.buckets.bucket_rows import largest_stamp, rows_by_stamp
from datasources.spark.operators.sessions.session_state import BucketStore
from datasources.spark.operators.sessions.session_step import SessionRule, Turn

__all__ = ["Emitted", "advance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """What a bucket gives for a batch.

    Attributes:
        rows: the rows of ended sessions with their windows in µs; None if none ended.
        stamp_us: the watermark that those rows carry, µs: the one before the batch, at which none was over.
        clock_us: the watermark after the batch, µs, floored at the epoch.
        late_rows: rows of this batch that were too late.
        null_rowtime_rows: rows of this batch without rowtime.
    """

    rows: pa.Table | None
    stamp_us: int
    clock_us: int
    late_rows: int
    null_rowtime_rows: int


def advance(rule: SessionRule, store: BucketStore, packets: Sequence[Packet]) -> Emitted:
    """Take everything that a batch holds for a bucket."""
    before = store.brief()
    arrived, stamp_us = rows_by_stamp(packets), largest_stamp(packets)
    null_rowtimes = sum(packet.null_rowtimes for packet in packets)
    after = before.counted(clock_us=stamp_us, null_rowtime_rows=null_rowtimes)
    rows, late_rows = None, 0
    if arrived is not None or after.clock_us >= before.next_over_us:
        turn = Turn(rule, store, before, after.clock_us, arrived)
        rows, late_rows = turn.ended_rows(), turn.late_rows
        after = turn.save(after)
    store.put_brief(after)
    return Emitted(
        rows=rows,
        stamp_us=max(before.clock_us, 0),
        clock_us=max(after.clock_us, 0),
        late_rows=late_rows,
        null_rowtime_rows=null_rowtimes,
    )
