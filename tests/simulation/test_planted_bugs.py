"""Bugs planted into the real code: the simulation finds each of them.

What a plant replaces is the real function; what it puts there is the kind of mistake that one makes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from datasources.source.alignment.candidates import CandidateCache
from datasources.source.coordination import group as peers
from datasources.source.coordination.gate_registry import LoadGateRegistry
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.load_gate import gate as gate_module
from datasources.source.planning import decide, planned_splits
from datasources.source.planning import planner as planner_module
from datasources.source.planning import reconcile as reconcile_module
from datasources.source.planning.planner import BatchPlanner
from datasources.source.reading import split_run
from datasources.source.reading.task import TaskReader
from datasources.source.watermarks.planning_time import PlanningTime
from tests.simulation.laws import LawBroken
from tests.simulation.schedule import Schedule
from watermark import SplitStatus

MAX_SCHEDULES = 1_500
"""Within how many schedules a bug must be found."""

Plant = Callable[[pytest.MonkeyPatch], None]


def a_paused_split_is_never_resumed(patch: pytest.MonkeyPatch) -> None:
    """Once paused, its share is left out for ever."""
    align, paused = decide.align, set()

    def sticky(alignment, state, info):
        after, aligned = yield from align(alignment, state, info)
        paused.update((id(alignment), split) for split in aligned.paused)
        shares = {split: rows for split, rows in aligned.shares.items() if (id(alignment), split) not in paused}
        return after, replace(aligned, shares=shares)

    patch.setattr(decide, "align", sticky)


def the_idle_clock_runs_while_records_wait(patch: pytest.MonkeyPatch) -> None:
    """Backlog does not restart the timer, and caught up is not asked for."""
    observed = planned_splits.observed
    patch.setattr(
        planned_splits,
        "observed",
        lambda before, *, planned, log_end, now, is_known: observed(before, planned=log_end, log_end=log_end, now=now),
    )
    patch.setattr(
        planned_splits,
        "status_of",
        lambda _split, _log_end, *, is_idle: SplitStatus.IDLE if is_idle else SplitStatus.ACTIVE,
    )


def the_newest_report_counts_for_every_batch(patch: pytest.MonkeyPatch) -> None:
    """An old report is taken for the one of the batch that is reconciled."""
    take = SourceRegistry._take

    def any_batch(self, message):
        answer = take(self, message)
        run = self._runs[message["source"]]
        kept = next(iter(run.reports.values()), {})
        return {**answer, "reports": [{**r.to_json(), "sequence": message["sequence"]} for r in kept.values()]}

    patch.setattr(SourceRegistry, "_take", any_batch)


def the_record_that_stops_a_task_counts_as_read(patch: pytest.MonkeyPatch) -> None:
    """Off by one: the next batch begins behind it."""
    report = split_run.SplitRun.report

    def behind(self, *end, **more):
        made = report(self, *end, **more)
        return replace(made, position=made.position + 1) if made.next_ms is not None else made

    patch.setattr(split_run.SplitRun, "report", behind)


def the_planned_end_is_taken_for_the_position(patch: pytest.MonkeyPatch) -> None:
    """What a task left unread is lost."""
    reconcile = planner_module.reconcile

    def at_end(batch, reports, **how):
        after = yield from reconcile(batch, reports, **how)
        ends = [
            replace(s, start=b.end, end=b.end, known_at=b.end) for s, b in zip(after.splits, batch.splits, strict=True)
        ]
        return replace(after, splits=tuple(ends))

    patch.setattr(planner_module, "reconcile", at_end)


def what_went_out_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """The combined watermark is lost: row watermarks go back when a split returns or appears."""
    reconcile = planner_module.reconcile

    def forgetful(batch, reports, **how):
        return replace((yield from reconcile(batch, reports, **how)), emitted_watermark_ms=None)

    patch.setattr(planner_module, "reconcile", forgetful)


def _at_once(answer):
    yield from ()
    return answer


def a_minimum_of_another_query_is_relied_on(patch: pytest.MonkeyPatch) -> None:
    """Two queries share no batch."""
    patch.setattr(
        peers,
        "_guaranteed_minimum",
        lambda own, peer: max(
            peer.status.planned_minimum_ms, peer.status.guaranteed_minimum_ms or peer.status.planned_minimum_ms
        ),
    )


def a_lost_report_means_that_nothing_was_read(patch: pytest.MonkeyPatch) -> None:
    """The range without a report is not looked at again: its watermark stays what it was."""
    patch.setattr(
        reconcile_module,
        "_scan_again",
        lambda batch, split, end: _at_once(
            reconcile_module.ScanEnd(position=end, watermark_us=reconcile_module.to_us(split.watermark_ms))
        ),
    )
    patch.setattr(TaskReader, "_watermark_before", lambda self, plan, task, strategy: task.watermark_us)


def a_row_is_late_by_the_watermark_after_it(patch: pytest.MonkeyPatch) -> None:
    """The row watermark is the watermark before the row; this takes the one after it."""
    running = split_run.running_watermarks

    def after(candidates, valid, initial):
        before, last = running(candidates, valid, initial)
        return np.append(before[1:], last), last

    patch.setattr(split_run, "running_watermarks", after)


def the_dead_bound_their_group(patch: pytest.MonkeyPatch) -> None:
    """A lease never ends, and a query that ended leaves its sources behind."""
    patch.setattr(SourceRegistry, "terminated", lambda self, query_id, run_id: None)
    patch.setattr(
        SourceRegistry,
        "_others",
        lambda self, source, own: {n: r for n, r in self._runs.items() if n != source and r.status},
    )


def the_next_record_is_guessed(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks at the records where a budget cuts a range."""

    def guess(self, pending, reserved, ceiling_ms):
        yield from ()
        return self, [w._replace(at_end_ms=w.read_whole_ms) for w in pending]

    patch.setattr(CandidateCache, "look_at_planned_ends", guess)


