"""The tables of a real planner, through the coordinator's memory: what the page gets is what it was written for."""

from __future__ import annotations

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from datasources.observe.access import RemoteAccess, access_of
from datasources.observe.routes import Request, Routes
from datasources.observe.sampler import Sampler
from datasources.observe.tables import is_well_formed
from datasources.source.coordination.registry import SourceRegistry
from tests.support.source.gated_query import GatedQuery, build, probe
from tests.support.source.memory_source import MemoryLog, Query, strategy
from tests.support.source.observed_tables import hold, load, split, table


@pytest.fixture
def query():
    log = MemoryLog()
    log.append("a-0", 1_000, 5_000)
    log.append("a-1", 3_000)
    log.splits["a-2"] = []
    running = Query(log, strategy(idle_timeout_ms=10_000))
    running.drain()
    running.clock.advance_us(60_000_000)
    running.drain()
    log.append("a-0", 2_000)  # all were idle, the watermark is 5,000: this row is late
    running.drain()
    return running


@pytest.fixture
def registry(query):
    made = SourceRegistry(query.clock)
    reported = json.dumps(query.planner.table(query.offset, max_splits=1_000))
    made.answer({"ask": "table", "source": "run-1", "name": "memory", "table": json.loads(reported)})
    return made


def test_the_tables_have_the_fields_that_tests_of_the_page_use(registry):
    (real,) = registry.tables()
    assert set(real) == set(table())
    assert {frozenset(row) for row in real["splits"]} == {frozenset(split("a"))}


def test_the_page_and_the_metrics_show_them(query, registry):
    sampler = Sampler(registry.tables, clock=query.clock)
    sampler.sample()
    answer = Routes(sampler, access_of("", "127.0.0.1", 1, RemoteAccess())).answer(
        Request(target="/api/sources", hosts=("localhost",))
    )
    (source,) = json.loads(answer.body)["sources"]
    rows = {row["split"]: row for row in source["splits"]}
    assert {name: (row["watermark"], row["status"], row["lag"]) for name, row in rows.items()} == {
        "a-0": (5_000, "active", 0),
        "a-1": (3_000, "idle", 0),
        "a-2": (None, "idle", 0),
    }
    found = {
        (sample.name, sample.labels.get("split")): sample.value
        for family in text_string_to_metric_families(sampler.latest.metrics.decode())
        for sample in family.samples
    }
    assert found["tidemark_split_watermark_timestamp_seconds", "a-0"] == 5
    assert found["tidemark_source_watermark_timestamp_seconds", None] * 1_000 == source["watermark"] == 5_000
    assert found["tidemark_split_late_records_total", "a-0"] == source["late_rows"] == 1
    assert set(sampler.history.read("run-1")["splits"]) == set(rows)


def test_a_source_that_waits_and_one_that_is_waited_for_are_shown():
    log = MemoryLog()
    log.append("orders-0", 10)
    rates_log = MemoryLog()
    rates_log.append("rates-0", *range(1, 8))
    rates, orders = build(rates_log, has_watermark=True), probe(log, has_watermark=True)
    waiting = GatedQuery(rates, orders)
    waiting.plan()
    sources = {"rates": rates, "orders": orders}
    for name, source in sources.items():
        reported = json.dumps(source.planner.table(source.offset, max_splits=10))
        waiting.registry.answer({"ask": "table", "source": source.id, "name": name, "table": json.loads(reported)})
    shown = {each["name"]: each for each in waiting.registry.tables()}
    assert all(map(is_well_formed, shown.values()))
    assert set(shown["orders"]) == {*table(), "hold"}
    assert set(shown["rates"]) == {*table(), "load"}
    assert shown["orders"]["status"] == "waiting"
    assert shown["orders"]["hold"].keys() == hold().keys()
    assert shown["orders"]["hold"]["builds"][0].keys() == hold()["builds"][0].keys()
    assert shown["rates"]["load"].keys() == load().keys()
