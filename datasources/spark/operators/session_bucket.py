"""One bucket of session windows taking a batch: rows in, rows of ended sessions out, the rest into the state.

The clock of a bucket is the largest stamp it was told. A stamp never exceeds what every row still to come will carry,
so a session that is over at the clock is final. Within a batch rows are judged one by one, each by its own stamp, in
the order of stamps; within equal stamps in the order of reading. For one split that is the order of its log, and a
batch's end is no event in it: the result does not depend on how rows fall into batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from datasources.spark.operators.packets import STAMP_COLUMN
from datasources.spark.operators.session_state import BucketStore
from datasources.spark.operators.session_turn import SessionRule, Turn
from datasources.spark.operators.sessions import NO_STAMP

__all__ = ["Emitted", "Packet", "advance", "in_order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """What a task sent to a bucket.

    Attributes:
        task: which task.
        number: its place among the task's packets.
        stamp_us: the largest stamp among the task's rows so far, µs; epoch 0 stands for none.
        null_rowtimes: rows that were left out because they have no rowtime.
        rows: in the order of reading; None for a heartbeat.
    """

    task: int
    number: int
    stamp_us: int
    null_rowtimes: int
    rows: pa.Table | None


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
    arrived = in_order(packets)
    # C12: epoch 0 is how "no watermark" travels on rows. It never makes a row late.
    stamp_us = max((packet.stamp_us or NO_STAMP for packet in packets), default=NO_STAMP)
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


def in_order(packets: Sequence[Packet]) -> pa.Table | None:
    """Return the rows of a batch in the order in which they are judged."""
    tables = [p.rows for p in sorted(packets, key=lambda p: (p.task, p.number)) if p.rows is not None]
    if not tables:
        return None
    rows = pa.concat_tables(tables)
    stamps = rows.column(STAMP_COLUMN).to_numpy()
    if np.all(stamps[1:] >= stamps[:-1]):
        return rows
    return rows.take(pa.array(np.argsort(stamps, kind="stable")))
