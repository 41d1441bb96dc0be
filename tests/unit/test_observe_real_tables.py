"""The tables of a real planner, through the coordinator's memory: what the page gets is what it was written for."""

from __future__ import annotations

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from datasources.observe.routes import Request, Routes
from datasources.observe.sampler import Sampler
from datasources.source.registry import SourceRegistry
from tests.support.memory_source import MemoryLog, Query, strategy
from tests.support.observed_tables import split, table


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
    told = json.dumps(query.planner.table(query.offset, most_splits=1_000))
    made.answer({"ask": "table", "source": "run-1", "name": "memory", "table": json.loads(told)})
    return made


def test_the_tables_have_the_fields_that_tests_of_the_page_use(registry):
    (real,) = registry.tables()
    assert set(real) == set(table())
    assert {frozenset(row) for row in real["splits"]} == {frozenset(split("a"))}


def test_the_page_and_the_metrics_show_them(query, registry):
    sampler = Sampler(registry.tables, clock=query.clock)
    sampler.sample()
    answer = Routes(sampler, is_local=True, bound_host="").answer(Request(target="/api/sources", hosts=("localhost",)))
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
    assert found["tidemark_split_currentWatermark", "a-0"] == 5_000
    assert found["tidemark_source_currentWatermark", None] == source["watermark"] == 5_000
    assert found["tidemark_split_numLateRecords_total", "a-0"] == source["late_rows"] == 1
    assert set(sampler.history.read("run-1")["splits"]) == set(rows)
