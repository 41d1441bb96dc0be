"""States with a TTL: the result depends on the times of each key's own changes, not on batches, splits or watermarks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.aggregate_operator import AggregateOperator
from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.changes import (
    GENERATION_COLUMN,
    HASH_COLUMN,
    NO_TIME,
    TIME_COLUMNS,
    WEIGHT_COLUMN,
)
from datasources.spark.operators.changelog.join.join_operator import JoinKind, JoinOperator
from datasources.spark.operators.changelog.rank.rank_operator import RankOperator
from datasources.spark.operators.changelog.rank.ranked_rows import RankFunction
from datasources.spark.operators.changelog.rank.value_order import OrderKey
from datasources.spark.operators.changelog.state_ttl import TIMES, StateTtl, TimedOperator
from tests.support.spark.change_bucket_run import Bag, MemoryState, bag_of, change_table

SECOND = 1_000_000
TTL = StateTtl(ttl_us=40 * SECOND)
ROWS = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("id", pa.int64())])
RIGHT = pa.schema([("rk", pa.int64()), ("rv", pa.int64()), ("rid", pa.int64())])


@dataclass(frozen=True)
class Event:
    """A row that is added or removed, at a time in seconds; `side` is the input."""

    split: int
    time: int
    row: tuple[int, int, int]
    weight: int
    side: int = 0

    @property
    def key(self) -> int:
        return self.row[0]


def generated(random_: random.Random, *, sides: int, removes: bool) -> list[Event]:
    """Events of eight keys in three splits: each key's times ascend, with gaps of every length."""
    events = []
    for key in range(8):
        time, there = random_.randrange(1, 60), []
        for number in range(random_.randrange(1, 12)):
            side = random_.randrange(sides)
            row = (key, random_.randrange(4), 100 * key + number)
            events.append(Event(split=key % 3, time=time, row=row, weight=1, side=side))
            there.append((side, row))
            time += random_.choice([0, 1, 9, 30, 39, 40, 41, 60, 200])
            if removes and random_.random() < 0.4:
                last = events[-1]
                if time - last.time <= 40:  # a row that is still known
                    side, row = there.pop()
                    events.append(Event(split=key % 3, time=time, row=row, weight=-1, side=side))
                    time += random_.choice([0, 1, 60])
    return events


def batches_of(events: Sequence[Event], random_: random.Random, size: int) -> list[tuple[list[Event], int]]:
    """The events in batches, those of a split in order, with the watermark before each, a second below the slowest."""
    waiting = {split: sorted((e for e in events if e.split == split), key=lambda e: e.time) for split in range(3)}
    read = dict.fromkeys(waiting, 0)
    found, watermark = [], 0
    while any(read[split] < len(waiting[split]) for split in waiting):
        batch: list[Event] = []
        for split in random_.sample(sorted(waiting), 3):
            count = random_.randrange(size + 1)
            batch += waiting[split][read[split] : read[split] + count]
            read[split] = min(read[split] + count, len(waiting[split]))
        found.append((batch, watermark))
        behind = [waiting[s][read[s]].time if read[s] < len(waiting[s]) else 10**6 for s in waiting if waiting[s]]
        watermark = max(watermark, min(behind) - 1)
    return found