def peers_are_read_once(patch: pytest.MonkeyPatch) -> None:
    """The group's bound is never asked for again."""
    published = BatchPlanner._published

    def deaf(self, status):
        answer = published(self, status)
        return replace(answer, peers=self._state.peers or answer.peers)

    patch.setattr(BatchPlanner, "_published", deaf)


def every_rule_reads_the_clock_for_itself(patch: pytest.MonkeyPatch) -> None:
    """A planning has no moment of its own."""
    patch.setattr(PlanningTime, "read", _RunningTime)


class _RunningTime:
    def __init__(self, clock) -> None:
        self._clock = clock

    @property
    def wall_ms(self):
        return self._clock.now_us() // 1_000

    @property
    def monotonic_ns(self):
        return self._clock.monotonic_ns()


def a_gate_opens_without_an_answer(patch: pytest.MonkeyPatch) -> None:
    """A coordinator that cannot be reached counts as one that has nothing against it."""
    may_open = gate_module._may_open
    patch.setattr(gate_module, "_may_open", lambda answer, until: answer is None or may_open(answer, until))


def every_process_opens_the_gate_anew(patch: pytest.MonkeyPatch) -> None:
    """What the offset says is not looked at."""
    decide_load_gate = decide.decide_load_gate

    def anew(probe, build, before, start, info, **how):
        gate = replace(start.gate, opened=None) if how["is_first"] and start.gate is not None else start.gate
        return decide_load_gate(probe, build, before, replace(start, gate=gate), info, **how)

    patch.setattr(decide, "decide_load_gate", anew)


def a_build_is_loaded_when_its_last_batch_is_planned(patch: pytest.MonkeyPatch) -> None:
    """A batch too early: what is being planned is in no state yet."""
    decide_load_gate = decide.decide_load_gate

    def early(probe, build, before, start, info, **how):
        ends = {split: each.end_exclusive for split, each in info.bounds.items()}
        planned = tuple(replace(s, end=max(s.end, ends.get(s.split, 0))) for s in info.splits)
        return decide_load_gate(probe, build, before, start, replace(info, splits=planned), **how)

    patch.setattr(decide, "decide_load_gate", early)


def builds_of_every_query_count(patch: pytest.MonkeyPatch) -> None:
    """The name is all that is looked at."""
    answer = LoadGateRegistry.answer

    def anybody(self, own, others, is_alive):
        runs = [
            SimpleNamespace(query_run=own.query_run, gate_request=other.gate_request, run=other) for other in others
        ]
        return answer(self, own, runs, lambda other: is_alive(other.run))

    patch.setattr(LoadGateRegistry, "answer", anybody)


def one_build_of_a_name_is_enough(patch: pytest.MonkeyPatch) -> None:
    """The others may not have been heard of yet."""
    patch.setattr(gate_module, "_are_loaded", lambda builds, expected, name: any(b.reported.is_loaded for b in builds))


def a_probe_behind_its_gate_has_nothing_new(patch: pytest.MonkeyPatch) -> None:
    """A run for what is available now ends before the probe was read."""
    patch.setattr(gate_module, "_is_unreachable", lambda answer: True)


PLANTS: list[Plant] = [
    a_paused_split_is_never_resumed,
    the_idle_clock_runs_while_records_wait,
    the_newest_report_counts_for_every_batch,
    the_record_that_stops_a_task_counts_as_read,
    the_planned_end_is_taken_for_the_position,
    what_went_out_is_forgotten,
    a_minimum_of_another_query_is_relied_on,
    a_lost_report_means_that_nothing_was_read,
    a_row_is_late_by_the_watermark_after_it,
    the_dead_bound_their_group,
    the_next_record_is_guessed,
    peers_are_read_once,
    every_rule_reads_the_clock_for_itself,
]
GATE_PLANTS: list[Plant] = [
    a_gate_opens_without_an_answer,
    every_process_opens_the_gate_anew,
    a_build_is_loaded_when_its_last_batch_is_planned,
    builds_of_every_query_count,
    one_build_of_a_name_is_enough,
    a_probe_behind_its_gate_has_nothing_new,
]


@pytest.fixture(autouse=True)
def silenced_logs() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_the_simulation_finds(plant, monkeypatch):
    plant(monkeypatch)
    assert found_law(has_gates=False)


@pytest.mark.slow
@pytest.mark.parametrize("plant", GATE_PLANTS, ids=lambda plant: plant.__name__)
def test_the_simulation_of_sources_that_wait_finds(plant, monkeypatch):
    plant(monkeypatch)
    assert found_law(has_gates=True) == 8


def found_law(*, has_gates):
    """The law that the first schedule breaks in which the bug shows."""
    for seed in range(MAX_SCHEDULES):
        try:
            Schedule(seed, has_gates=has_gates).run()
        except LawBroken as broken:
            print(f"found by schedule {seed + 1}: {broken}")
            return broken.law
    raise AssertionError(f"not found in {MAX_SCHEDULES} schedules")
