"""Timelines of holding: a probe is not read before its builds are loaded, whatever happens on the way.

In a batch the join takes the build's rows first, so "loaded before batch n" is what the first rows of the probe in
batch n need.
"""

from __future__ import annotations

import itertools
import json

import pytest

from datasources.errors import OffsetError
from datasources.source.api.abilities import Alignment
from datasources.source.checkpoint.load_gate_state import LoadGateSettings
from datasources.source.coordination.registry import LEASE_S, SourceRegistry
from datasources.source.reading.task_planning import plan_tasks
from tests.support.source.gated_query import WALL_US, GatedQuery, build, probe
from tests.support.source.memory_source import MemoryLog
from tests.support.source.table_and_log import TableAndLog
from watermark import ManualClock

ORDERS = ["orders-0:0", "orders-0:1", "orders-0:2"]
WITH_LISTENER = pytest.mark.parametrize("has_listener", [True], indirect=True)
IN_BOTH_ORDERS = pytest.mark.parametrize("is_probe_first", [True, False], ids=["probe first", "build first"])


@pytest.fixture(autouse=True, params=[True, False], ids=["listener", "no listener"])
def has_listener(request, monkeypatch):
    """Whether Spark's listener reports the plans of queries; on Spark Connect there is none."""
    if not request.param:
        begin = SourceRegistry.__init__

        def begin_without(registry, *args):
            begin(registry, *args)
            registry.expect_no_listener()

        monkeypatch.setattr(SourceRegistry, "__init__", begin_without)
    return request.param


def orders(*times):
    log = MemoryLog()
    log.append("orders-0", *(times or (10, 20, 30)))
    return log


def table(chunks=3):
    """A table of so many chunks, whose log is empty."""
    return TableAndLog(chunks=[[100 + n] for n in range(chunks)])


def topic(rows=6):
    log = MemoryLog()
    log.append("rates-0", *range(1, rows + 1))
    return log


def query_of(waiting, waited_for, *, is_probe_first=True, **more):
    return GatedQuery(*((waiting, waited_for) if is_probe_first else (waited_for, waiting)), **more)


def shown(source):
    return source.planner.table(source.offset, max_splits=10)["hold"]


# -- the way it goes --


@IN_BOTH_ORDERS
@pytest.mark.parametrize("has_watermark", [False, True])
def test_a_probe_is_read_only_behind_the_batch_that_ended_the_snapshot(is_probe_first, has_watermark):
    waiting, rates = probe(orders(), has_watermark=has_watermark), build(table(), has_watermark=has_watermark)
    query = query_of(waiting, rates, is_probe_first=is_probe_first)
    query.triggers()
    last_chunk = [batch for batch, ids in rates.delivered if ids][-1]
    assert rates.ids == ["100", "101", "102"]
    assert waiting.ids == ORDERS
    # Asked after the build it is released in the very batch in which the build says so, else in the next one.
    assert waiting.first_batch() == last_chunk + (2 if is_probe_first else 1)
    assert waiting.offset.gate.opened == 2  # its own second batch, after the one that told whose it is


def test_nothing_of_the_probe_is_read_while_its_gate_is_closed():
    log = orders()
    query = query_of(probe(log), build(table()))
    for _ in range(3):
        query.trigger()
    assert log.reads == []


def test_a_source_without_a_load_gate_is_planned_as_usual():
    waiting = probe(orders())
    waiting.gate = None
    query = query_of(waiting, build(table()))
    query.trigger()
    assert waiting.ids == ORDERS
    assert waiting.offset.gate is None


@pytest.mark.parametrize("has_watermark", [False, True])
def test_the_first_batch_behind_a_closed_gate_has_no_rows(has_watermark):
    waiting = probe(orders(), has_watermark=has_watermark)
    query = query_of(waiting, build(table()))
    query.trigger()
    assert waiting.delivered == [(0, [])]
    assert waiting.heartbeats == (1 if has_watermark else 0)
    assert shown(waiting)["builds"][0]["status"] == "not heard"
    query.trigger()
    assert shown(waiting)["builds"][0]["status"] == "loading"


