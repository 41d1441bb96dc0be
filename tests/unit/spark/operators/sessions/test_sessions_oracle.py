"""Flink's own answers for SESSION, by the operator without Spark: packed, cut into batches, taken by two buckets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from tests.support.oracles.oracle import CASES, Arrival, OracleCase, load_case, normal_rows
from tests.support.oracles.session_model import Record, run_bucket

GAP_MS = 7_000
BOUNDED_END_MS = 253_402_300_799_999

# The cases' watermark expressions; None where the expression gives NULL.
WATERMARKS: dict[str, Callable[[Arrival], int | None]] = {
    "ts": lambda row: row.ts,
    "CASE WHEN flag = 1 THEN ts END": lambda row: row.ts if row.flag == 1 else None,
    "ts - (CASE WHEN k = 0 THEN INTERVAL '8' SECOND ELSE INTERVAL '2' SECOND END)": lambda row: (
        row.ts - (8_000 if row.k == 0 else 2_000)
    ),
}


def records_of(case: OracleCase) -> Sequence[Record]:
    records, watermark = [], None
    for position, row in enumerate(case.rows):
        records.append(Record(id=position, key=str(row.k), ts=row.ts, watermark=watermark))
        candidate = WATERMARKS[case.watermark](row)
        known = [value for value in (watermark, candidate) if value is not None]
        watermark = max(known, default=None)
    return records


def instant(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1_000, UTC)


@pytest.mark.parametrize("rows_per_batch", [1, 7, 1_000])
@pytest.mark.parametrize("name", CASES)
def test_sessions_are_flinks_however_rows_fall_into_batches(name, rows_per_batch):
    case = load_case(name)
    fired, late = run_bucket(records_of(case), [rows_per_batch], gap=GAP_MS, final=BOUNDED_END_MS)
    counts = Counter((key, start, end) for _, key, start, end in fired)
    sessions = [(instant(start), instant(end), int(key), count) for (key, start, end), count in counts.items()]
    assert normal_rows(sessions) == case.answers["session_key"].inserted
    assert len(fired) + late == len(case.rows)
