"""One bucket of an OVER operator: row batches in, rows that fire out, state updated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.bucket_rows import max_watermark_us, rows_by_watermark
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK, ROWTIME_COLUMN
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.over_state import OverStateHeader, OverStore, SegmentTotals
from datasources.spark.operators.over.over_step import OverBatchStep


@dataclass(frozen=True, slots=True, kw_only=True)
class OverEmitted:
    """The output of a bucket for one micro-batch.

    Attributes:
        rows: the rows that fire, by time, with their row watermarks, µs; None if there are none. A row watermark is the
            watermark before the advance that made the row fire, at which it was not late.
        clock_us: the watermark after the micro-batch, µs, at least the epoch.
        late_rows: late rows of this micro-batch.
        null_rowtime_rows: rows of this micro-batch without rowtime.
        state_keys: keys in the state.
    """

    rows: pa.Table | None
    clock_us: int
    late_rows: int
    null_rowtime_rows: int
    state_keys: int


def advance_over(rule: OverRule, store: OverStore, row_batches: Sequence[RowBatch]) -> OverEmitted:
    """Process the input of one micro-batch for one bucket."""
    before = store.header()
    arrived, watermark_us = rows_by_watermark(row_batches), max_watermark_us(row_batches)
    null_rowtimes = sum(row_batch.null_rowtimes for row_batch in row_batches)
    clock_us = _clock(rule, before, watermark_us, arrived)
    after, rows, late_rows = replace(before, clock_us=clock_us), None, 0
    if arrived is not None or clock_us >= before.next_due_us:
        step = OverBatchStep(rule, store, before, clock_us, arrived)
        rows, late_rows = step.results(), step.late_rows
        after = step.save(after)
    elif before.keys.segments and clock_us >= before.forgotten_us:
        store.replace("keys", [])
        store.replace("retained", [])
        after = replace(after, live_keys=0, keys=SegmentTotals(), retained=SegmentTotals())
    after = after.counted(late_rows=late_rows, null_rowtime_rows=null_rowtimes)
    store.put_header(after)
    return OverEmitted(
        rows=rows,
        clock_us=max(watermark_us, 0) if rule.is_processing_time else max(after.clock_us, 0),
        late_rows=late_rows,
        null_rowtime_rows=null_rowtimes,
        state_keys=after.live_keys,
    )


def _clock(rule: OverRule, before: OverStateHeader, watermark_us: int, arrived: pa.Table | None) -> int:
    if not rule.is_processing_time:
        return max(before.clock_us, watermark_us)
    newest = NO_WATERMARK if arrived is None else int(pc.max(arrived.column(ROWTIME_COLUMN)).as_py())
    return max(before.clock_us, newest)