class TimedRun:
    """An operator with its state; `result` is the sum of its results."""

    def __init__(self, operator: ChangeOperator, inputs: Sequence[tuple[pa.Schema, str]]) -> None:
        self.operator, self.inputs = operator, inputs
        self.state, self.cleaned_us = MemoryState(), 0
        self.result: Bag = Counter()

    def advance(self, events: Sequence[Event], watermark: int) -> pa.Table:
        """Process the events; return the changes of the result with their times."""
        tables = []
        for side, (schema, key) in enumerate(self.inputs):
            timed = pa.schema([*schema, *((name, pa.int64()) for name in TIME_COLUMNS)])
            times = [e.time * SECOND if e.time else NO_TIME for e in events]
            rows = [((*e.row, at, at), e.weight) for e, at in zip(events, times, strict=True) if e.side == side]
            tables.append(change_table(timed, rows, [key], hashing=lambda key: key[0]))
        return self.advance_by(tables, watermark)

    def advance_by(self, tables: Sequence[pa.Table], watermark: int) -> pa.Table:
        timed_operator = TimedOperator(self.operator, TTL, self.state)
        changes = timed_operator.advance(tables, watermark * SECOND)
        self.cleaned_us = timed_operator.clean_up(watermark * SECOND, self.cleaned_us)
        self.state.close_batch()
        self.result.update(bag_of(changes.drop_columns([*TIME_COLUMNS, GENERATION_COLUMN])))
        self.result = Counter({row: number for row, number in self.result.items() if number})
        return changes


def generations(events: Sequence[Event]) -> list[list[Event]]:
    """The events of each key between gaps that are longer than the TTL."""
    found = []
    for _, own in groupby(sorted(events, key=lambda e: (e.key, e.time)), key=lambda e: e.key):
        last = None
        for event in own:
            if last is None or event.time - last > 40:
                found.append([])
            found[-1].append(event)
            last = event.time
    return found


def _rows(events: Sequence[Event], side: int = 0) -> list[tuple[int, int, int]]:
    there: Counter[tuple[int, int, int]] = Counter()
    for event in events:
        if event.side == side:
            there[event.row] += event.weight
    return sorted((+there).elements())


def _aggregated(events: Sequence[Event]) -> Bag:
    rows = _rows(events)
    if not rows:
        return Counter()
    values = [v for _, v, _ in rows]
    return Counter([(rows[0][0], len(rows), sum(values), max(values), len(set(values)))])


def _ranked(events: Sequence[Event]) -> Bag:
    return Counter(sorted(_rows(events), key=lambda row: (-row[1], row[2]))[:2])


def _joined(events: Sequence[Event]) -> Bag:
    right = _rows(events, 1)
    return Counter((*one, *other) for one in _rows(events) for other in (right or [(None, None, None)]))


def _call(name: str, function: str, *, is_distinct: bool = False) -> AggregateCall:
    argument = None if name == "n" else "v"
    return AggregateCall(function=function, name=name, type=pa.int64(), argument=argument, is_distinct=is_distinct)


AGGREGATE = AggregateOperator(
    ["k"],
    [_call("n", "count"), _call("s", "sum"), _call("m", "max"), _call("d", "count", is_distinct=True)],
    ROWS,
    is_by_group=True,
)
OF_GROUPS = AggregateOperator(
    ["k"], [_call("n", "count"), _call("s", "sum")], pa.schema([("k", pa.int64()), ("v", pa.int64())]), is_by_group=True
)
RANK = RankOperator(
    schema=ROWS,
    partition_keys=["k"],
    order=[OrderKey("v", False, False), OrderKey("id", True, False)],
    function=RankFunction.ROW_NUMBER,
    limit=2,
)
JOIN = JoinOperator(kind=JoinKind.LEFT, left=ROWS, right=RIGHT, left_keys=["k"], right_keys=["rk"], null_safe=[False])
ONE, BOTH = [(ROWS, "k")], [(ROWS, "k"), (RIGHT, "rk")]
CASES = {
    "aggregate": (AGGREGATE, ONE, _aggregated, True),
    "rank": (RANK, ONE, _ranked, True),
    "left join": (JOIN, BOTH, _joined, False),
}


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_key_begins_anew_after_a_gap_in_its_own_times(name, seed):
    operator, inputs, expected, removes = CASES[name]
    random_ = random.Random(seed)
    events = generated(random_, sides=len(inputs), removes=removes)
    wanted: Bag = Counter()
    for each in generations(events):
        wanted.update(expected(each))
    for size in (1, 3, 100):
        run = TimedRun(operator, inputs)
        for batch, watermark in batches_of(events, random_, size):
            if batch:
                run.advance(batch, watermark)
        assert run.result == wanted, size


