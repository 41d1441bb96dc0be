"""How far the splits of a source may go: the alignment law over random logs, and timelines of single decisions."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.source.alignment import candidates as candidates_module
from datasources.source.alignment.aligner import AlignmentInfo, AlignmentState, align
from datasources.source.alignment.lookahead import Candidates
from datasources.source.api.abilities import Alignment
from datasources.source.api.dialogue import answered
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.coordination.group import group_minimums
from datasources.source.watermarks.source_status import Peer, SourceStatus
from watermark import ManualClock, SplitStatus


class Logs:
    """A look-ahead over lists of candidates, None for a record without one. Counts what it is asked."""

    def __init__(self, logs) -> None:
        self.logs = logs
        self.requests = 0

    def candidates(self, asked):
        self.requests += 1
        found, ceiling_ms = {}, asked.ceiling_ms
        for split, (start, end) in asked.ranges.items():
            assert 0 <= start < end <= len(self.logs[split])
            rows = [
                (position, ms)
                for position, ms in enumerate(self.logs[split][start:end], start)
                if ms is not None and (ceiling_ms is None or ms <= ceiling_ms)
            ]
            if rows:
                positions, values = np.array(rows, dtype=np.int64).T
                found[split] = Candidates(positions=positions, values_ms=values)
        return found


class Source:
    """One source that reads by what its aligner decides, and what the law says about it, computed naively."""

    def __init__(self, logs, *, drift=10, budget=None, clock=None, **alignment) -> None:
        self.logs = {name: list(log) for name, log in logs.items()}
        self.lookahead = Logs(self.logs)
        self.clock = clock or ManualClock()
        self.drift = drift
        self.alignment = Alignment(group="g", max_drift_ms=drift, **alignment)
        self.state = AlignmentState(planned_ns=self.clock.monotonic_ns())
        self.budget = budget
        self.at = dict.fromkeys(self.logs, 0)
        self.watermarks: dict[str, int | None] = dict.fromkeys(self.logs)
        self.idle: set[str] = set()
        self.round_robin_index = 0

    def first(self, name):
        """The candidate of the next unread record that has one."""
        return next((ms for ms in self.logs[name][self.at[name] :] if ms is not None), None)

    def slowest(self):
        """F: the minimum over the splits that are not idle of the next candidate, or of the watermark."""
        parts = [
            self.watermarks[n] if self.first(n) is None else self.first(n) for n in self.logs if n not in self.idle
        ]
        return min((ms for ms in parts if ms is not None), default=None)

    def backlog(self):
        return {name: len(log) - self.at[name] for name, log in self.logs.items()}

    def plan(self, bounds=(None, None), **more):
        splits = [
            SplitProgress(
                split=SplitId(name),
                start=position,
                end=position,
                known_at=position,
                watermark_ms=self.watermarks[name],
                status=SplitStatus.IDLE if name in self.idle else SplitStatus.ACTIVE,
            )
            for name, position in self.at.items()
        ]
        self.round_robin_index += 1
        self.lookahead.requests = 0
        return self.align(splits, self.backlog(), bounds=bounds, round_robin_index=self.round_robin_index, **more)

    def align(self, splits, backlog, **more):
        info = AlignmentInfo(
            splits=splits, backlog=backlog, budget_rows=self.budget, now_ns=self.clock.monotonic_ns(), **more
        )
        self.state, decision = answered(align(self.alignment, self.state, info), self.lookahead.candidates)
        return decision

    def note_returned(self):
        """A split is active again: its watermark does not bound its next record."""
        self.state = replace(self.state, must_look=True)

    def read(self, decision):
        """Read a batch as tasks do: each split stops before its first record beyond what is allowed."""
        return [
            ms for name, rows in decision.shares.items() for ms in self._read_split(name, rows, decision.allowed_ms)
        ]

    def _read_split(self, name, rows, allowed_ms):
        taken = []
        for position in range(self.at[name], self.at[name] + rows):
            ms = self.logs[name][position]
            if ms is not None and allowed_ms is not None and ms > allowed_ms:
                self.state = self.state.stopped({SplitId(name): (position, ms)})
                break
            self.at[name] = position + 1
            taken += [] if ms is None else [ms]
        self.watermarks[name] = max((ms for ms in (self.watermarks[name], *taken) if ms is not None), default=None)
        return taken

    def batch(self, bounds=(None, None), **more):
        decision = self.plan(bounds, **more)
        return decision, self.read(decision)


def minimum(*values):
    return min((value for value in values if value is not None), default=None)


# -- the law, over random logs --

STEPS = 8
RECORDS = st.lists(st.none() | st.integers(0, 40 * 31 - 1), max_size=40)
"""A record is None, or how far it moves on (0..30 ms) and how late it is (0..39 ms) in one number."""
SCHEDULES = st.fixed_dictionaries(
    {
        "splits": st.lists(st.tuples(st.integers(0, 200), RECORDS), min_size=1, max_size=4),
        "arrivals": st.lists(st.integers(0, 12), min_size=STEPS, max_size=STEPS),
        "drift": st.sampled_from([0, 1, 10, 100]),
        "budget": st.none() | st.integers(1, 12),
        "window": st.sampled_from([1, 3, 64]),
        "pauses_ms": st.lists(st.sampled_from([0, 1, 300]), min_size=STEPS, max_size=STEPS),
        "bounds": st.none() | st.lists(st.integers(0, 150), min_size=STEPS + 1, max_size=STEPS + 1),
        "idle": st.sets(st.integers(0, 3), max_size=2),
        "in_order": st.booleans(),
    }
)


def random_schedule(seed):
    """A schedule like those of SCHEDULES, by thousands."""
    numbers = random.Random(seed)

    def record():
        return None if numbers.random() < 0.15 else numbers.randrange(40 * 31)

    return {
        "splits": [
            (numbers.randrange(200), [record() for _ in range(numbers.randrange(60))])
            for _ in range(numbers.randint(1, 4))
        ],
        "arrivals": [numbers.choice([0, 1, 5, 12]) for _ in range(STEPS)],
        "drift": numbers.choice([0, 1, 10, 100]),
        "budget": numbers.choice([None, None, numbers.randint(1, 12)]),
        "window": numbers.choice([1, 3, 64]),
        "pauses_ms": [numbers.choice([0, 1, 300]) for _ in range(STEPS)],
        "bounds": numbers.choice([None, [numbers.choice([0, 10, 150]) for _ in range(STEPS + 1)]]),
        "idle": {n for n in range(4) if numbers.random() < 0.2},
        "in_order": numbers.random() < 0.5,
    }


def candidates_of(base, records, *, in_order):
    """Records as candidates: each is a step beyond the last one, and some are late."""
    for record in records:
        if record is None:
            yield None
        else:
            base += record % 31
            yield base if in_order else base - record // 31


class Play:
    """Plays a schedule and checks after every batch what must hold."""

    def __init__(self, schedule) -> None:
        self.schedule = schedule
        self.feeds = {
            f"a-{n}": list(candidates_of(base, records, in_order=schedule["in_order"]))
            for n, (base, records) in enumerate(schedule["splits"])
        }
        logs = {name: [] for name in self.feeds}
        self.source = Source(logs, drift=schedule["drift"], budget=schedule["budget"])
        self.starved = 0

    def run(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(candidates_module, "_WINDOW", self.schedule["window"])
            patch.setattr(candidates_module, "_FIRST_WINDOWS", (min(4, self.schedule["window"]), 64, 65_536))
            for step in range(STEPS):
                self.step(step)

    def step(self, step):
        source = self.source
        for name, feed in self.feeds.items():
            shown = len(source.logs[name])
            source.logs[name].extend(feed[shown : shown + self.schedule["arrivals"][(step + len(name)) % STEPS]])
        source.clock.advance_us(self.schedule["pauses_ms"][step] * 1_000)
        waiting = source.backlog()
        source.idle = {f"a-{n}" for n in self.schedule["idle"]} & {name for name, rows in waiting.items() if not rows}
        firsts = {name: source.first(name) for name in source.logs if waiting[name]}
        bounds = self.bounds(step)
        before = source.slowest()
        decision = source.plan(bounds)
        self.check_decision(decision, waiting, firsts)
        starts = dict(source.at)
        taken = source.read(decision)
        self.check_law(bounds, before, decision, taken)
        self.check_progress(minimum(before, bounds[0]), firsts, moved=starts != source.at)

    def bounds(self, step):
        steps = self.schedule["bounds"]
        return (None, None) if steps is None else (sum(steps[: step + 1]), sum(steps[: step + 2]))

    def check_decision(self, decision, waiting, firsts):
        """It is within what waits and what may be planned, it pauses only who is ahead, and it asked seldom."""
        assert all(0 < rows <= waiting[name] for name, rows in decision.shares.items())
        assert sum(decision.shares.values()) <= (self.source.budget or sum(waiting.values()))
        assert not decision.paused & decision.shares.keys()
        assert all(firsts[name] > decision.allowed_ms for name in decision.paused)
        assert self.source.lookahead.requests <= 4 + 2 * len(waiting)

    def check_law(self, bounds, before, decision, taken):
        after = self.source.slowest()
        slowest = [ms for ms in (minimum(before, bounds[0]), minimum(after, bounds[1])) if ms is not None]
        if taken:
            assert max(taken) <= max(slowest) + self.source.drift
        if self.schedule["in_order"] and decision.planned_minimum_ms is not None and after is not None:
            assert after >= decision.planned_minimum_ms

    def check_progress(self, slowest, firsts, *, moved):
        """Who may be read is read after a look: the second planning at the latest."""
        known = [ms for ms in firsts.values() if ms is not None]
        is_due = bool(known) and min(known) <= slowest + self.source.drift
        self.starved = self.starved + 1 if is_due and not moved else 0
        assert self.starved < 3


@settings(max_examples=200, deadline=None)
@given(SCHEDULES)
def test_no_record_is_read_beyond_the_slowest_split_and_the_drift_and_nobody_starves(schedule):
    Play(schedule).run()


@pytest.mark.parametrize("block", range(4))
def test_the_law_holds_for_thousands_of_random_logs(block):
    for seed in range(block * 1_000, (block + 1) * 1_000):
        try:
            Play(random_schedule(seed)).run()
        except BaseException:
            print(f"seed {seed}")
            raise


# -- several sources of one query --


class Query:
    """Sources of one query: in every trigger they plan one after the other, then all batches are read."""

    def __init__(self, seed, *, late_by) -> None:
        numbers = random.Random(seed)
        clock = ManualClock()
        self.drift = numbers.choice([0, 5, 50])
        self.sources = {
            name: Source(
                {f"{name}-{n}": self.log(numbers, late_by) for n in range(numbers.randint(1, 3))},
                drift=self.drift,
                budget=numbers.choice([None, None, numbers.randint(3, 12)]),
                clock=clock,
            )
            for name in "abc"[: numbers.randint(2, 3)]
        }
        self.reported: dict[str, SourceStatus] = {}

    @staticmethod
    def log(numbers, late_by) -> list[int]:
        base, log = numbers.randrange(300), []
        for _ in range(numbers.randint(1, 60)):
            base += numbers.choice([0, 1, 3, 30])
            log.append(base - numbers.randint(0, late_by))
        return log

    def slowest(self):
        return minimum(*(source.slowest() for source in self.sources.values()))

    def trigger(self, number, *, reads=True):
        """Return the largest candidate that was read, None if nothing was."""
        decisions = []
        for name, source in self.sources.items():
            peers = [Peer(source=n, status=s, same_query=True) for n, s in self.reported.items() if n != name]
            decision = source.plan(group_minimums(SourceStatus(round=number, group="g"), peers))
            decision = decision if reads else decision.without_data()
            self.reported[name] = SourceStatus(
                round=number,
                group="g",
                planned_minimum_ms=decision.planned_minimum_ms,
                guaranteed_minimum_ms=decision.guaranteed_minimum_ms,
            )
            decisions.append((source, decision))
        return max((ms for source, decision in decisions for ms in source.read(decision)), default=None)

    def is_due(self):
        """Whether some source has a record that the law lets it read now."""
        waiting = [s.first(n) for s in self.sources.values() for n, rows in s.backlog().items() if rows]
        return bool(waiting) and min(waiting) <= self.slowest() + self.drift

    def run(self, *, overshoot_ms):
        """Play until nothing may be read: no trigger reads beyond the law, and none of three reads nothing in vain."""
        self.trigger(1, reads=False)  # the sources meet
        starved = 0
        for number in range(2, 400):
            if not self.is_due():
                return
            before = self.slowest()
            largest = self.trigger(number)
            starved = starved + 1 if largest is None else 0
            assert starved < 3
            if largest is not None:
                assert largest <= max(before, self.slowest()) + self.drift + overshoot_ms
        raise AssertionError("it takes for ever")


def play_queries(seeds, *, late_by):
    for seed in seeds:
        try:
            Query(seed, late_by=late_by).run(overshoot_ms=late_by)
        except BaseException:
            print(f"seed {seed}")
            raise


def test_the_law_holds_over_the_sources_of_a_query_that_plan_one_after_the_other():
    play_queries(range(600), late_by=0)


def test_a_promise_among_sources_is_wrong_by_the_disorder_of_the_records_at_most():
    # A source promises where its next planned end will be; a record that comes late by chance may lie behind it.
    play_queries(range(600), late_by=20)


# -- single decisions --


def read_all(source, **more):
    """Run batches until nothing is read, three plannings long; the shares of each."""
    batches = []
    while len(batches) < 100:
        found = [source.batch(**more)[0].shares for _ in range(3)]
        batches += [shares for shares in found if shares]
        if not any(found):
            return batches
    raise AssertionError("never at rest")


def test_two_splits_twelve_hours_apart_drain_in_a_few_batches():
    hour = 3_600_000
    slow = [n * hour // 100 for n in range(1_200)]
    source = Source({"a-0": slow, "a-1": [12 * hour + n for n in range(100)]}, drift=10_000)
    assert len(read_all(source)) <= 3
    assert source.backlog() == {"a-0": 0, "a-1": 100}  # nothing of the slow split is there to allow it
    source.logs["a-0"].append(12 * hour + 50)
    read_all(source)
    assert not any(source.backlog().values())


def test_while_batches_are_short_nothing_is_looked_up():
    source = Source({"a-0": [0], "a-1": [3]}, drift=1_000)
    assert source.batch()[0].shares == {"a-0": 1, "a-1": 1}
    assert source.lookahead.requests == 2  # the first records, and the last ones
    for n in range(1, 200):
        source.logs["a-0"].append(n * 10)
        source.logs["a-1"].append(n * 10 + 3)
        source.clock.advance_us(10_000)
        assert source.batch()[0].shares == {"a-0": 1, "a-1": 1}
        assert source.lookahead.requests == 0


def test_batches_that_are_half_a_drift_apart_are_looked_at():
    source = Source({"a-0": [0]}, drift=1_000)
    source.batch()
    source.logs["a-0"].append(5_000)
    source.clock.advance_us(499_000)
    decision = source.plan()
    assert (source.lookahead.requests, decision.allowed_ms) == (0, 1_000)
    source.clock.advance_us(1_000_000)
    assert source.plan().allowed_ms == 6_000
    assert source.lookahead.requests > 0


def test_after_a_stop_the_next_planning_looks_beyond_the_report():
    source = Source({"a-0": [0], "a-1": [5]}, drift=10)
    source.batch()
    source.logs["a-0"].append(500)
    source.logs["a-1"].append(20)
    _, taken = source.batch()  # not looked at: allowed is 0 + 10
    assert taken == []
    decision, taken = source.batch()
    assert source.lookahead.requests == 1  # the ends; both first records are in the reports
    assert (decision.current_minimum_ms, taken) == (20, [20])


def test_a_split_that_returns_is_looked_at():
    source = Source({"a-0": [0], "a-1": [1_000]}, drift=2_000)
    source.batch()
    source.idle = {"a-1"}
    source.logs["a-0"].append(10)
    source.batch()
    source.idle = set()
    source.logs["a-1"].append(2_500)
    source.note_returned()
    assert source.plan().current_minimum_ms == 10
    assert source.lookahead.requests > 0


def test_a_source_that_is_held_by_its_group_does_not_ask_again_for_what_it_knows():
    source = Source({"a-0": [1_000]}, drift=10)
    source.plan(bounds=(5, 5))
    for n in range(100):  # 20 ms apart: two seconds, while the log grows
        source.logs["a-0"].append(1_001 + n)
        source.clock.advance_us(20_000)
        decision = source.plan(bounds=(5, 5))
        assert source.lookahead.requests == 0
        assert (decision.shares, decision.paused, decision.allowed_ms) == ({}, {"a-0"}, 15)


def test_the_first_candidate_is_found_beyond_a_long_stretch_without_one():
    source = Source({"a-0": [None] * 20_000 + [70], "a-1": [5]}, drift=10)
    decision = source.plan()
    assert source.lookahead.requests <= 6
    assert (decision.current_minimum_ms, decision.paused, decision.shares) == (5, {"a-0"}, {"a-1": 1})


def test_a_stretch_without_candidates_that_is_too_long_to_look_through_is_read():
    source = Source({"a-0": [None] * 70_000 + [70], "a-1": [5]}, drift=10)
    decision, taken = source.batch()
    assert (decision.current_minimum_ms, taken) == (5, [5])
    assert source.at == {"a-0": 70_000, "a-1": 1}
    assert source.plan().paused == {"a-0"}


def test_a_candidate_beyond_the_ceiling_is_none():
    source = Source({"a-0": [900_000, 5], "a-1": [7]}, drift=10)
    decision = source.plan(ceiling_ms=1_000)
    assert (decision.current_minimum_ms, decision.paused) == (5, frozenset())


def test_a_caught_up_split_holds_an_idle_or_finished_one_does_not():
    source = Source({"a-0": [10], "a-1": [1_000, 1_001]}, drift=50)
    source.batch()
    assert source.plan().paused == {"a-1"}
    source.idle = {"a-0"}
    assert source.plan().shares == {"a-1": 2}
    ended = SplitProgress(
        split=SplitId("a-0"), start=1, end=1, known_at=1, watermark_ms=10, status=SplitStatus.FINISHED
    )
    waiting = SplitProgress(split=SplitId("a-1"), start=0, end=0, known_at=0)
    assert source.align([ended, waiting], {"a-0": 0, "a-1": 2}).shares == {"a-1": 2}


def test_a_split_with_neither_watermark_nor_record_bounds_nobody():
    source = Source({"a-0": [], "a-1": [1_000, 5_000]}, drift=50)
    decision = source.plan()
    assert (decision.shares, decision.allowed_ms) == ({"a-1": 2}, 5_050)


def test_nobody_bounds_where_nothing_is_known():
    decision = Source({"a-0": [], "a-1": [None]}, drift=50).plan()
    assert (decision.allowed_ms, decision.planned_minimum_ms, decision.shares) == (None, None, {"a-1": 1})


def test_a_group_that_stands_behind_holds_the_source_and_one_ahead_does_not():
    source = Source({"a-0": [100, 200, 300]}, drift=50)
    assert source.plan(bounds=(10, 10)).paused == {"a-0"}
    decision = source.plan(bounds=(60, 60))
    assert (decision.allowed_ms, decision.paused) == (110, frozenset())
    assert source.plan(bounds=(60, 260)).allowed_ms == 310
    assert source.plan(bounds=(900, 900)).allowed_ms == 350


def test_the_fields_of_a_source_status():
    source = Source({"a-0": [100, 200, 300]}, drift=50)
    waiting = source.plan(bounds=(10, 10))
    assert (waiting.current_minimum_ms, waiting.planned_minimum_ms, waiting.guaranteed_minimum_ms) == (100, 100, 300)
    limited = source.plan(bounds=(120, 120))
    assert (limited.allowed_ms, limited.planned_minimum_ms, limited.guaranteed_minimum_ms) == (170, 170, 300)
    free = source.plan()
    assert (free.allowed_ms, free.planned_minimum_ms, free.guaranteed_minimum_ms) == (350, 300, 300)
    nothing = free.without_data()
    assert (nothing.shares, nothing.planned_minimum_ms, nothing.guaranteed_minimum_ms) == ({}, 100, 300)


# -- budgets --


def test_under_a_budget_all_splits_come_to_about_the_same_time():
    logs = {"a-0": [n * 10 for n in range(300)], "a-1": [n * 10 for n in range(100, 400)]}
    source = Source(logs, drift=50, budget=100)
    source.batch()
    assert source.at["a-0"] >= 90
    assert source.at["a-1"] <= 10
    read_all(source)
    assert source.at["a-0"] == 300


def test_rows_promised_to_a_split_that_waits_do_not_eat_the_budget_of_the_slowest():
    source = Source({"a-0": [10], "a-1": list(range(1_000, 1_100))}, drift=50, budget=5)
    read_all(source)
    assert source.at == {"a-0": 1, "a-1": 0}
    source.logs["a-0"] += [20, 30]
    read_all(source)
    assert source.at == {"a-0": 3, "a-1": 0}


def test_a_slower_split_that_comes_voids_what_was_promised():
    logs = {"a-0": list(range(1_000, 1_100)), "a-1": list(range(1_000, 1_100)), "a-2": []}
    source = Source(logs, drift=50, budget=10)
    source.batch()
    source.logs["a-2"] += [20, 30]
    source.note_returned()
    read_all(source)
    assert source.at["a-2"] == 2


def test_a_promised_end_is_planned_again_where_a_batch_stopped_before_it():
    source = Source({"a-0": list(range(0, 1_000, 10))}, drift=0, budget=20)
    first, _ = source.batch(bounds=(0, 50))
    assert (first.shares, first.guaranteed_minimum_ms, source.at["a-0"]) == ({"a-0": 20}, 200, 6)
    second = source.plan(bounds=(50, 60))
    assert source.at["a-0"] + second.shares["a-0"] >= 20
    assert second.guaranteed_minimum_ms >= 200


def test_at_most_so_many_rows_of_a_split_are_planned_as_it_may_have():
    source = Source({"a-0": list(range(1_000)), "a-1": [500]}, drift=100)
    decision = source.plan(max_rows={"a-0": 200})
    assert decision.shares == {"a-0": 200}
    assert decision.allowed_ms == 300  # the record at position 200, and the drift
    assert decision.paused == {"a-1"}


# -- sources that align as a whole --


def test_a_source_that_aligns_as_a_whole_waits_as_a_whole():
    source = Source({"a-0": [10], "a-1": [1_000]}, drift=50, aligns_splits=False)
    decision, _ = source.batch()
    assert (decision.shares, decision.allowed_ms) == ({"a-0": 1, "a-1": 1}, None)  # its splits are not aligned
    source.logs["a-0"].append(20)
    source.logs["a-1"].append(1_010)
    waiting = source.plan(bounds=(-100, -100))
    assert (waiting.shares, waiting.paused) == ({}, {"a-0", "a-1"})
    assert source.plan(bounds=(-40, -40)).shares == {"a-0": 1, "a-1": 1}
    assert source.lookahead.requests == 0


def test_a_source_that_aligns_as_a_whole_waits_before_its_first_record_too():
    source = Source({"a-0": [10], "a-1": []}, drift=50, aligns_splits=False)
    assert source.plan(bounds=(-900, -900)).paused == {"a-0"}
    assert source.plan(bounds=(-40, -40)).shares == {"a-0": 1}


def test_a_late_record_is_read_however_far_the_watermark_of_the_whole_source_is():
    source = Source({"a-0": [1_000]}, drift=50, aligns_splits=False)
    source.batch()
    source.logs["a-0"].append(10)
    source.note_returned()
    assert source.plan(bounds=(0, 0)).shares == {"a-0": 1}


def test_a_budget_of_one_row_reaches_every_split_although_the_batch_number_stands_still():
    # Nothing is planned while the row goes to a split that waits, and the batch's number moves with batches only.
    source = Source({"a-0": [None] * 3, "a-1": [0, 1], "a-2": [5_000, 5_001]}, drift=10, budget=1)
    for _ in range(60):
        source.round_robin_index = 6
        source.batch()
    assert source.backlog() == {"a-0": 0, "a-1": 0, "a-2": 2}  # a-1 is not idle: it holds a-2


def test_a_source_that_waits_as_a_whole_promises_no_more_than_where_it_stands():
    source = Source({"a-0": [0, 260, 100, 300]}, drift=10, aligns_splits=False)
    source.batch()
    source.logs["a-0"].append(400)
    decision = source.plan((80, 80))
    assert not decision.shares or decision.guaranteed_minimum_ms >= decision.planned_minimum_ms
    waiting = Source({"a-0": [500]}, drift=10, aligns_splits=False).plan((80, 80))
    assert (waiting.shares, waiting.planned_minimum_ms, waiting.guaranteed_minimum_ms) == ({}, 500, 500)