def test_the_build_s_changes_that_are_in_the_batch_of_the_release_are_read_in_it():
    source = table(1)
    source.transactions = [[500]]
    rates, waiting = build(source), probe(orders())
    query = GatedQuery(rates, waiting)
    query.trigger()
    source.transactions.append([501])
    query.triggers()
    batch = waiting.first_batch()
    assert "501" in dict(rates.delivered)[batch]


def test_a_probe_waits_for_all_of_its_builds():
    slow, fast = build(table(5), "slow"), build(table(1), "fast")
    waiting = probe(orders(), "fast", "slow")
    query = GatedQuery(waiting, fast, slow)
    query.triggers()
    assert waiting.first_batch() == [batch for batch, ids in slow.delivered if ids][-1] + 2


def test_two_sources_of_one_name_are_waited_for_both():
    one, two = build(table(1)), build(table(4))
    waiting = probe(orders())
    query = GatedQuery(one, waiting, two)
    query.triggers()
    assert waiting.first_batch() > [batch for batch, ids in two.delivered if ids][-1]


@WITH_LISTENER
def test_a_source_that_the_plan_has_and_nobody_heard_of_is_waited_for():
    waiting, rates = probe(orders()), build(table(1))
    query = query_of(waiting, rates)
    query.registry.expect_builds(query.run, {"rates": 2})
    query.triggers()
    assert waiting.ids == []
    query.registry.expect_builds(query.run, {"rates": 1})
    query.triggers()
    assert waiting.ids == ORDERS


def test_a_chain_opens_link_by_link():
    middle = probe(orders(), "rates", has_watermark=False)
    middle.load = build(topic(), "middle").load
    last = probe(orders(1, 2, 3), "middle")
    rates = build(table(2))
    query = GatedQuery(last, middle, rates)
    query.triggers()
    assert rates.delivered[-1][0] > 0
    assert [s.first_batch() for s in (rates, middle, last)] == sorted(s.first_batch() for s in (rates, middle, last))
    assert last.first_batch() > middle.first_batch()
    assert last.ids == ORDERS


@WITH_LISTENER
def test_no_gate_opens_before_the_listener_reported_the_plan():
    waiting = probe(orders())
    query = query_of(waiting, build(table(1)))
    query.registry._load_gates.expected.clear()
    query.triggers()
    assert waiting.ids == []
    query.registry.expect_builds(query.run, {})  # the plan could not be read: those that are heard count
    query.triggers()
    assert waiting.ids == ORDERS


# -- sources without a snapshot --


@IN_BOTH_ORDERS
def test_a_topic_is_loaded_when_that_is_read_which_it_held_as_the_query_began(is_probe_first):
    log = topic(6)
    waiting, rates = probe(orders()), build(log)
    query = query_of(waiting, rates, is_probe_first=is_probe_first)
    query.plan()
    log.append("rates-0", 7)  # came later: not waited for
    query.read()
    query.triggers()
    assert rates.ids[:6] == [f"rates-0:{n}" for n in range(6)]
    assert waiting.ids == ORDERS
    assert waiting.first_batch() > rates.first_batch()


def test_ends_are_those_of_the_begin_of_the_query_also_after_a_restart():
    log = topic(3)
    rates, waiting = build(log), probe(orders())
    query = GatedQuery(rates, waiting)
    query.plan()
    query.read()
    assert dict(rates.offset.load.ends) == {"rates-0": 3}
    log.append("rates-0", *range(50))
    query.start()
    query.plan()
    assert rates.planner.table(rates.offset, max_splits=1)["load"]["unread"] == 0


def test_an_empty_build_is_loaded_at_once():
    log = MemoryLog()
    log.splits["rates-0"] = []
    waiting = probe(orders())
    query = query_of(waiting, build(log))
    query.triggers()
    assert waiting.ids == ORDERS
    assert waiting.first_batch() == 1


