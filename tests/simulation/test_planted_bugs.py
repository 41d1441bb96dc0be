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

from datasources.source.alignment.aligner import SplitAligner
from datasources.source.alignment.candidates import CandidateCache
from datasources.source.coordination import group as peers
from datasources.source.coordination.gate_registry import LoadGateRegistry
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.load_gate import gate as gate_module
from datasources.source.load_gate.gate import LoadGate
from datasources.source.planning import planner
from datasources.source.planning import reconcile as reconcile_module
from datasources.source.planning.group_exchange import GroupExchange
from datasources.source.planning.planning_clock import PlanningClock
from datasources.source.planning.reconcile import Reconciler
from datasources.source.reading import split_run
from datasources.source.reading.task import TaskReader
from datasources.source.watermarks.idleness import SplitIdleness
from tests.simulation.laws import LawBroken
from tests.simulation.schedule import Schedule

MAX_SCHEDULES = 1_500
"""Within how many schedules a bug must be found."""

Plant = Callable[[pytest.MonkeyPatch], None]


def a_paused_split_is_never_resumed(patch: pytest.MonkeyPatch) -> None:
    """Once paused, its share is left out for ever."""
    plan, paused = SplitAligner.plan, set()

    def sticky(self, *args, **kwargs):
        aligned = plan(self, *args, **kwargs)
        paused.update((id(self), split) for split in aligned.paused)
        shares = {split: rows for split, rows in aligned.shares.items() if (id(self), split) not in paused}
        return replace(aligned, shares=shares)

    patch.setattr(SplitAligner, "plan", sticky)


def the_idle_clock_runs_while_records_wait(patch: pytest.MonkeyPatch) -> None:
    """Backlog does not restart the timer, and caught up is not asked for."""
    observe = SplitIdleness.observe
    patch.setattr(
        SplitIdleness,
        "observe",
        lambda self, split, *, planned, log_end, is_known: observe(self, split, planned=log_end, log_end=log_end),
    )
    patch.setattr(
        planner,
        "status_of",
        lambda _split, _log_end, *, is_idle: planner.SplitStatus.IDLE if is_idle else planner.SplitStatus.ACTIVE,
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

    def behind(self, *end):
        made = report(self, *end)
        return replace(made, position=made.position + 1) if made.next_ms is not None else made

    patch.setattr(split_run.SplitRun, "report", behind)


def the_planned_end_is_taken_for_the_position(patch: pytest.MonkeyPatch) -> None:
    """What a task left unread is lost."""
    reconcile = Reconciler._reconcile_split

    def at_end(self, batch, split, *found):
        return replace(reconcile(self, batch, split, *found), start=split.end, end=split.end, known_at=split.end)

    patch.setattr(Reconciler, "_reconcile_split", at_end)


def what_went_out_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """The combined watermark is lost: row watermarks go back when a split returns or appears."""
    reconcile = Reconciler.reconcile
    patch.setattr(
        Reconciler, "reconcile", lambda self, batch: replace(reconcile(self, batch), emitted_watermark_ms=None)
    )


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
        reconcile_module.Reconciler,
        "_scan_again",
        lambda self, batch, split, end: reconcile_module.ScanEnd(
            position=end, watermark_us=reconcile_module.to_us(split.watermark_ms)
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

    def guess(self, waiting, minimums, ceiling_ms):
        for w in waiting:
            w.at_end_ms = w.read_whole_ms

    patch.setattr(CandidateCache, "look_at_planned_ends", guess)


def peers_are_read_once(patch: pytest.MonkeyPatch) -> None:
    """The group's bound is never asked for again."""
    fetch_peers = GroupExchange.fetch_peers
    patch.setattr(GroupExchange, "fetch_peers", lambda self: fetch_peers(self) if self._round < 2 else None)
    publish = GroupExchange.publish

    def deaf(self, *args, **kwargs):
        known = self.peers
        publish(self, *args, **kwargs)
        self.peers = known or self.peers

    patch.setattr(GroupExchange, "publish", deaf)


def every_rule_reads_the_clock_for_itself(patch: pytest.MonkeyPatch) -> None:
    """A planning has no moment of its own."""
    patch.setattr(PlanningClock, "now_us", lambda self: self._clock.now_us())
    patch.setattr(PlanningClock, "monotonic_ns", lambda self: self._clock.monotonic_ns())


def a_gate_opens_without_an_answer(patch: pytest.MonkeyPatch) -> None:
    """A coordinator that cannot be reached counts as one that has nothing against it."""
    may_open = LoadGate._may_open
    patch.setattr(LoadGate, "_may_open", lambda self: self._answer is None or may_open(self))


def every_process_opens_the_gate_anew(patch: pytest.MonkeyPatch) -> None:
    """What the offset says is not looked at."""
    decide = LoadGate.decide

    def anew(self, start, info, *, is_first):
        gate = replace(start.gate, opened=None) if is_first and start.gate is not None else start.gate
        decide(self, replace(start, gate=gate), info, is_first=is_first)

    patch.setattr(LoadGate, "decide", anew)


def a_build_is_loaded_when_its_last_batch_is_planned(patch: pytest.MonkeyPatch) -> None:
    """A batch too early: what is being planned is in no state yet."""
    decide = LoadGate.decide

    def early(self, start, info, *, is_first):
        ends = {split: each.end_exclusive for split, each in info.bounds.items()}
        planned = tuple(replace(s, end=max(s.end, ends.get(s.split, 0))) for s in info.splits)
        decide(self, start, replace(info, splits=planned), is_first=is_first)

    patch.setattr(LoadGate, "decide", early)


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
    patch.setattr(LoadGate, "_is_unreachable", property(lambda self: True))


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
