"""The sequence of a planning, as values: what it decides, what it asks, and that it changes nothing it was given."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import pytest

from datasources.source.alignment.lookahead import AskCandidates
from datasources.source.api.abilities import Alignment, DelaySettings, WatermarkParams
from datasources.source.api.dialogue import answered
from datasources.source.api.split import SplitBounds, SplitId, SplitProgress
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.load_gate.gate_protocol import Build, LoadGateAnswer, LoadGateRequest, LoadReport
from datasources.source.planning.available_now import AvailableNowLimit
from datasources.source.planning.connector_state_tracker import ConnectorInfo
from datasources.source.planning.decide import AskHasState, AskMayLose, PublishedStatus, decide
from datasources.source.planning.planner_settings import PlannerSettings
from datasources.source.planning.planner_state import Batch, Heartbeat, Nothing, Observation, initial_state
from datasources.source.planning.reconcile import ReconciledBatch
from datasources.source.watermarks.planning_time import PlanningTime
from datasources.source.watermarks.source_status import SourceStatus

A, B = SplitId("a-0"), SplitId("a-1")
NOW = PlanningTime(wall_ms=1_700_000_000_000, monotonic_ns=90_000_000_000)
LOADED = LoadReport(name="rates", is_loaded=True, is_working=False, since_ms=0)
PROBE = LoadGateSettings(until=("rates",))
LOADS = LoadGateAnswer(is_query_known=True, builds=(Build(reported=LOADED, is_alive=True),), expected={"rates": 1})


def split(name=A, end=3, watermark_ms=30, known_at=3, **parts):
    return SplitProgress(split=name, start=end, end=end, watermark_ms=watermark_ms, known_at=known_at, **parts)


def observation(*splits, ends=None, emitted_ms=30, read=0, budget_rows=None, limit=None, peers=()):
    """A planning after a batch that read `read` rows of each split; `ends`: where the logs end, if anything is unread."""
    splits = splits or (split(),)
    ends = ends or {}
    start = Offset(sequence=4, run=1, splits=tuple(replace(s, start=s.end - read) for s in splits), identity=Identity())
    return Observation(
        now=NOW,
        round=2,
        start=start,
        budget_rows=budget_rows,
        bounds={s.split: SplitBounds(start_inclusive=0, end_exclusive=ends.get(s.split, s.end)) for s in splits},
        limit=limit or AvailableNowLimit(),
        reconciled=ReconciledBatch(sequence=4, splits=splits, emitted_watermark_ms=emitted_ms),
        peers=peers,
        connector=ConnectorInfo(),
    )


def decided(seen, *, is_first=False, has_state=True, loads=None, is_known=True, waited_ms=0, **settings):
    """Return the state and the decision, and what was asked on the way."""
    options = {"identity": Identity(), "has_watermark": True, **settings}
    params = {each.name: options.pop(each.name) for each in fields(WatermarkParams) if each.name in options}
    settings = PlannerSettings(**options, watermark=WatermarkParams(**params))
    state = initial_state(settings, NOW)
    state = replace(state, run=0 if is_first else 2, heartbeat_ns=NOW.monotonic_ns - waited_ms * 1_000_000)
    asked, given = [], copy.deepcopy((state, seen))
    answers = {
        SourceStatus: PublishedStatus((), is_known),
        AskHasState: has_state,
        LoadGateRequest: loads,
        AskMayLose: [],
        AskCandidates: {},
    }

    def answer(question):
        asked.append(type(question))
        return answers[type(question)]

    found = answered(decide(settings, state, seen), answer)
    assert (state, seen) == given  # nothing that was given has changed
    return (*found, asked)


@pytest.mark.parametrize(
    ("seen", "options", "kind"),
    [
        pytest.param(observation(ends={A: 9}), {}, Batch, id="unread rows are read"),
        pytest.param(observation(ends={A: 9}), {"has_watermark": False}, Batch, id="also of a plain source"),
        pytest.param(observation(), {}, Nothing, id="nothing is unread and nothing advanced"),
        pytest.param(observation(), {"is_first": True}, Heartbeat, id="the first planning of a process"),
        pytest.param(observation(), {"is_first": True, "has_watermark": False}, Nothing, id="a plain source has none"),
        pytest.param(
            observation(ends={A: 9}),
            {"is_first": True, "alignment": Alignment(group="g", max_drift_ms=10)},
            Heartbeat,
            id="the first batch of an aligned source reads nothing",
        ),
        pytest.param(observation(emitted_ms=20, read=1), {}, Heartbeat, id="data moved the watermark and stopped"),
        pytest.param(observation(emitted_ms=20), {}, Nothing, id="time moved it: not before the interval"),
        pytest.param(observation(emitted_ms=20), {"waited_ms": 1_000}, Heartbeat, id="time moved it: at the interval"),
        pytest.param(
            observation(emitted_ms=20, read=1), {"has_state": False}, Nothing, id="nothing keeps state: it waits 30 s"
        ),
        pytest.param(
            observation(emitted_ms=20, limit=AvailableNowLimit(is_wanted=True)),
            {"has_state": False},
            Heartbeat,
            id="AvailableNow does not wait",
        ),
        pytest.param(observation(split(known_at=1), read=1), {}, Nothing, id="a lost report: not before the interval"),
        pytest.param(
            observation(split(known_at=1), read=1), {"waited_ms": 1_000}, Heartbeat, id="a lost report: at the interval"
        ),
        pytest.param(
            observation(ends={A: 4}),
            {"gate": PROBE},
            Nothing,
            id="a closed gate",
        ),
        pytest.param(
            observation(ends={A: 4}),
            {"gate": PROBE, "loads": LOADS},
            Batch,
            id="a gate that opens",
        ),
        pytest.param(observation(), {"load": LoadSettings(name="rates")}, Heartbeat, id="a build is loaded now"),
    ],
)
def test_what_a_planning_decides(seen, options, kind):
    _, decision, _ = decided(seen, **options)
    assert type(decision) is kind


@pytest.mark.parametrize(
    ("seen", "options", "asked"),
    [
        pytest.param(observation(ends={A: 9}), {}, [SourceStatus], id="rows: its status is published"),
        pytest.param(observation(emitted_ms=20), {}, [SourceStatus, AskHasState], id="a heartbeat depends on state"),
        pytest.param(
            observation(), {"gate": PROBE}, [LoadGateRequest, SourceStatus], id="a probe asks before it plans"
        ),
        pytest.param(
            observation(), {"load": LoadSettings(name="x")}, [LoadGateRequest, SourceStatus], id="a build too"
        ),
    ],
)
def test_what_a_planning_asks_and_when(seen, options, asked):
    assert decided(seen, **options)[-1] == asked


@pytest.mark.parametrize(
    ("seen", "options", "is_skipped"),
    [
        pytest.param(observation(), {}, True, id="nothing is unread, nothing is awaited"),
        pytest.param(observation(emitted_ms=20), {}, False, id="a watermark waits for the interval"),
        pytest.param(observation(split(known_at=1)), {}, False, id="a report is lost"),
        pytest.param(observation(), {"gate": PROBE}, False, id="a closed gate asks again"),
        pytest.param(
            observation(), {"load": LoadSettings(name="x"), "loads": LOADS}, False, id="a build is loaded now"
        ),
        pytest.param(
            observation(ends={A: 4}),
            {"batch_delay": DelaySettings(min_rows=5, max_delay_ms=9)},
            None,
            id="rows are read",
        ),
    ],
)
def test_when_the_next_plannings_are_skipped(seen, options, is_skipped):
    state, decision, _ = decided(seen, **options)
    if is_skipped is None:
        assert (type(decision), state.delayed_since_ns) == (Batch, NOW.monotonic_ns)
    else:
        assert (state.skip is not None) is is_skipped


def test_an_idle_source_that_nobody_knows_waits_to_be_registered():
    seen = observation(split(moved_ms=NOW.wall_ms - 5_000))
    for is_known, is_skipped in ((True, True), (False, False)):
        state, decision, _ = decided(seen, is_first=True, is_known=is_known, idle_timeout_ms=1_000)
        assert (type(decision), state.status.is_idle) == (Heartbeat, True)
        settings = PlannerSettings(
            identity=Identity(), has_watermark=True, watermark=WatermarkParams(idle_timeout_ms=1_000)
        )
        answers = {SourceStatus: PublishedStatus((), is_known), AskHasState: True}
        after, _ = answered(decide(settings, state, seen), lambda question, known=answers: known[type(question)])
        assert (after.skip is not None) is is_skipped


def test_a_batch_lies_in_its_offset_and_is_cut_by_the_budget():
    seen = observation(split(A), split(B, watermark_ms=10), ends={A: 9, B: 5}, budget_rows=4, emitted_ms=5)
    state, decision, _ = decided(seen, max_ahead_ms=1_000)
    end = decision.offset
    assert [(s.split, s.start, s.end) for s in end.splits] == [(A, 3, 6), (B, 3, 4)]
    assert (end.sequence, end.run, end.combined_ms, end.emitted_watermark_ms) == (5, 2, 10, 5)
    assert end.ceiling_ms == NOW.wall_ms + 1_000
    assert (state.status.round, state.status.watermark_ms) == (2, 10)


def test_where_nothing_is_planned_the_last_batch_is_shown_as_known():
    seen = observation(split(moved_ms=NOW.wall_ms - 5_000), read=1)
    state, decision, _ = decided(seen)
    assert (type(decision), decision.offset.sequence) == (Nothing, 4)
    assert decision.offset.splits[0].start == 3
    assert state.run == 2