def test_with_a_time_the_build_is_loaded_when_its_watermark_has_reached_it():
    log = topic(3)
    waiting, rates = probe(orders()), build(log, time_ms=1_000, has_watermark=True)
    query = query_of(waiting, rates)
    query.triggers()
    assert waiting.ids == []
    log.append("rates-0", 999)
    query.triggers()
    assert waiting.ids == []
    log.append("rates-0", 1_000)
    query.triggers()
    assert waiting.ids == ORDERS


def test_with_an_idle_timeout_the_build_is_loaded_when_nothing_came_for_so_long():
    log = topic(3)
    waiting, rates = probe(orders()), build(log, time_ms=1_000, idle_timeout_ms=5_000, has_watermark=True)
    query = query_of(waiting, rates)
    query.triggers()
    query.clock.advance_us(4_000_000)
    log.append("rates-0", 500)
    query.triggers()
    query.clock.advance_us(4_999_000)
    query.triggers()
    assert waiting.ids == []
    query.clock.advance_us(1_000)
    query.triggers()
    assert waiting.ids == ORDERS


def test_an_idle_timeout_does_not_end_a_snapshot():
    source = table(2)
    source.plan, plan = lambda *_: source_at_rest(source), source.plan
    waiting, rates = probe(orders()), build(source, idle_timeout_ms=1_000)
    query = query_of(waiting, rates)
    for _ in range(5):
        query.trigger()
        query.clock.advance_us(2_000_000)
    assert waiting.ids == []
    source.plan = plan
    query.triggers()
    assert waiting.ids == ORDERS


def source_at_rest(source):
    """What a connector answers that has chunks left and can read none now."""
    return TableAndLog().plan({"done": 0}, {}, None)


# -- runs that end --


@IN_BOTH_ORDERS
@pytest.mark.parametrize("waited_for", [lambda: table(4), lambda: topic(5), lambda: table(0)])
def test_available_now_does_not_end_before_the_probe_was_read(is_probe_first, waited_for):
    waiting = probe(orders())
    query = query_of(waiting, build(waited_for()), is_probe_first=is_probe_first)
    query.start(is_available_now=True)
    query.triggers()
    assert waiting.ids == ORDERS


def test_the_available_now_limit_behind_a_gate_is_fixed_at_the_start():
    log = orders()
    waiting = probe(log)
    query = query_of(waiting, build(table(3)))
    query.start(is_available_now=True)
    query.trigger()
    log.append("orders-0", 40)
    query.triggers()
    assert waiting.ids == ORDERS
    query.start(is_available_now=True)
    query.triggers()
    assert waiting.ids == [*ORDERS, "orders-0:3"]


def test_available_now_continues_while_a_gate_is_closed_at_a_slow_pace():
    log = topic(3)
    waiting, rates = probe(orders()), build(log, time_ms=1_000, idle_timeout_ms=60_000, has_watermark=True)
    query = query_of(waiting, rates)
    query.start(is_available_now=True)
    assert all(query.trigger() for _ in range(20))
    assert waiting.planner.poll_delay_ns() == 200_000_000
    query.clock.advance_us(60_000_000)
    query.triggers()
    assert waiting.ids == ORDERS


def test_available_now_ends_behind_a_closed_gate_without_pending_rows():
    waiting = probe(orders())
    waiting.log.splits["orders-0"] = []
    query = query_of(waiting, build(topic(1), time_ms=10_000, has_watermark=True))
    query.start(is_available_now=True)
    assert query.triggers() < 10


@IN_BOTH_ORDERS
def test_available_now_ends_if_alignment_lets_the_build_read_nothing_more_and_the_next_run_goes_on(is_probe_first):
    log = MemoryLog()
    log.append("rates-0", 10)
    log.append("rates-1", 1_000)  # not before rates-0 has come so far
    rates = build(log, has_watermark=True, alignment=Alignment(group="g", max_drift_ms=0))
    waiting = probe(orders())
    query = query_of(waiting, rates, is_probe_first=is_probe_first)
    query.start(is_available_now=True)
    query.triggers()
    assert rates.ids == ["rates-0:0"]
    assert waiting.ids == []
    query.registry.terminated("q", query.run)
    log.append("rates-0", 2_000)
    query.start(is_available_now=True)
    query.triggers()
    assert waiting.ids == ORDERS


