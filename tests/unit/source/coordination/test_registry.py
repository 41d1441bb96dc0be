"""Where sources meet: who hears of whom, for how long, and what becomes of those that fall silent or end."""

from __future__ import annotations

import pytest

from datasources.errors import CoordinatorError, OptionError
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.registry import LEASE_S, SourceRegistry
from datasources.source.watermarks.source_status import SourceStatus
from watermark import ManualClock

LEASE_US = LEASE_S * 1_000_000


class Application:
    """A registry with a clock that is turned by hand; it can be cut off."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.registry = SourceRegistry(self.clock)
        self.is_cut_off = False

    def ask(self, message):
        return None if self.is_cut_off else self.registry.answer(message)

    def report_store(self, source):
        return CoordinatorLink(self, source, self.clock)

    def belongs(self, source, query, run="run-1"):
        """A task of the source reports, and with it which query it is in."""
        self.ask({"ask": "report", "source": source, "query": query, "run": run, "batch": 0, "reports": []})

    def exchange(self, source, **status):
        """The names of the peers of a source that says something."""
        return {peer.source for peer in self.report_store(source).exchange(SourceStatus(**status))}

    def tables(self):
        return [table["source"] for table in self.registry.tables()]


@pytest.fixture
def app():
    return Application()


# -- who meets whom --


def test_members_of_a_group_meet_whatever_their_query(app):
    assert app.exchange("a", group="g") == set()
    assert app.exchange("b", group="g") == {"a"}
    assert app.exchange("a", group="g") == {"b"}
    assert app.exchange("c", group="h") == set()
    assert app.exchange("a", group="g") == {"b"}


def test_sources_of_one_query_meet_without_a_group(app):
    for source in ("a", "b"):
        app.exchange(source)
        app.belongs(source, "query-1")
    app.exchange("c")
    app.belongs("c", "query-2")
    assert app.exchange("a") == {"b"}
    assert app.exchange("c") == set()


def test_sources_whose_query_is_not_known_yet_are_not_of_one_query(app):
    app.exchange("a")
    assert app.exchange("b") == set()


def test_a_peer_carries_whether_it_is_in_the_same_query(app):
    app.exchange("a", group="g", planned_minimum_ms=1)
    app.exchange("b", group="g", planned_minimum_ms=2)
    app.exchange("c")
    for source, query in (("a", "query-1"), ("b", "query-2"), ("c", "query-1")):
        app.belongs(source, query)
    peers = {p.source: p for p in app.report_store("a").exchange(SourceStatus(group="g"))}
    assert {name: peer.same_query for name, peer in peers.items()} == {"b": False, "c": True}
    assert peers["b"].status == SourceStatus(group="g", planned_minimum_ms=2)


def test_the_newest_status_replaces_older_ones(app):
    app.exchange("a", group="g", planned_minimum_ms=1)
    app.exchange("a", group="g", planned_minimum_ms=9, guaranteed_minimum_ms=20, round=2)
    (peer,) = app.report_store("b").exchange(SourceStatus(group="g"))
    assert peer.status == SourceStatus(group="g", planned_minimum_ms=9, guaranteed_minimum_ms=20, round=2)


def test_a_source_without_a_status_is_no_peer(app):
    app.belongs("a", "query-1")
    app.belongs("b", "query-1")
    app.report_store("a").take(1)
    assert app.exchange("b", group="g") == set()


def test_a_source_is_not_its_own_peer(app):
    app.exchange("a", group="g")
    app.belongs("a", "query-1")
    assert app.exchange("a", group="g") == set()


def test_who_leaves_a_group_bounds_it_no_more(app):
    app.exchange("a", group="g")
    app.exchange("a", group="h")
    assert app.exchange("b", group="g") == set()


def test_a_thousand_sources_meet(app):
    for n in range(999):
        app.report_store(f"s{n}").renew(SourceStatus(group="g", planned_minimum_ms=n))
    peers = app.report_store("last").exchange(SourceStatus(group="g"))
    assert sorted(p.status.planned_minimum_ms for p in peers) == list(range(999))


def test_beyond_a_thousand_the_one_that_was_silent_for_longest_is_forgotten(app):
    for n in range(1_000):
        app.report_store(f"s{n}").renew(SourceStatus(group="g"))
    app.report_store("s0").renew(SourceStatus(group="g"))
    found = app.exchange("last", group="g")
    assert len(found) == 999
    assert "s0" in found
    assert "s1" not in found


# -- types of time --


def test_a_group_compares_one_type_of_time_only(app):
    app.exchange("a", group="g", time_type="instant")
    with pytest.raises(OptionError) as caught:
        app.exchange("b", group="g", time_type="local")
    assert caught.value.message == (
        "alignment group 'g' holds a source whose time attribute is a TIMESTAMP; this one's is a TIMESTAMP_NTZ, which "
        "cannot be compared with it. Use another group, or the same type."
    )


def test_the_source_that_does_not_fit_bounds_nobody(app):
    app.exchange("a", group="g", time_type="local")
    with pytest.raises(OptionError, match="is a TIMESTAMP_NTZ; this one's is a TIMESTAMP,"):
        app.exchange("b", group="g", time_type="instant", planned_minimum_ms=1)
    assert app.exchange("a", group="g", time_type="local") == set()
    assert app.exchange("c", group="g", time_type="local") == {"a"}


@pytest.mark.parametrize(("one", "other"), [("g", "h"), ("g", None), (None, None)])
def test_sources_that_are_not_in_one_group_may_have_different_types(app, one, other):
    app.exchange("a", group=one, time_type="instant")
    app.belongs("a", "query-1")
    app.belongs("b", "query-1")
    assert app.exchange("b", group=other, time_type="local") == {"a"}


def test_a_dead_member_of_another_type_keeps_nobody_out(app):
    app.exchange("a", group="g", time_type="instant")
    app.clock.advance_us(LEASE_US)
    assert app.exchange("b", group="g", time_type="local") == set()


# -- leases --


def test_a_source_expires_after_a_lease_without_a_status(app):
    app.exchange("a", group="g")
    app.clock.advance_us(LEASE_US - 1)
    assert app.exchange("b", group="g") == {"a"}
    app.clock.advance_us(1)
    assert app.exchange("b", group="g") == set()


def test_for_its_own_query_run_a_source_that_stood_still_counts_until_the_run_ends(app):
    """Spark asks every source of a query in every trigger: it plans before the batch of the others is read."""
    for source, run in (("a", "run-1"), ("b", "run-1"), ("c", "run-2")):
        app.exchange(source)
        app.belongs(source, "query-1", run)
    app.exchange("d", group="g")
    app.exchange("a", group="g", planned_minimum_ms=7)
    app.clock.advance_us(2 * LEASE_US)
    assert app.exchange("b") == {"a"}
    assert app.exchange("c") == {"b"}  # of another run of the query, and it just spoke
    assert app.exchange("e", group="g") == set()
    app.registry.terminated("query-1", "run-1")
    assert app.exchange("f", group="g") == {"e"}


def test_a_source_that_renews_lives_however_long_its_batch_takes(app):
    status = SourceStatus(group="g", planned_minimum_ms=7)
    app.report_store("a").exchange(status)
    for _ in range(10):
        app.clock.advance_us(LEASE_US - 1)
        app.report_store("a").renew(status)
    (peer,) = app.report_store("b").exchange(SourceStatus(group="g"))
    assert peer.status == status


def test_a_planner_s_status_is_not_replaced_by_an_older_renewal(app):
    app.exchange("a", group="g", planned_minimum_ms=9)
    app.report_store("a").renew(SourceStatus(group="g", planned_minimum_ms=7))
    (peer,) = app.report_store("b").exchange(SourceStatus(group="g"))
    assert peer.status.planned_minimum_ms == 9


def test_a_renewal_restores_the_status_in_a_restarted_coordinator(app):
    app.report_store("a").renew(SourceStatus(group="g", planned_minimum_ms=7))
    (peer,) = app.report_store("b").exchange(SourceStatus(group="g"))
    assert (peer.source, peer.status.planned_minimum_ms) == ("a", 7)


def test_a_dead_source_that_speaks_again_lives_again(app):
    app.exchange("a", group="g")
    app.clock.advance_us(2 * LEASE_US)
    assert app.exchange("b", group="g") == set()
    app.exchange("a", group="g")
    assert app.exchange("b", group="g") == {"a"}


def test_reports_and_questions_do_not_keep_a_source_alive(app):
    app.exchange("a", group="g")
    app.clock.advance_us(LEASE_US)
    app.belongs("a", "query-1")
    app.report_store("a").take(1)
    assert app.exchange("b", group="g") == set()


# -- the end of a query --


def test_a_terminated_run_takes_its_sources_along_and_nobody_else(app):
    for source, query, run in (("a", "q1", "r1"), ("b", "q1", "r1"), ("c", "q2", "r2"), ("d", "q3", "r3")):
        app.exchange(source, group="g")
        app.belongs(source, query, run)
        app.report_store(source).publish(source, {"batch": 1})
    app.registry.terminated("q1", "r1")
    assert app.exchange("e", group="g") == {"c", "d"}
    assert app.tables() == ["c", "d"]


def test_another_run_of_the_query_stays_when_one_ends(app):
    app.exchange("old", group="g")
    app.belongs("old", "q1", "r1")
    app.exchange("new", group="g")
    app.belongs("new", "q1", "r2")
    app.registry.terminated("q1", "r1")
    assert app.exchange("other", group="g") == {"new"}


def test_the_end_of_an_unknown_run_changes_nothing(app):
    app.exchange("a", group="g")  # its query is not known yet
    app.registry.terminated("q9", "r9")
    assert app.exchange("b", group="g") == {"a"}


# -- malformed requests --

GOOD = SourceStatus(group="g", planned_minimum_ms=5).to_json()


@pytest.mark.parametrize("ask", ["exchange", "renew"])
@pytest.mark.parametrize(
    "status",
    [
        None,
        [],
        "x",
        {},
        {**GOOD, "floor_ms": "5"},
        {**GOOD, "round": True},
        {**GOOD, "more": 1},
        {key: value for key, value in GOOD.items() if key != "group"},
    ],
)
def test_a_malformed_status_changes_nothing(app, ask, status):
    app.exchange("a", group="g", planned_minimum_ms=5)
    for source in ("a", "new"):
        with pytest.raises(CoordinatorError):
            app.ask({"ask": ask, "source": source, "says": status})
    (peer,) = app.report_store("b").exchange(SourceStatus(group="g"))
    assert (peer.source, peer.status.planned_minimum_ms) == ("a", 5)


def test_a_malformed_status_does_not_renew_the_lease(app):
    app.exchange("a", group="g")
    app.clock.advance_us(LEASE_US - 1)
    with pytest.raises(CoordinatorError):
        app.ask({"ask": "renew", "source": "a", "says": {**GOOD, "is_idle": 0}})
    app.clock.advance_us(1)
    assert app.exchange("b", group="g") == set()


@pytest.mark.parametrize(
    "message",
    [
        {"ask": "exchange", "says": GOOD},
        {"ask": "exchange", "source": 5, "says": GOOD},
        {"ask": "renew", "source": None, "says": GOOD},
        {"ask": "table", "source": "a", "name": "topic a"},
        {"ask": "table", "source": "a", "table": {}},
        {"ask": "table", "source": "a", "name": "topic a", "table": []},
        {"ask": "table", "name": "topic a", "table": {}},
    ],
)
def test_a_request_without_a_field_that_it_needs_is_refused(app, message):
    with pytest.raises(CoordinatorError, match="field"):
        app.ask(message)
    assert app.tables() == []
    assert app.exchange("b", group="g") == set()


# -- tables --


def test_a_table_carries_who_and_where_the_source_is(app):
    app.exchange("a", group="g")
    app.belongs("a", "query-1")
    app.report_store("a").publish("topic orders", {"batch": 3, "watermark": 7})
    assert app.registry.tables() == [
        {"source": "a", "name": "topic orders", "query": "query-1", "group": "g", "batch": 3, "watermark": 7}
    ]


def test_a_source_without_query_or_group_has_a_table_too(app):
    app.report_store("a").publish("scripts", {"batch": 1})
    assert app.registry.tables() == [{"source": "a", "name": "scripts", "query": None, "group": None, "batch": 1}]
    assert app.exchange("b", group="g") == set()  # it said nothing yet


def test_only_living_sources_have_a_table(app):
    app.report_store("a").publish("a", {"batch": 1})
    app.clock.advance_us(LEASE_US - 1)
    app.report_store("b").publish("b", {"batch": 1})
    assert app.tables() == ["a", "b"]
    app.clock.advance_us(1)
    assert app.tables() == ["b"]
    app.report_store("a").renew(SourceStatus())
    assert sorted(app.tables()) == ["a", "b"]


def test_a_source_that_sends_no_table_has_none(app):
    app.exchange("a", group="g")
    assert app.tables() == []


# -- the client --


def test_while_the_coordinator_cannot_be_reached_the_peers_stand_where_they_stood(app):
    app.exchange("b", group="g", planned_minimum_ms=42)
    report_store = app.report_store("a")
    seen = report_store.exchange(SourceStatus(group="g"))
    assert [p.status.planned_minimum_ms for p in seen] == [42]
    app.is_cut_off = True
    for _ in range(6):
        app.clock.advance_us(LEASE_US // 6)
        assert report_store.exchange(SourceStatus(group="g")) == seen


def test_after_a_lease_without_the_coordinator_the_peers_are_gone(app):
    app.exchange("b", group="g", planned_minimum_ms=42)
    report_store = app.report_store("a")
    report_store.exchange(SourceStatus(group="g"))
    app.is_cut_off = True
    app.clock.advance_us(LEASE_US + 1)
    assert report_store.exchange(SourceStatus(group="g")) == ()
    app.is_cut_off = False
    app.exchange("b", group="g", planned_minimum_ms=43)
    assert [p.status.planned_minimum_ms for p in report_store.exchange(SourceStatus(group="g"))] == [43]


def test_the_lease_of_the_peers_begins_anew_with_every_meeting(app):
    report_store = app.report_store("a")
    for _ in range(5):
        app.clock.advance_us(LEASE_US - 1)
        app.exchange("b", group="g")
        assert len(report_store.exchange(SourceStatus(group="g"))) == 1
    app.is_cut_off = True
    app.clock.advance_us(LEASE_US)
    assert len(report_store.exchange(SourceStatus(group="g"))) == 1


def test_a_client_that_never_reached_the_coordinator_knows_nothing(app):
    app.is_cut_off = True
    report_store = app.report_store("a")
    assert report_store.exchange(SourceStatus(group="g")) == ()
    assert report_store.take(1) == {}
    assert report_store.has_state() is None
    report_store.renew(SourceStatus())
    report_store.publish("a", {})
    app.is_cut_off = False
    assert app.tables() == []


def test_an_incompatible_source_leaves_the_peers_that_were_seen(app):
    app.exchange("b", group="g")
    report_store = app.report_store("a")
    seen = report_store.exchange(SourceStatus(group="g"))
    with pytest.raises(OptionError):
        report_store.exchange(SourceStatus(group="g", time_type="local"))
    app.is_cut_off = True
    assert report_store.exchange(SourceStatus(group="g")) == seen


def test_a_source_learns_whether_its_query_is_known(app):
    report_store = app.report_store("a")
    assert report_store.is_query_known  # nobody who must know said no
    report_store.exchange(SourceStatus())
    assert not report_store.is_query_known
    app.belongs("a", "query-1")
    report_store.exchange(SourceStatus())
    assert report_store.is_query_known
    app.is_cut_off = True
    report_store.exchange(SourceStatus())
    assert report_store.is_query_known


def test_a_coordinator_that_began_anew_does_not_know_the_query(app):
    app.belongs("a", "query-1")
    report_store = app.report_store("a")
    report_store.exchange(SourceStatus())
    assert report_store.is_query_known
    app.registry = SourceRegistry(app.clock)
    report_store.exchange(SourceStatus())
    assert not report_store.is_query_known


def test_the_last_words_of_a_source_that_ended_do_not_bring_it_back(app):
    app.exchange("a", group="g")
    app.belongs("a", "q1", run="r1")
    app.registry.terminated("q1", "r1")
    app.report_store("a").renew(SourceStatus(group="g", planned_minimum_ms=5))
    app.report_store("a").publish("topic a", {})
    assert app.exchange("b", group="g") == set()
    assert app.tables() == []
