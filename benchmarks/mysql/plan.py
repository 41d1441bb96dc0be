"""What planning costs when a table has a million chunks: the real planner on a real table, of which no row is read."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass
from typing import Final

from benchmarks.mysql.tables import BenchServer, options_of
from datasources.mysql.planning.mysql_enumerator import MySqlEnumerator
from datasources.mysql.source import MySqlSource
from datasources.source.api.connector import SessionInfo
from datasources.source.api.connector_state import RangeInfo

__all__ = ["MillionChunks", "plan_chunks"]

_MS: Final = 1_000
_LANES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MillionChunks:
    """What was measured.

    Attributes:
        chunks: how many chunks there were.
        plan_ms: median of one planning: asking the server where it is, settling the last batch, the next one.
        worst_plan_ms: the longest but for one in a hundred.
        offset_bytes: the largest state, as JSON.
    """

    chunks: int
    plan_ms: float
    worst_plan_ms: float
    offset_bytes: int


def plan_chunks(server: BenchServer, table: str, chunk_rows: int) -> MillionChunks:
    """Plan a table from its begin to its end, batch after batch."""
    options = {
        **options_of(server.login, table),
        "scan.startup.mode": "snapshot",
        "scan.incremental.snapshot.chunk.size": str(chunk_rows),
        "scan.snapshot.parallelism": str(_LANES),
    }
    source = MySqlSource.create(options, SessionInfo(time_zone="UTC", ansi=True))
    enumerator = source.enumerator(is_batch=False)
    assert isinstance(enumerator, MySqlEnumerator)
    seconds, largest, chunks = [], 0, 0
    try:
        positions = dict(enumerator.start_positions())
        state = enumerator.initial_state()
        while True:
            begin = time.perf_counter()
            enumerator.bounds()
            batch = enumerator.plan(state, dict.fromkeys(positions, 1_000_000_000), None)
            if not batch.shares:
                break
            positions = {split: at + batch.shares.get(split, 0) for split, at in positions.items()}
            facts = {split: RangeInfo(position=positions[split], rows=0, note=None) for split in batch.shares}
            state = enumerator.reconcile(batch.state, facts).state
            seconds.append(time.perf_counter() - begin)
            chunks += sum(batch.shares.values())
            largest = max(largest, len(json.dumps(batch.state, separators=(",", ":"))))
    finally:
        enumerator.close()
    return MillionChunks(
        chunks=chunks,
        plan_ms=round(statistics.median(seconds) * _MS, 1),
        worst_plan_ms=round(sorted(seconds)[-1 - len(seconds) // 100] * _MS, 1),
        offset_bytes=largest,
    )
