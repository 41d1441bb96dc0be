"""The page's claims."""

from __future__ import annotations

from examples.spark_watermarks.claim import Claim, Observed
from examples.spark_watermarks.columns import dedup_horizon, lost_attribute
from examples.spark_watermarks.loss import filter_below, future_record, lagging_partition, late_rows
from examples.spark_watermarks.runs import available_now, latency, progress_numbers
from examples.spark_watermarks.silence import empty_source, silent_after_restart

__all__ = ["CLAIMS"]

CLAIMS: tuple[Claim, ...] = (
    Claim(
        name="lagging-partition",
        expected=Observed(
            spark="8 of 24 rows lost, no error; watermark 12:29:50",
            tidemark="0 of 24 rows lost, no error; watermark 12:29:50",
        ),
        prove=lagging_partition,
    ),
    Claim(
        name="empty-source",
        expected=Observed(
            spark="union: watermark none, 0 of 2 results; join: watermark none, 0 of 2 results",
            tidemark="union: watermark 22:59:50, 2 of 2 results; join: watermark 22:59:50, 2 of 2 results",
        ),
        prove=empty_source,
    ),
    Claim(
        name="filter-below",
        expected=Observed(
            spark="watermark 11:59:55; window 12:00 is still open at 13:09",
            tidemark="watermark 13:08:50; window 12:00 is out at 13:09",
        ),
        prove=filter_below,
    ),
    Claim(
        name="available-now",
        expected=Observed(
            spark="open after run 1: 12:10; run 2 loses 8 of 8 rows",
            tidemark="open after run 1: 12:00 and 12:10; run 2 loses 0 of 8 rows",
        ),
        prove=available_now,
    ),
    Claim(
        name="silent-after-restart",
        expected=Observed(
            spark="watermark 12:01:50 before, 12:01:50 after; 0 of 2 windows",
            tidemark="watermark 12:01:50 before, 12:39:50 after; 2 of 2 windows",
        ),
        prove=silent_after_restart,
    ),
    Claim(
        name="lost-attribute",
        expected=Observed(
            spark='expression: "not supported for streaming aggregations without watermark"; '
            'withWatermark again: "Redefining watermark is disallowed"',
            tidemark="keep_time_attribute: 1 window",
        ),
        prove=lost_attribute,
    ),
    Claim(
        name="late-rows",
        expected=Observed(
            spark="60 rows lost; numRowsDroppedByWatermark = 1",
            tidemark="60 rows lost; split p0: late_rows = 60, max_lateness_ms = 410000; 60 rows marked on request",
        ),
        prove=late_rows,
    ),
    Claim(
        name="future-record",
        expected=Observed(
            spark="watermark 2998-12-31T23:59:50 after a restart; 8 of 8 later rows lost",
            tidemark="watermark 12:19:50 after a restart; 0 of 8 later rows lost",
        ),
        prove=future_record,
    ),
    Claim(
        name="dedup-horizon",
        expected=Observed(
            spark="passes +30 s",
            tidemark="passes +30 s; no constant bound: passes +8 s and +30 s; "
            "with watermark.dedup-horizon: passes +30 s",
        ),
        prove=dedup_horizon,
    ),
    Claim(
        name="latency",
        expected=Observed(
            spark="result 1 batch later",
            tidemark="one active split: 1 batch later; two: 2 batches later",
        ),
        prove=latency,
    ),
    Claim(
        name="progress-numbers",
        expected=Observed(
            spark="numInputRows = 1, eventTime.min = 12:02:00, eventTime.max = 12:02:00",
            tidemark="numInputRows = 2, eventTime.min = 11:59:51, eventTime.max = 12:01:50; position = 2 of 2 rows",
        ),
        prove=progress_numbers,
    ),
)
"""In the order of the page."""
