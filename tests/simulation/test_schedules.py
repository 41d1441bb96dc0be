"""Thousands of schedules of the whole framework without Spark: the laws hold after every step of each.

A seed decides everything. A schedule that breaks a law fails with its seed and its last events; seeds that found a bug
once stand in `found_seeds.txt` and are replayed first.
"""

from __future__ import annotations

import copy
import functools
import logging
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from datasources.source.api.dialogue import answered
from datasources.source.planning.decide import decide
from datasources.source.planning.planner import BatchPlanner
from tests.simulation.schedule import run_seed
from tests.support.forms import full

FOUND = Path(__file__).with_name("found_seeds.txt")
FOUND_WITH_GATES = Path(__file__).with_name("found_seeds_with_hold.txt")
FAULTS = (
    "all idle: processing time",
    "available now",
    "batch read twice",
    "clock set back",
    "clock set forward",
    "compacted",
    "coordinator restarted",
    "coordinator unreachable",
    "crash after the commit",
    "crash before the batch is read",
    "crash before the commit",
    "crash before the offset is written",
    "crash of the application",
    "crash while the batch is read",
    "far ahead",
    "finished split",
    "idle source beside an active one",
    "idle split",
    "late row: drop",
    "late row: keep",
    "late row: mark",
    "lease over",
    "new split",
    "null candidate",
    "on-event",
    "on-periodic",
    "out of order",
    "paused split",
    "processing time after-backlog",
    "processing time always",
    "removed split",
    "report delivered late",
    "report delivered twice",
    "report lost",
    "row budget",
    "silent split",
    "slow split",
    "stopped by LIMIT",
    "task retried",
    "time passes while a source plans",
    "unaligned splits",
)
GATE_FAULTS = (
    "closed gate",
    "held: available now",
    "held: crash after the commit",
    "held: crash before the batch is read",
    "held: crash before the commit",
    "held: crash before the offset is written",
    "held: crash of the application",
    "held: crash while the batch is read",
    "loaded",
    "released",
)
SCHEDULES = 10_000
GATE_SCHEDULES = 2_000
MORE_SCHEDULES = 100_000
BLOCK = 50
MIN_COUNT = 500


def found_seeds(path: Path) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def run_block(start: int, *, has_gates: bool = False) -> Counter[str]:
    """Run one block of seeds; how many of its schedules had each fault."""
    logging.disable(logging.CRITICAL)  # what the coordinator's clients complain of is the plan here
    faults: Counter[str] = Counter()
    for seed in range(start, start + BLOCK):
        faults.update(run_seed(seed, has_gates=has_gates))
    return faults


def run_all(first: int, schedules: int, *, has_gates: bool = False) -> Counter[str]:
    """Run blocks in as many processes as there are cores."""
    blocks = range(first, first + schedules, BLOCK)
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return sum(pool.map(functools.partial(run_block, has_gates=has_gates), blocks), Counter())


@pytest.fixture
def silenced_logs() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("silenced_logs")
@pytest.mark.parametrize("is_swift", [True, False])
@pytest.mark.parametrize("seed", found_seeds(FOUND))
def test_a_seed_that_once_found_a_bug_finds_none(seed, is_swift):
    run_seed(seed, is_swift=is_swift)


@pytest.mark.usefixtures("silenced_logs")
@pytest.mark.parametrize("block", [0, *full(1, 2, 3)])
def test_the_laws_hold_in_a_sample_of_schedules(block):
    for seed in range(block * 50, block * 50 + 50):
        run_seed(seed)


@pytest.mark.usefixtures("silenced_logs")
@pytest.mark.parametrize("has_gates", [False, True])
def test_decisions_are_made_of_values_alone(has_gates, monkeypatch):
    """Each decision of some schedules is made again, without a source, from the answers that were given."""
    made = 0

    def twice(self, seen):
        nonlocal made
        dialogue, before = [], copy.deepcopy((self._state, seen))
        first = answered(decide(self._settings, self._state, seen), lambda asked: _noted(dialogue, self._answer, asked))
        assert (self._state, seen) == before
        left = iter(dialogue)
        assert answered(decide(self._settings, *before), lambda asked: _repeated(left, asked)) == first
        made += 1
        return first

    monkeypatch.setattr(BatchPlanner, "_decide", twice)
    for seed in range(25):
        run_seed(seed, has_gates=has_gates)
    assert made > 1_000


def _noted(dialogue, answer, asked):
    dialogue.append((asked, answer(asked)))
    return dialogue[-1][1]


def _repeated(dialogue, asked):
    question, answer = next(dialogue)
    assert asked == question
    return answer


@pytest.mark.usefixtures("silenced_logs")
@pytest.mark.parametrize("is_swift", [True, False])
@pytest.mark.parametrize("seed", found_seeds(FOUND_WITH_GATES))
def test_a_seed_that_once_found_a_bug_of_holding_finds_none(seed, is_swift):
    run_seed(seed, has_gates=True, is_swift=is_swift)


@pytest.mark.usefixtures("silenced_logs")
@pytest.mark.parametrize("block", [0, *full(1, 2, 3)])
def test_the_laws_hold_in_a_sample_of_schedules_in_which_sources_wait(block):
    for seed in range(block * 25, block * 25 + 25):
        run_seed(seed, has_gates=True)


@pytest.mark.slow
@pytest.mark.timeout(5_000)
@pytest.mark.parametrize("schedules", [100, *full(GATE_SCHEDULES)])
def test_the_laws_hold_in_schedules_in_which_sources_wait_with_every_kind_of_fault(schedules):
    faults = run_all(0, schedules, has_gates=True)
    print(dict(sorted(faults.items(), key=lambda item: item[1])))
    assert {name: faults[name] for name in GATE_FAULTS if faults[name] < MIN_COUNT * schedules // SCHEDULES} == {}


@pytest.mark.slow
@pytest.mark.timeout(5_000)
@pytest.mark.parametrize("schedules", [250, *full(SCHEDULES)])
def test_the_laws_hold_in_schedules_with_every_kind_of_fault(schedules):
    faults = run_all(0, schedules)
    print(dict(sorted(faults.items(), key=lambda item: item[1])))
    assert {name: faults[name] for name in FAULTS if faults[name] < MIN_COUNT * schedules // SCHEDULES} == {}


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.timeout(5_000)
@pytest.mark.parametrize("first", range(SCHEDULES, SCHEDULES + MORE_SCHEDULES, SCHEDULES))
def test_the_laws_hold_in_a_hundred_thousand_schedules(first):
    run_all(first, SCHEDULES)
