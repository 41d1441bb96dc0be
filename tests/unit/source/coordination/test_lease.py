"""A source lives in the background, and may be watched."""

from __future__ import annotations

import threading

import pytest

from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.lease import LeaseRenewal
from datasources.source.coordination.registry import LEASE_S, SourceRegistry
from datasources.source.load_gate.gate_protocol import LoadGateRequest, LoadReport
from datasources.source.watermarks.source_status import SourceStatus
from tests.support.source.loopback import DEADLINE_S
from watermark import ManualClock


class Line:
    """A line to a registry; says when something was asked."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.registry = SourceRegistry(self.clock)
        self.asked: list[str] = []
        self.renewed = threading.Event()
        self.renewed_gate = threading.Event()
        self.published = threading.Event()

    def ask(self, message):
        self.asked.append(message["ask"])
        answer = self.registry.answer(message)
        events = {"renew": self.renewed, "table": self.published, "hold": self.renewed_gate}
        events.get(message["ask"], threading.Event()).set()
        return answer


@pytest.fixture
def line():
    return Line()


@pytest.fixture
def open_link(line):
    opened = []

    def open_lease(*, interval_ms=1, is_watched=False):
        opened.append(LeaseRenewal(line, source="a", name="topic a", interval_ms=interval_ms, is_watched=is_watched))
        return opened[-1]

    yield open_lease
    for one in opened:
        one.close()


STATUS = SourceStatus(group="g", planned_minimum_ms=7)


def test_a_source_with_a_status_is_renewed_between_plannings(line, open_link):
    open_link().update(STATUS, dict)
    assert line.renewed.wait(DEADLINE_S)
    (peer,) = CoordinatorLink(line, "b").exchange(SourceStatus(group="g"))
    assert (peer.source, peer.status) == ("a", STATUS)


def test_renewing_outlasts_any_lease(line, open_link):
    open_link().update(STATUS, dict)
    for _ in range(3):
        line.clock.advance_us(LEASE_S * 1_000_000)
        for _ in range(2):  # one renewal may have begun before the clock was turned
            line.renewed.clear()
            assert line.renewed.wait(DEADLINE_S)
        assert len(CoordinatorLink(line, "b").exchange(SourceStatus(group="g"))) == 1


def test_a_load_gate_status_is_renewed_without_peers_too(line, open_link):
    connections = LoadGateRequest(until=("rates",))
    open_link().update(None, dict, connections)
    assert line.renewed_gate.wait(DEADLINE_S)
    assert "renew" not in line.asked
    build = LoadReport(name="rates", is_loaded=False, is_working=True, since_ms=0)
    assert CoordinatorLink(line, "b").exchange_gate(LoadGateRequest(load=build)).is_awaited


def test_a_source_without_a_status_is_not_renewed(line, open_link):
    open_link()
    assert not line.renewed.wait(0.05)
    assert line.asked == []


def test_the_newest_table_is_delivered_where_somebody_watches(line, open_link):
    open_link(is_watched=True).update(STATUS, lambda: {"batch": 3})
    assert line.published.wait(DEADLINE_S)
    assert line.registry.tables() == [{"source": "a", "name": "topic a", "query": None, "group": "g", "batch": 3}]
    assert "renew" in line.asked


def test_no_table_is_made_where_nobody_watches(line, open_link):
    def refuse():
        raise AssertionError("nobody watches")

    open_link().update(STATUS, refuse)
    for _ in range(3):
        line.renewed.clear()
        assert line.renewed.wait(DEADLINE_S)
    assert line.asked.count("table") == 0


@pytest.mark.parametrize(
    ("interval_ms", "is_watched", "expected_s"),
    [
        (1_000, False, 1.0),
        (250, False, 0.25),
        (250, True, 0.25),
        (1_000, True, 0.5),
        (3_600_000, False, 20.0),
        (3_600_000, True, 0.5),
    ],
)
def test_it_speaks_often_enough_for_the_lease_and_for_those_who_watch(open_link, interval_ms, is_watched, expected_s):
    assert open_link(interval_ms=interval_ms, is_watched=is_watched)._interval_s == expected_s
    assert expected_s * 2 < LEASE_S


def test_after_the_end_it_is_silent(line, open_link):
    one = open_link()
    one.update(STATUS, dict)
    assert line.renewed.wait(DEADLINE_S)
    one.close()
    for thread in threading.enumerate():
        if thread.name == "tidemark-presence":
            thread.join(DEADLINE_S)
    asked = len(line.asked)
    assert not threading.Event().wait(0.05)
    assert len(line.asked) == asked