def test_a_probe_behind_its_gate_does_not_bound_its_build_s_group():
    aligned = Alignment(group="g", max_drift_ms=10)
    rates = build(topic(500), has_watermark=True, alignment=aligned)
    waiting = probe(orders(1, 2, 3), has_watermark=True, alignment=aligned)
    waiting.log.append("orders-0", 1_000)
    query = query_of(waiting, rates)
    query.triggers()
    assert waiting.ids == ORDERS  # the fourth is too far ahead of the rates, as ever
    assert rates.ids[-1] == "rates-0:499"


# -- replays and restarts --


@IN_BOTH_ORDERS
@pytest.mark.parametrize("crash_at", range(9))
@pytest.mark.parametrize("is_written", [True, False], ids=["offset written", "offset not written"])
def test_a_crash_anywhere_changes_nothing(is_probe_first, crash_at, is_written, has_listener):
    waiting, rates = probe(orders()), build(table(3))
    query = query_of(waiting, rates, is_probe_first=is_probe_first)
    for _ in range(crash_at):
        query.trigger()
    query.plan()
    if not is_written:
        query.pending = []
    query.start()
    if not has_listener:  # a source of which no task has reported may be of this run, until its lease is over
        query.clock.advance_us(LEASE_S * 1_000_000 + 1)
    query.triggers()
    assert waiting.ids == ORDERS
    assert rates.ids == ["100", "101", "102"]
    assert waiting.first_batch() > [batch for batch, ids in rates.delivered if ids][-1]


def test_a_batch_that_is_read_again_asks_nobody():
    waiting = probe(orders())
    query = query_of(waiting, build(table(1)), is_probe_first=False)
    while waiting.offset.gate.opened is None:
        assert query.plan()
        query.asked.clear()
        before = query.pending
        texts = {text for source, text in before if source is waiting}
        query.read()
    (text,) = texts
    assert query.asked == ["report", "report"]
    end = waiting.offset
    assert json.dumps(end.to_json()) == text
    query.is_cut_off = True
    assert query._rows(waiting, end) == query._rows(waiting, end) == ORDERS  # a self-union plans and reads twice
    assert plan_tasks(end, has_watermark=False) == plan_tasks(end, has_watermark=False)


def test_an_open_gate_stays_open_whatever_the_coordinator_reports():
    waiting, rates = probe(orders()), build(table(1))
    query = query_of(waiting, rates)
    query.triggers()
    waiting.log.append("orders-0", 40)
    query.is_cut_off = True
    query.start()
    query.triggers()
    assert waiting.ids == [*ORDERS, "orders-0:3"]


def test_after_a_restart_the_gate_stays_closed_until_the_build_reports():
    waiting, rates = probe(orders()), build(table(2))
    query = query_of(waiting, rates)
    while rates.offset.load.loaded is None:
        query.trigger()
    assert waiting.ids == []
    query.registry.terminated("q", query.run)
    query.start()
    query.plan()
    assert shown(waiting)["status"] == "waiting"
    assert shown(waiting)["builds"][0]["status"] == "not heard"
    query.read()
    query.triggers()
    assert waiting.ids == ORDERS


def test_the_status_of_an_earlier_run_does_not_count():
    waiting, rates = probe(orders()), build(table(3))
    query = query_of(waiting, rates)
    query.triggers()
    # The same sources again from a new checkpoint, while the coordinator still knows the loaded build of the first.
    waiting.offset = rates.offset = None
    waiting.delivered, rates.delivered = [], []
    query.start()
    query.triggers()
    assert waiting.ids == ORDERS
    assert waiting.first_batch() > [batch for batch, ids in rates.delivered if ids][-1]


def test_two_queries_of_the_same_sources_do_not_release_each_other():
    clock = ManualClock(WALL_US)
    registry = SourceRegistry(clock)
    fast = query_of(probe(orders()), build(table(1)), registry=registry, clock=clock, query="fast")
    slow_probe, slow_build = probe(orders()), build(table(6))
    slow = query_of(slow_probe, slow_build, registry=registry, clock=clock, query="slow")
    for _ in range(12):
        fast.trigger()
        slow.trigger()
    assert slow_probe.ids == ORDERS
    assert slow_probe.first_batch() > [batch for batch, ids in slow_build.delivered if ids][-1]


