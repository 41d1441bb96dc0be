"""What sources may say of holding, what offsets may, and what is refused."""

from __future__ import annotations

import pytest

from datasources.errors import CoordinatorError, OffsetError
from datasources.source.api.split import ENDLESS, SplitBounds
from datasources.source.checkpoint.load_gate_state import GateState, LoadState
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.registry import LEASE_S, SourceRegistry
from datasources.source.load_gate.gate_protocol import LoadGateRequest, LoadReport
from watermark import ManualClock

REPORT = LoadReport(name="rates", is_loaded=False, is_working=True, since_ms=5, unread=7, snapshot={"chunks": 3})
WAITS = LoadGateRequest(until=("rates",))


class Line:
    """A line to a registry with a clock that is turned by hand."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.registry = SourceRegistry(self.clock)

    def ask(self, message):
        return self.registry.answer(message)

    def report_store(self, source, run=None):
        if run is not None:
            self.ask({"ask": "report", "source": source, "query": "q", "run": run, "batch": 0, "reports": []})
        return CoordinatorLink(self, source, self.clock)


@pytest.fixture
def line():
    return Line()


def loaded(name="rates"):
    return LoadGateRequest(
        load=LoadReport(name=name, is_loaded=True, is_working=False, since_ms=5, unread=0, snapshot=None)
    )


def test_a_probe_hears_of_the_builds_of_its_run_that_it_asked_for(line):
    line.report_store("b", run="1").exchange_gate(LoadGateRequest(load=REPORT))
    line.report_store("other name", run="1").exchange_gate(loaded("customers"))
    line.report_store("other run", run="2").exchange_gate(loaded())
    line.report_store("unknown run").exchange_gate(loaded())
    answer = line.report_store("a", run="1").exchange_gate(WAITS)
    assert answer.is_query_known
    assert [(build.reported, build.is_alive) for build in answer.builds] == [(REPORT, True)]


def test_a_probe_of_which_nobody_knows_the_run_hears_of_nobody(line):
    line.report_store("b", run="1").exchange_gate(loaded())
    answer = line.report_store("a").exchange_gate(WAITS)
    assert not answer.is_query_known
    assert answer.builds == ()


def test_without_a_listener_a_gate_opens_at_the_second_request_and_not_beside_a_build_of_an_unknown_run(line):
    line.registry.expect_no_listener()
    line.report_store("b", run="1").exchange_gate(loaded())
    line.report_store("b of another run", run="2").exchange_gate(LoadGateRequest(load=REPORT))
    probe = line.report_store("a", run="1")
    assert probe.exchange_gate(WAITS).expected is None
    assert probe.exchange_gate(WAITS).expected == {}
    line.report_store("b of an unknown run").exchange_gate(loaded())
    assert probe.exchange_gate(WAITS).expected is None
    line.report_store("b of an unknown run", run="1").exchange_gate(LoadGateRequest(load=REPORT))
    answer = probe.exchange_gate(WAITS)
    assert (answer.expected, [build.reported.is_loaded for build in answer.builds]) == ({}, [True, False])


def test_without_a_listener_a_renewal_is_no_request(line):
    line.registry.expect_no_listener()
    probe = line.report_store("a", run="1")
    probe.exchange_gate(WAITS)
    probe.renew_gate(WAITS)
    probe.renew_gate(WAITS)
    assert probe.exchange_gate(WAITS).expected == {}
    restarted = line.report_store("a of the next process", run="1")
    restarted.renew_gate(WAITS)
    assert restarted.exchange_gate(WAITS).expected is None


@pytest.mark.parametrize(
    ("probe_run", "build_run", "is_awaited"),
    [("1", "1", True), (None, "1", True), ("1", None, True), ("2", "1", False)],
)
def test_a_build_hears_whether_somebody_may_wait_for_it(line, probe_run, build_run, is_awaited):
    line.report_store("a", run=probe_run).exchange_gate(WAITS)
    assert line.report_store("b", run=build_run).exchange_gate(loaded()).is_awaited is is_awaited
    assert not line.report_store("c", run=build_run).exchange_gate(loaded("customers")).is_awaited


def test_a_lease_ends(line):
    line.report_store("a", run="1").exchange_gate(WAITS)
    build = line.report_store("b", run="1")
    build.exchange_gate(loaded())
    line.clock.advance_us(LEASE_S * 1_000_000 + 1)
    assert not build.exchange_gate(loaded()).is_awaited
    line.clock.advance_us(LEASE_S * 1_000_000 + 1)
    assert [each.is_alive for each in line.report_store("a").exchange_gate(WAITS).builds] == [False]


def test_a_renewal_does_not_replace_a_newer_status_of_the_planner(line):
    build = line.report_store("b", run="1")
    build.exchange_gate(loaded())
    build.renew_gate(LoadGateRequest(load=REPORT))
    (heard,) = line.report_store("a", run="1").exchange_gate(WAITS).builds
    assert heard.reported.is_loaded


def test_a_renewal_restores_the_state_of_a_restarted_coordinator(line):
    build = line.report_store("b", run="1")
    line.registry = SourceRegistry(line.clock)
    line.report_store("b", run="1")
    build.renew_gate(loaded())
    (heard,) = line.report_store("a", run="1").exchange_gate(WAITS).builds
    assert heard.reported.is_loaded


def test_the_plan_is_reported_while_the_run_is_active(line):
    line.registry.expect_builds("1", {"rates": 2})
    report_store = line.report_store("a", run="1")
    assert report_store.exchange_gate(WAITS).expected == {"rates": 2}
    line.registry.terminated("q", "1")
    assert line.report_store("c", run="1").exchange_gate(WAITS).expected is None


def test_the_last_words_of_a_source_that_ended_change_nothing(line):
    build = line.report_store("b", run="1")
    build.exchange_gate(loaded())
    line.registry.terminated("q", "1")
    assert not build.exchange_gate(loaded()).is_query_known
    assert line.report_store("a", run="1").exchange_gate(WAITS).builds == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"until": "rates"},
        {"until": [1]},
        {"until": ["a"] * 101},
        {"load": []},
        {"load": {}},
        {"load": {**REPORT.to_json(), "name": 3}},
        {"load": {**REPORT.to_json(), "is_loaded": 1}},
        {"load": {**REPORT.to_json(), "is_working": None}},
        {"load": {**REPORT.to_json(), "is_stuck": "no"}},
        {"load": {**REPORT.to_json(), "since": True}},
        {"load": {**REPORT.to_json(), "unread": "7"}},
        {"load": {**REPORT.to_json(), "snapshot": [1]}},
    ],
)
def test_a_malformed_request_is_refused_and_changes_nothing(line, wrong):
    report_store = line.report_store("b", run="1")
    report_store.exchange_gate(loaded())
    with pytest.raises(CoordinatorError):
        line.ask({"ask": "hold", "source": "b", "until": [], "load": None} | wrong)
    (heard,) = line.report_store("a", run="1").exchange_gate(WAITS).builds
    assert heard.reported.is_loaded


# -- offsets --


def offset(**parts):
    return Offset(sequence=3, run=1, splits=(), identity=Identity(), **parts)


@pytest.mark.parametrize(
    "parts",
    [
        {"gate": GateState(since_ms=5)},
        {"gate": GateState(since_ms=5, opened=2)},
        {"load": LoadState(since_ms=5, ends={"a-0": 3, "a-1": 9})},
        {"load": LoadState(since_ms=5, ends={}, loaded=4)},
    ],
)
def test_an_offset_keeps_it(parts):
    assert Offset.from_json(offset(**parts).to_json()) == offset(**parts)


def test_an_offset_of_a_source_without_a_gate_has_no_gate_state():
    assert not {"hold", "load"} & offset().to_json().keys()


@pytest.mark.parametrize(
    "wrong",
    [
        {"hold": {}},
        {"hold": 5},
        {"hold": {"since": 5, "released": "2"}},
        {"load": {"since": 5, "loaded": None, "splits": [["a", [[0, 1]]]], "ends": [0, 1]}},
        {"load": {"since": None, "loaded": None, "splits": [], "ends": [0]}},
    ],
)
def test_a_damaged_offset_is_refused(wrong):
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json(offset().to_json() | wrong)


def test_a_thousand_splits_fit_into_an_offset():
    bounds = {f"rates-{n}": SplitBounds(start_inclusive=0, end_exclusive=10**12 + n * 977) for n in range(1_000)}
    load = LoadState.begin(bounds, now_ms=1)
    assert len(str(load.to_json())) < 10_000
    assert LoadState.from_json(load.to_json()) == load


def test_a_split_without_an_end_and_an_empty_one_are_not_waited_for():
    bounds = {
        "lane-0": SplitBounds(start_inclusive=0, end_exclusive=ENDLESS),
        "empty-0": SplitBounds(start_inclusive=0, end_exclusive=0),
        "a-0": SplitBounds(start_inclusive=0, end_exclusive=4),
    }
    assert LoadState.begin(bounds, now_ms=1).ends == {"a-0": 4}
