"""The load gate of one planning, as a table: when it opens, when a build is loaded, what is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.source.api.dialogue import answered
from datasources.source.api.split import SplitProgress
from datasources.source.checkpoint.load_gate_state import GateState, LoadGateSettings, LoadSettings, LoadState
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.load_gate.build_progress import BuildActivity, LoadInfo
from datasources.source.load_gate.gate import LoadGate, LoadGateStates, decide_load_gate, note_admission
from datasources.source.load_gate.gate_protocol import Build, LoadGateAnswer, LoadReport
from datasources.source.watermarks.planning_time import PlanningTime

S = 1_000_000_000
NOW = PlanningTime(wall_ms=1_000, monotonic_ns=60 * S)
PROBE, BUILD = LoadGateSettings(until=("rates",)), LoadSettings(name="rates")
CLOSED, OPENED = GateState(since_ms=1), GateState(since_ms=1, opened=3)
UNREAD = LoadState(since_ms=1, ends={"a-0": 9})
LOADED = LoadState(since_ms=1, loaded=3, ends={})


def report(**parts):
    return LoadReport(**{"name": "rates", "is_loaded": True, "is_working": False, "since_ms": 1, **parts})


def reply(*reports, is_alive=True, expected=1, **parts):
    builds = tuple(Build(reported=each, is_alive=is_alive) for each in reports)
    expected = None if expected is None else {"rates": expected}
    return LoadGateAnswer(**{"is_query_known": True, "builds": builds, "expected": expected, **parts})


def decided(answer, *, gate=None, load=None, probe=None, build=None, is_first=False, before=None, **info):
    """Return the gate after a planning that stands behind batch 4, and the requests that it sent."""
    split = SplitProgress(split="a-0", start=5, end=info.pop("end", 5), known_at=5)
    start = Offset(sequence=4, run=1, splits=(split,), identity=Identity(), gate=gate, load=load)
    known = {"is_unread": True, "is_snapshot_over": True, "is_available_now": False, "emitted_watermark_ms": None}
    known |= info
    asked = []
    before = before or LoadGate(reported_ns=0, registered_ns=59 * S)
    deciding = decide_load_gate(
        probe, build, before, start, LoadInfo(splits=(split,), bounds={}, **known), now=NOW, is_first=is_first
    )
    return answered(deciding, lambda request: (asked.append(request), answer)[1]), asked


@pytest.mark.parametrize(
    ("answer", "opened"),
    [
        pytest.param(reply(report()), 5, id="its build is loaded"),
        pytest.param(None, None, id="nobody answers"),
        pytest.param(reply(report(), is_query_known=False), None, id="no task has reported the query"),
        pytest.param(reply(), None, id="no build has reported"),
        pytest.param(reply(report(is_loaded=False)), None, id="the build is loading"),
        pytest.param(reply(report(), is_alive=False), None, id="the lease of the build is over"),
        pytest.param(reply(report(), expected=2), None, id="a second build of the plan has not reported"),
        pytest.param(reply(report(), report(is_loaded=False)), None, id="one of two is loading"),
        pytest.param(reply(report(), report(), expected=2), 5, id="both are loaded"),
        pytest.param(reply(report(), expected=None), None, id="the plan is not known yet"),
    ],
)
def test_when_a_gate_opens(answer, opened):
    gate, asked = decided(answer, gate=CLOSED, probe=PROBE)
    assert (gate.parts.gate.opened, gate.is_closed, [each.until for each in asked]) == (
        opened,
        opened is None,
        [("rates",)],
    )
    assert gate.is_due is (opened is not None or (answer is not None and not answer.is_query_known))


@pytest.mark.parametrize(
    ("settings", "load", "info", "loaded"),
    [
        pytest.param(BUILD, UNREAD, {"end": 8}, None, id="a position of the beginning is unread"),
        pytest.param(BUILD, UNREAD, {"end": 9}, 5, id="all that was held at the beginning is read"),
        pytest.param(BUILD, UNREAD, {"end": 9, "is_snapshot_over": False}, None, id="tables are being read"),
        pytest.param(BUILD, LOADED, {"end": 1, "is_snapshot_over": False}, 3, id="once loaded, always loaded"),
        pytest.param(replace(BUILD, time_ms=70), UNREAD, {"end": 9}, None, id="a time: no watermark yet"),
        pytest.param(
            replace(BUILD, time_ms=70), UNREAD, {"emitted_watermark_ms": 69}, None, id="a time: the watermark is before"
        ),
        pytest.param(
            replace(BUILD, time_ms=70), UNREAD, {"emitted_watermark_ms": 70}, 5, id="a time: the watermark is there"
        ),
    ],
)
def test_when_a_build_is_loaded(settings, load, info, loaded):
    gate, asked = decided(reply(), load=load, build=settings, **info)
    assert gate.parts.load.loaded == loaded
    assert [each.load.is_loaded for each in asked] == [loaded is not None]
    assert gate.is_due is (loaded == 5)


@pytest.mark.parametrize(
    ("silent_s", "is_unread", "loaded"), [(30, False, 5), (29, False, None), (30, True, None)], ids=str
)
def test_when_a_build_to_which_nothing_comes_is_loaded(silent_s, is_unread, loaded):
    activity = BuildActivity(bounds={}, inactive_since_ns=(60 - silent_s) * S)
    before = LoadGate(reported_ns=0, registered_ns=0, activity=activity)
    settings = replace(BUILD, idle_timeout_ms=30_000)
    gate, _ = decided(reply(), load=UNREAD, build=settings, before=before, is_unread=is_unread)
    assert gate.parts.load.loaded == loaded


@pytest.mark.parametrize(
    ("known", "reported_s", "asks"),
    [
        pytest.param(True, 1, False, id="the coordinator knows"),
        pytest.param(True, 30, True, id="it is repeated every 30 s"),
        pytest.param(False, 1, True, id="the query is not known"),
    ],
)
def test_when_a_loaded_build_repeats_its_report(known, reported_s, asks):
    before = LoadGate(
        reported_ns=(60 - reported_s) * S,
        registered_ns=60 * S,
        answer=reply(is_query_known=known),
        parts=LoadGateStates(load=LOADED),
    )
    assert bool(decided(reply(), load=LOADED, build=BUILD, before=before)[1]) is asks


@pytest.mark.parametrize(
    ("builds", "is_unread", "extends"),
    [
        pytest.param([report(is_loaded=False)], True, True, id="rows wait and the build may go on"),
        pytest.param([report(is_loaded=False)], False, False, id="nothing waits"),
        pytest.param([report(is_loaded=False, is_stuck=True)], True, False, id="the build is stuck"),
        pytest.param([report(is_loaded=False, is_stuck=True), report(is_loaded=False)], True, True, id="one is stuck"),
    ],
)
def test_when_a_closed_gate_extends_an_available_now_run(builds, is_unread, extends):
    gate, _ = decided(reply(*builds), gate=CLOSED, probe=PROBE, is_available_now=True, is_unread=is_unread)
    assert (gate.extends_run, gate.is_due) == (extends, extends)


def test_a_source_that_is_neither_asks_nothing_and_stays_as_it_is():
    before = LoadGate(reported_ns=0, registered_ns=0)
    assert decided(None, before=before) == (before, [])
    gate, asked = decided(None, gate=OPENED, probe=PROBE)
    assert (gate.is_closed, gate.is_due, asked) == (False, False, [])


@pytest.mark.parametrize(
    ("has_data", "was_stuck", "is_reported"), [(True, True, True), (True, False, False), (False, True, False)], ids=str
)
def test_a_build_that_reads_again_reports_that_it_is_not_stuck(has_data, was_stuck, is_reported):
    before = LoadGate(
        reported_ns=0, registered_ns=0, activity=BuildActivity(is_stopped=was_stuck), parts=LoadGateStates(load=UNREAD)
    )
    gate, _ = decided(reply(), load=UNREAD, build=BUILD, before=before, is_available_now=True)
    asked = []
    after = answered(note_admission(gate, NOW, has_data=has_data), asked.append)
    assert [each.load.is_stuck for each in asked] == [False] * is_reported
    assert after.activity.is_stopped is not has_data
