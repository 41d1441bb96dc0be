"""The options of sources that wait for each other, alone and in the plan of a query."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from datasources.errors import OptionError, QueryError
from datasources.options import parse_group
from datasources.scripted.source import ScriptedSource
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.stream_reader import TidemarkStreamReader
from datasources.spark.options.load_gate_options import LoadGateOptions
from datasources.spark.plans.load_gate_checks import _require, builds_by_name, gate_options_of
from datasources.spark.scan.scan import build_scan

TIME = {"watermark.for": "ts", "watermark.as": "ts"}


def options(**given):
    aliases = {name: str(field.alias) for name, field in LoadGateOptions.model_fields.items()}
    return parse_group(LoadGateOptions, {aliases[name]: str(value) for name, value in given.items()})


def scan(tmp_path, **given):
    base = {"path": str(tmp_path), "schema": "id STRING, ts TIMESTAMP", "scan.session.time-zone": "UTC"}
    return build_scan(ScriptedSource, {**base, **given}, {})


# -- one source --


def test_a_source_without_gate_options_neither_waits_nor_is_waited_for(tmp_path):
    settings = scan(tmp_path).planner_settings()
    assert (settings.gate, settings.load) == (None, None)


def test_names_are_cut_at_commas_and_count_once():
    assert options(until="rates, customers ,rates").gate == LoadGateSettings(until=("rates", "customers"))


def test_what_is_set_reaches_planning(tmp_path):
    given = {
        "scan.hold.until": "customers",
        "scan.hold.name": "rates",
        "scan.load-completed.timestamp-millis": "1700000000000",
        "scan.load-completed.idle-timeout": "10 s",
    }
    settings = scan(tmp_path, **given, **TIME).planner_settings()
    assert settings.gate == LoadGateSettings(until=("customers",))
    assert settings.load == LoadSettings(name="rates", time_ms=1_700_000_000_000, idle_timeout_ms=10_000)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"until": ""}, "write names with commas"),
        ({"until": "a,,b"}, "write names with commas"),
        ({"name": "a,b"}, "is no name"),
        ({"name": " a"}, "is no name"),
        ({"name": ""}, "is no name"),
        ({"until": "b,a", "name": "a"}, "names the source itself"),
        ({"time_ms": 5}, "needs 'scan.hold.name'"),
        ({"idle_timeout_ms": "5 s"}, "needs 'scan.hold.name'"),
        ({"name": "a", "time_ms": "soon"}, "scan.load-completed.timestamp-millis"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(OptionError, match=message):
        options(**given)


def test_a_time_needs_a_watermark(tmp_path):
    with pytest.raises(OptionError, match="needs a watermark"):
        scan(tmp_path, **{"scan.hold.name": "rates", "scan.load-completed.timestamp-millis": "5"})


def test_a_source_that_waits_needs_the_application_s_coordinator(tmp_path):
    waiting = scan(tmp_path, **{"scan.hold.until": "rates"})
    reader = TidemarkStreamReader(waiting, waiting.source.schema, Binding())
    with pytest.raises(OptionError, match="register"):
        assert reader.planner


# -- the sources of a query --


def test_builds_are_counted_by_name():
    sources = [options(name="rates"), options(name="rates"), options(name="customers", until="rates"), options()]
    assert builds_by_name(sources) == {"rates": 2, "customers": 1}


def test_a_name_that_no_source_has_is_an_error_with_those_that_there_are():
    with pytest.raises(QueryError, match=r"waits for 'rats' .* Its sources have the names customers, rates\."):
        builds_by_name([options(until="rats"), options(name="rates"), options(name="customers")])
    with pytest.raises(QueryError, match=r"none of its sources\. Set"):
        builds_by_name([options(until="rates")])


@pytest.mark.parametrize(
    ("probes", "builds", "message"),
    [
        ([{}], [{}], r"scan\.hold\.name"),
        ([{}], [{"name": "rates"}], r"scan\.hold\.until = 'rates'"),
        ([{"until": "rates"}, {}], [{"name": "rates"}], r"scan\.hold\.until = 'rates'"),
        ([{"until": "a"}], [{"name": "a"}, {"name": "b"}], r"scan\.hold\.until = 'a,b'"),
    ],
)
def test_a_join_whose_sides_do_not_wait_is_refused(probes, builds, message):
    with pytest.raises(QueryError, match=message):
        _require([options(**each) for each in probes], [options(**each) for each in builds])


def test_a_join_whose_sides_wait_is_not():
    _require([options(until="a,b")], [options(name="a"), options(name="b"), options(name="a")])


def test_a_probe_without_a_source_that_could_wait_needs_no_names():
    _require([], [options(), options(name="a")])
    _require([options()], [])


def test_a_table_that_the_probe_was_joined_with_before_needs_not_wait_for_the_next_one():
    orders, customers, rates = options(until="customers,rates"), options(name="customers"), options(name="rates")
    _require([orders, customers], [rates])
    with pytest.raises(QueryError, match=r"scan\.hold\.until = 'customers,rates'"):
        _require([options(until="customers"), customers], [rates])


# -- the plan --


def sequence(*items):
    """A Scala sequence."""
    return SimpleNamespace(size=lambda: len(items), apply=lambda index: items[index])


def leaf(kind, **given):
    """A leaf of a plan with the JVM's methods."""
    made = SimpleNamespace(extraOptions=lambda: given)
    made.getClass = lambda: SimpleNamespace(getSimpleName=lambda: kind)
    made.equals = lambda other: made is other
    return made


def test_sources_of_a_plan_are_distinguished_and_counted_once():
    rates = leaf("StreamingRelationV2", **{"scan.hold.name": "rates"})
    orders = leaf("StreamingRelationV2", **{"scan.hold.until": "rates"})
    leaves = sequence(orders, rates, leaf("LogicalRelation"), rates, leaf("StreamingRelationV2"))
    plan = SimpleNamespace(collectLeaves=lambda: leaves)
    assert [(each.name, each.names) for each in gate_options_of(plan)] == [
        (None, ("rates",)),
        ("rates", ()),
        (None, ()),
    ]


def test_sources_of_other_formats_can_be_left_out():
    rates, rate = leaf("StreamingRelationV2", **{"scan.hold.name": "rates"}), leaf("StreamingRelationV2")
    rates.sourceName, rate.sourceName = (lambda: "Tidemark-Scripted"), (lambda: "rate")
    plan = SimpleNamespace(collectLeaves=lambda: sequence(rate, rates))
    assert [each.name for each in gate_options_of(plan, frozenset({"tidemark-scripted"}))] == ["rates"]