# -- a missing report never opens the gate --


def test_a_coordinator_that_cannot_be_reached_releases_nobody():
    waiting, rates = probe(orders()), build(table(2))
    query = query_of(waiting, rates)
    query.trigger()
    query.is_cut_off = True
    query.triggers()
    assert waiting.ids == []
    assert rates.offset.load.loaded is not None
    query.is_cut_off = False
    assert not query.trigger()  # the build is heard again, after the probe asked
    query.triggers()
    assert waiting.ids == ORDERS


def test_without_a_coordinator_no_gate_opens():
    waiting, rates = probe(orders()), build(table(1))
    query = query_of(waiting, rates, has_load_gates=False)
    query.triggers()
    assert waiting.ids == []


def test_a_build_whose_lease_is_over_releases_nobody_and_is_shown_as_silent():
    waiting, rates = probe(orders()), build(table(1))
    query = GatedQuery(waiting)
    other = GatedQuery(rates, registry=query.registry, clock=query.clock)
    other.run = query.run
    query.trigger()
    other.triggers()
    query.clock.advance_us((LEASE_S + 1) * 1_000_000)
    query.triggers()
    assert waiting.ids == []
    assert shown(waiting)["builds"][0]["status"] == "silent"
    other.start()
    other.run = query.run
    other.triggers()
    assert waiting.ids == []  # the process that went silent is still of the run: nobody said that it is gone


def test_a_name_that_nobody_has_is_waited_for_and_shown():
    waiting = probe(orders(), "rats")
    query = query_of(waiting, build(table(1)))
    query.triggers()
    assert waiting.ids == []
    assert shown(waiting) == {
        "status": "waiting",
        "since": WALL_US // 1_000,
        "released": None,
        "builds": [{"name": "rats", "status": "not heard", "since": None, "unread": None, "snapshot": None}],
    }


def test_sources_whose_first_reports_were_lost_introduce_themselves_again():
    waiting, rates = probe(orders()), build(table(1))
    query = query_of(waiting, rates)
    query.loses_reports = True
    query.triggers()
    query.loses_reports = False
    assert query.triggers() == 0
    query.clock.advance_us(1_000_000)
    for _ in range(4):
        query.trigger()
        query.clock.advance_us(1_000_000)
    assert waiting.ids == ORDERS


def test_a_build_that_nobody_waits_for_comes_to_rest():
    rates = build(table(1))
    query = GatedQuery(rates)
    query.loses_reports = True
    query.triggers()
    query.clock.advance_us(10_000_000)
    assert not query.trigger()
    query.loses_reports = False
    assert "hold" in query.asked


def test_a_loaded_build_that_is_known_asks_no_more():
    rates = build(topic(2))
    query = GatedQuery(probe(orders()), rates)
    query.triggers()
    query.asked.clear()
    rates.log.append("rates-0", 50)
    query.triggers()
    assert "hold" not in query.asked


@IN_BOTH_ORDERS
def test_a_coordinator_that_began_anew_learns_who_is_loaded(is_probe_first):
    waiting, rates = probe(orders()), build(topic(2))
    query = query_of(waiting, rates, is_probe_first=is_probe_first)
    query.is_cut_off = True
    query.triggers()
    query.registry = SourceRegistry(query.clock)
    query.registry.expect_builds(query.run, {"rates": 1})
    query.is_cut_off = False
    for _ in range(5):
        query.trigger()
        query.clock.advance_us(1_000_000)
    assert waiting.ids == ORDERS


