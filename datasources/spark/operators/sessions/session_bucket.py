"""One bucket of session windows: row batches in, rows of ended sessions out, state updated.

The clock of a bucket is the largest row watermark that it received. A row watermark never exceeds that of a later row,
so a session that has ended at the clock is final. Within a micro-batch rows are processed one by one, each against its
own row watermark, sorted by row watermark and then in read order. For one split that is the order of its log, and the
end of a micro-batch is no event in it: the result does not depend on how rows are divided into micro-batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.bucket_rows import max_watermark_us, rows_by_watermark
from datasources.spark.operators.sessions.session_state import SessionStore
from datasources.spark.operators.sessions.session_step import SessionBatchStep, SessionRule


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEmitted:
    """The output of a bucket for one micro-batch.

    Attributes:
        rows: the rows of ended sessions with their windows in µs; None if none ended.
        watermark_us: row watermark of these rows, µs: the one before the micro-batch, at which no session had ended.
        clock_us: the watermark after the micro-batch, µs, at least the epoch.
        late_rows: late rows of this micro-batch.
        null_rowtime_rows: rows of this micro-batch without rowtime.
    """

    rows: pa.Table | None
    watermark_us: int
    clock_us: int
    late_rows: int
    null_rowtime_rows: int


def advance_sessions(rule: SessionRule, store: SessionStore, row_batches: Sequence[RowBatch]) -> SessionEmitted:
    """Process the input of one micro-batch for one bucket."""
    before = store.header()
    arrived, watermark_us = rows_by_watermark(row_batches), max_watermark_us(row_batches)
    null_rowtimes = sum(row_batch.null_rowtimes for row_batch in row_batches)
    after = before.counted(clock_us=watermark_us, null_rowtime_rows=null_rowtimes)
    rows, late_rows = None, 0
    if arrived is not None or after.clock_us >= before.next_over_us:
        step = SessionBatchStep(rule, store, before, after.clock_us, arrived)
        rows, late_rows = step.ended_rows(), step.late_rows
        after = step.save(after)
    store.put_header(after)
    return SessionEmitted(
        rows=rows,
        watermark_us=max(before.clock_us, 0),
        clock_us=max(after.clock_us, 0),
        late_rows=late_rows,
        null_rowtime_rows=null_rowtimes,
    )
