"""The laws of the framework over random schedules: crashes, lost reports, repeated reads, silent and new splits."""

from __future__ import annotations

import random

import pytest

from datasources.source.checkpoint.offset import Offset
from tests.support.source.memory_source import MemoryLog, Query, strategy
from watermark import EmitStrategy

SCHEDULES = 400


def naive_bound(log: MemoryLog, offset: Offset) -> dict[str, int | None]:
    """The largest watermark that each split's rows before the end of a batch justify."""
    return {
        s.split: max((c for _, c in log.splits[s.split][: s.end] if c is not None), default=None) for s in offset.splits
    }


class Schedule:
    """One random run, with the laws checked after every step."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log = MemoryLog(chunk_rows=self.random.randint(1, 4))
        for n in range(self.random.randint(1, 3)):
            self.log.splits[f"a-{n}"] = []
        emit = self.random.choice(list(EmitStrategy))
        self.idle_ms = self.random.choice([0, 0, 3_000])
        self.query = Query(self.log, strategy(emit, idle_timeout_ms=self.idle_ms))
        self.emitted: list[str] = []
        self.highest = 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.random.choice((self.produce, self.produce, self.batch, self.batch, self.wait, self.crash, self.grow))()
        self.query.report_store.losing = False
        while (end := self.query.plan()) is not None:
            self.commit(end, self.query.read(end))
        expected = [f"{split}:{i}" for split, rows in self.log.splits.items() for i in range(len(rows))]
        assert sorted(self.emitted) == sorted(expected)

    def produce(self) -> None:
        split = self.random.choice(list(self.log.splits))
        base = len(self.log.splits[split]) * 10
        self.log.append(split, *(base + self.random.randint(-15, 25) + 1_000 for _ in range(self.random.randint(1, 5))))

    def wait(self) -> None:
        self.query.clock.advance_us(self.random.choice([1_000, 999_000, 3_000_000]))

    def grow(self) -> None:
        if len(self.log.splits) < 5:
            self.log.splits[f"a-{len(self.log.splits)}"] = []

    def crash(self) -> None:
        self.query.start_process()

    def batch(self) -> None:
        end = self.query.plan(self.random.choice([None, 1, 3, 7]))
        if end is None:
            return
        self.query.report_store.losing = self.random.random() < 0.3
        rows = self.query.read(end)
        if self.random.random() < 0.3:
            assert self.query.read(end) == rows  # the same process again
        if self.random.random() < 0.3:
            self.query.start_process()  # killed before the commit: another process reads it again
            assert self.query.read(end) == rows
        self.commit(end, rows)

    def commit(self, end: Offset, rows) -> None:
        self.emitted += [row.id for row in rows if row.id]
        row_watermarks = [row.row_watermark for row in rows if row.row_watermark is not None]
        if row_watermarks and not self.idle_ms:
            bounds = naive_bound(self.log, end)
            # A row watermark never exceeds what every split that existed could justify, and never goes back below the combined watermark.
            combined = end.combined_ms or 0
            justified = min((b if b is not None else -1) for b in bounds.values())
            assert max(row_watermarks) <= max(justified, combined)
            assert min(row_watermarks) >= combined
        if end.combined_ms is not None:
            assert end.combined_ms >= self.highest
            self.highest = end.combined_ms
        self.query.offset = end


@pytest.mark.parametrize("block", range(4))
def test_replayed_batches_are_equal_and_no_row_is_lost_or_doubled(block):
    for seed in range(block * SCHEDULES // 4, (block + 1) * SCHEDULES // 4):
        try:
            Schedule(seed).run(40)
        except BaseException:
            print(f"seed {seed}")
            raise