@WITH_LISTENER
@IN_BOTH_ORDERS
def test_a_loaded_build_reports_it_again_to_a_restarted_coordinator(is_probe_first):
    waiting, rates = probe(orders()), build(topic(2))
    query = query_of(waiting, rates, is_probe_first=is_probe_first)
    query.registry._load_gates.expected.clear()  # so that the probe stays held
    query.triggers()
    assert waiting.ids == []
    query.registry = SourceRegistry(query.clock)
    query.registry.expect_builds(query.run, {"rates": 1})
    for _ in range(34):
        query.trigger()
        query.clock.advance_us(1_000_000)
    assert waiting.ids == ORDERS


# -- what else a source behind a closed gate does --


def test_a_probe_behind_its_gate_without_records_falls_idle_and_follows():
    waiting = probe(orders(), has_watermark=True, idle_timeout_ms=1_000)
    waiting.log.splits["orders-0"] = []
    rates = build(topic(3), time_ms=10_000, has_watermark=True)
    query = query_of(waiting, rates)
    for _ in range(6):
        query.triggers()
        query.clock.advance_us(1_000_000)
    assert waiting.offset.gate.opened is None
    assert waiting.offset.combined_ms == 3
    assert waiting.heartbeats > 1


def test_a_probe_behind_its_gate_with_records_holds_back_the_watermark():
    waiting = probe(orders(), has_watermark=True, idle_timeout_ms=1_000)
    rates = build(topic(3), time_ms=10_000, has_watermark=True)
    query = query_of(waiting, rates)
    for _ in range(6):
        query.triggers()
        query.clock.advance_us(1_000_000)
    assert waiting.offset.combined_ms is None


def test_a_closed_gate_shows_its_builds_their_progress_and_since_when():
    waiting, rates = probe(orders()), build(table(4))
    query = query_of(waiting, rates, is_probe_first=False)
    query.trigger()
    query.clock.advance_us(7_000_000)
    query.trigger()
    (found,) = shown(waiting)["builds"]
    assert shown(waiting)["since"] == WALL_US // 1_000
    assert (found["name"], found["status"], found["since"]) == ("rates", "loading", WALL_US // 1_000)
    query.triggers()
    assert shown(waiting)["status"] == "released"
    assert shown(waiting)["builds"] == []


def test_how_much_of_a_topic_is_left_is_shown():
    waiting, rates = probe(orders()), build(topic(5))
    query = query_of(waiting, rates, is_probe_first=False)
    query.plan()
    reported = rates.planner.table(rates.offset, max_splits=1)["load"]
    assert reported == {"name": "rates", "status": "loading", "since": WALL_US // 1_000, "unread": 5}


# -- options that change --


def test_a_closed_gate_whose_option_is_gone_is_an_error():
    waiting = probe(orders())
    query = query_of(waiting, build(table(3)))
    query.trigger()
    waiting.gate = None
    query.start()
    with pytest.raises(OffsetError, match=r"'scan\.hold\.until' is not set any more"):
        query.plan()
    waiting.allows_change = True
    query.start()
    query.triggers()
    assert waiting.ids == ORDERS


def test_behind_an_open_gate_the_option_is_not_needed_any_more():
    waiting = probe(orders())
    query = query_of(waiting, build(table(1)))
    query.triggers()
    waiting.gate = None
    waiting.log.append("orders-0", 40)
    query.start()
    query.triggers()
    assert waiting.ids == [*ORDERS, "orders-0:3"]


def test_a_new_load_gate_begins_with_the_restart():
    waiting, rates = probe(orders()), build(table(1))
    waiting.gate = None
    query = query_of(waiting, rates)
    query.triggers()
    waiting.gate = LoadGateSettings(until=("rates",))
    waiting.log.append("orders-0", 40)
    query.start()
    assert query.trigger()
    assert waiting.ids == ORDERS
    query.triggers()
    assert waiting.ids == [*ORDERS, "orders-0:3"]


def test_sources_that_wait_for_each_other_log_a_warning():
    one, two = probe(orders(), "two"), probe(orders(), "one")
    one.load, two.load = build(topic(), "one").load, build(topic(), "two").load
    query = GatedQuery(one, two)
    query.triggers()
    assert one.ids == two.ids == []
    assert [b["status"] for b in itertools.chain(shown(one)["builds"], shown(two)["builds"])] == ["loading"] * 2
