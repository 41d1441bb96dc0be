"""Windows of the oracle's streams, each row judged by itself: late if its window's end was passed before it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from tests.support.oracles.oracle import Arrival, OracleCase, normal

__all__ = ["OFFSET_MS", "SIZE_MS", "candidate_of", "rows_of_offset_windows", "shown"]

SIZE_MS, OFFSET_MS = 10_000, 4_000


def candidate_of(case: OracleCase, row: Arrival) -> int | None:
    """The value of the stream's watermark expression, ms."""
    return {
        "ts": row.ts,
        "CASE WHEN flag = 1 THEN ts END": row.ts if row.flag == 1 else None,
        "ts - (CASE WHEN k = 0 THEN INTERVAL '8' SECOND ELSE INTERVAL '2' SECOND END)": row.ts
        - (8_000 if row.k == 0 else 2_000),
    }[case.watermark]


def rows_of_offset_windows(case: OracleCase) -> list[tuple[Any, ...]]:
    """(start, end, count) of TUMBLE with the offset, as an answer holds them."""
    counts: Counter[int] = Counter()
    watermark_ms: int | None = None
    for row in case.rows:
        start_ms = (row.ts - OFFSET_MS) // SIZE_MS * SIZE_MS + OFFSET_MS
        if watermark_ms is None or watermark_ms < start_ms + SIZE_MS - 1:
            counts[start_ms + SIZE_MS] += 1
        candidate_ms = candidate_of(case, row)
        if candidate_ms is not None:
            watermark_ms = candidate_ms if watermark_ms is None else max(watermark_ms, candidate_ms)
    return shown(counts)


def shown(counts: dict[int, int]) -> list[tuple[Any, ...]]:
    """Counts by window end, ms, as the rows of an answer."""
    return sorted((_text(end - SIZE_MS), _text(end), count) for end, count in counts.items())


def _text(ms: int) -> str:
    return str(normal(datetime.fromtimestamp(ms / 1_000, UTC)))
