"""A connector that keeps a state, in memory: a table that is read in chunks while its log goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pyarrow as pa

from datasources.source.api.connector_state import PlannedBatch, ReconciledState
from datasources.source.api.reader import Chunk, RangeEnd
from datasources.source.api.split import ENDLESS, SplitBounds
from tests.support.source.memory_source import SCHEMA

LOG, TABLE_SPLIT = "log", "lane-0"


@dataclass
class TableAndLog:
    """A table that is swept chunk by chunk, and a log of transactions of `size` records, read whole.

    A batch's state says up to where chunks are covered and how many bytes (positions) of the log it may read.
    """

    transactions: list[list[int]] = field(default_factory=list)
    chunks: list[list[int]] = field(default_factory=list)
    budget: int = 4
    planned_minimum_ms: int | None = None
    is_due: bool = False
    reconciled: list[dict] = field(default_factory=list)
    schema = SCHEMA
    state: dict | None = None

    # -- enumerator --
    def start_positions(self):
        return {LOG: 0, TABLE_SPLIT: 0}

    def limits(self):
        return None if self.chunks else {TABLE_SPLIT: 0}

    def bounds(self):
        end = sum(map(len, self.transactions))
        return {
            LOG: SplitBounds(start_inclusive=0, end_exclusive=end),
            TABLE_SPLIT: SplitBounds(start_inclusive=0, end_exclusive=ENDLESS if self.chunks else 0),
        }

    def late_start_position(self, split):
        raise AssertionError(split)

    def may_lose_records(self, split):
        return False

    def close(self):
        pass

    def initial_state(self):
        return {"done": 0}

    def resume(self, state):
        assert state["done"] >= 0

    def localize(self, state):
        return state

    def reconcile(self, state, ranges):
        self.reconciled.append({split: (info.position, info.rows, info.note) for split, info in ranges.items()})
        done = state["done"] + (1 if TABLE_SPLIT in ranges else 0)
        return ReconciledState(
            state={"done": done}, finished=frozenset({TABLE_SPLIT} if done >= len(self.chunks) else ())
        )

    def plan(self, state, room, budget_rows):
        shares = {LOG: min(room.get(LOG, 0), self.budget)} if room.get(LOG, 0) > 0 else {}
        if state["done"] < len(self.chunks):
            shares[TABLE_SPLIT] = 1
        return PlannedBatch(shares=shares, state={**state, "budget": self.budget}, is_due=self.is_due)

    def without_data(self, state):
        return state

    def guaranteed_watermark_ms(self, state, split):
        return self.planned_minimum_ms if split.split == LOG else None

    def is_aligned(self, state):
        return state["done"] >= len(self.chunks)

    def is_snapshot_over(self, state):
        return state["done"] >= len(self.chunks)

    def progress(self):
        return {"table": {"chunks": len(self.chunks)}}

    # -- reader factory and reader --
    def for_batch(self, state):
        return replace(self, state=dict(state), reconciled=self.reconciled)

    def open(self, *, only=None):
        return self

    def read(self, split, start, end):
        if split == TABLE_SPLIT:
            yield chunk_of(self.chunks[start], lambda _: start, is_unordered=True)
            self.ended = {TABLE_SPLIT: RangeEnd(position=end)}
            return
        at = 0
        for transaction in self.transactions:
            begin, at = at, at + len(transaction)
            if start <= begin < end:  # one that begins in the range is read whole
                yield chunk_of(transaction, lambda _, begin=begin: begin)
                end_of_range = at
        self.ended = {LOG: RangeEnd(position=end_of_range, note=f"ended at {end_of_range}")}

    def range_end(self, split):
        return self.ended[split]


def chunk_of(times, position, **more):
    columns = [pa.array([str(t) for t in times]), pa.array(times, pa.int64()), pa.array(times, pa.int64())]
    return Chunk(columns=pa.RecordBatch.from_arrays(columns, schema=SCHEMA), position=position, **more)
