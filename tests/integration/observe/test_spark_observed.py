"""What people see of a running query: its progress, the page's data, the metrics."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import register
from tests.support.source.loopback import wait_until
from tests.support.spark.observed_page import observed_page
from tests.support.spark.scripted_stream import Running, Scripts, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]


@pytest.fixture
def page(spark) -> Iterator[str]:
    """An application whose sources are watched."""
    with observed_page(spark) as url:
        yield url


def asked(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own page
        return bytes(answer.read())


def tables(page: str, query: Running) -> list[dict[str, Any]]:
    found = json.loads(asked(f"{page.rstrip('/')}/api/sources"))
    sources = found["sources"] if isinstance(found, dict) else found
    return [table for table in sources if table["query"] == query.query.id]


def test_every_split_of_a_running_query_is_on_the_page_and_in_the_metrics(spark, tmp_path, page):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", *((1_000 + n * 10, "a", "") for n in range(20)), (5, "a", "late"))
    scripts.append("s-1", *((n * 10, "b", "") for n in range(20)))
    changes = {
        "scan.watermark.alignment.group": "seen",
        "scan.watermark.alignment.max-drift": "10 s",
        "scan.watermark.idle-timeout": "60 s",
    }
    stream = scripts.stream(spark, changes).groupBy(F.window("ts", "10 seconds")).count()
    with running(stream) as query:
        query.drain()
        wait_until(lambda: any(s["watermark"] == 189_000 for t in tables(page, query) for s in t["splits"]))
        (table,) = tables(page, query)
        fast, slow = table["splits"]
        assert (table["group"], table["status"], table["split_count"]) == ("seen", "active", 2)
        assert (fast["status"], fast["position"], fast["lag"]) == ("paused", 0, 21)
        assert fast["paused_since"] <= table["time"]
        assert (slow["status"], slow["position"], slow["lag"]) == ("active", 20, 0)
        assert slow["watermark"] == 189_000
        assert slow["watermark_lag"] == table["time"] - 189_000
        assert table["max_allowed"] == 199_000
        families = {f.name: f for f in text_string_to_metric_families(asked(f"{page.rstrip('/')}/metrics").decode())}
        lags = [f for name, f in families.items() if name == "tidemark_split_pending_records"]
        samples = {s.labels["split"]: s.value for s in lags[0].samples if s.labels["query"] == query.query.id}
        assert samples == {"s-0": 21, "s-1": 0}
    wait_until(lambda: not tables(page, query))  # a query that ended is gone at once


def test_progress_is_the_same_without_an_observer(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", ""), (40, "a", ""), (3, "a", "late"))
    stream = scripts.stream(spark, {"scan.watermark.idle-timeout": "1 s", "scan.watermark.emit.strategy": "on-event"})
    with running(stream.groupBy(F.window("ts", "10 seconds")).count()) as query:
        query.wait_for(lambda running_: bool(running_.progress) and running_.source()["status"] == "idle")
        (split,) = query.source()["splits"]
        assert (split["status"], split["late_rows"], split["max_lateness_ms"]) == ("idle", 1, 36_000)
        assert split["idle_since"] <= query.source()["time"]
        assert split["paused_since"] is None


def test_the_state_of_a_query_is_noted_after_each_batch_and_forgotten_with_it(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", *((n * 1_000, "a", "") for n in range(60)))
    register(spark)
    noted = spark.sparkContext._tidemark_coordinator.registry._queries
    with running(scripts.stream(spark).groupBy(F.window("ts", "1 second")).count()) as query:
        query.drain()
        rows = query.query.lastProgress.stateOperators[0].numRowsTotal
        assert rows > 0
        wait_until(lambda: query.query.id in noted and noted[query.query.id].state_rows == rows)
        assert noted[query.query.id].batch_id >= 0
    wait_until(lambda: query.query.id not in noted)