@pytest.mark.parametrize("name", CASES)
def test_nothing_stays_of_keys_that_the_watermark_has_left_behind(name):
    operator, inputs, _, removes = CASES[name]
    random_ = random.Random(7)
    run = TimedRun(operator, inputs)
    for batch, watermark in batches_of(generated(random_, sides=len(inputs), removes=removes), random_, 5):
        run.advance(batch, watermark)
    assert run.state.rows(TIMES)
    run.advance([Event(split=0, time=10**5, row=(99, 0, 0), weight=1)], 10**5)
    for state in (TIMES, *operator.state_names):
        stored = run.state.stored(state)
        assert stored is None or set(stored.column("__tidemark_hash").to_pylist()) == {99}


def test_a_split_that_lags_keeps_the_state_of_its_keys():
    run = TimedRun(AGGREGATE, ONE)
    run.advance(
        [Event(split=0, time=5, row=(1, 1, 1), weight=1), Event(split=1, time=9_000, row=(2, 1, 2), weight=1)], 0
    )
    run.advance([Event(split=1, time=90_000, row=(3, 1, 3), weight=1)], 5)
    run.advance([Event(split=0, time=7, row=(1, 2, 4), weight=1)], 5)
    assert run.result[1, 2, 3, 2, 2] == 1


def test_the_removal_of_a_row_that_was_forgotten_is_counted_and_changes_nothing():
    run = TimedRun(AGGREGATE, ONE)
    run.advance([Event(split=0, time=5, row=(1, 1, 1), weight=1)], 0)
    run.advance(
        [Event(split=0, time=500, row=(1, 1, 1), weight=-1), Event(split=0, time=500, row=(1, 2, 1), weight=1)], 5
    )
    assert run.result == {(1, 1, 1, 1, 1): 1, (1, 1, 2, 2, 1): 1}
    assert sum(run.state.counts.values()) == 1


def test_a_key_without_a_time_is_kept_until_it_has_one():
    run = TimedRun(AGGREGATE, ONE)
    run.advance([Event(split=0, time=0, row=(key, 1, key), weight=1) for key in (1, 2)], 0)
    run.advance([Event(split=0, time=1_000, row=(1, 1, 3), weight=1)], 0)
    run.advance([Event(split=0, time=9_000, row=(2, 1, 4), weight=1)], 8_000)
    run.advance([Event(split=0, time=9_001, row=(1, 1, 5), weight=1)], 9_000)
    run.advance([Event(split=0, time=9_002, row=(2, 1, 2), weight=-1)], 9_000)
    assert run.result == {(1, 2, 2, 1, 1): 1, (1, 1, 1, 1, 1): 1, (2, 1, 1, 1, 1): 1}


def _halves(changes: pa.Table) -> pa.Table:
    """Changes of the groups, grouped by whether the key is odd."""
    halves = pc.bit_wise_and(changes.column("k"), 1)
    columns = [halves, changes.column("n"), *(changes.column(name) for name in TIME_COLUMNS), halves]
    return pa.Table.from_arrays(
        [*columns, changes.column(WEIGHT_COLUMN)], names=["k", "v", *TIME_COLUMNS, HASH_COLUMN, WEIGHT_COLUMN]
    )


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_aggregates_of_aggregates_do_not_depend_on_batches(seed):
    """A group of groups is in use as long as one of its groups is, also where many changes come as one."""
    random_ = random.Random(seed)
    events = [replace(each, split=0) for each in generated(random_, sides=1, removes=False)]
    found = []
    for size in (1, 3, 100):
        below, above = TimedRun(AGGREGATE, ONE), TimedRun(OF_GROUPS, ONE)
        for batch, watermark in batches_of(events, random_, size):
            changes = below.advance(batch, watermark) if batch else None
            if changes is not None and changes.num_rows:
                above.advance_by([_halves(changes)], watermark)
        found.append(above.result)
    assert found[0] == found[1] == found[2]
