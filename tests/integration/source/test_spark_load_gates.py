"""Sources of a Spark query that wait for each other: nothing of the probe is read before its build was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream
from tests.support.forms import full, full_cases
from tests.support.mysql.mysql_shop import Shop
from tests.support.spark.scripted_stream import Running, Scripts, instant, running

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300), pytest.mark.usefixtures("tiny_queries")]

WAITS = {"scan.hold.until": "rates"}
NAMED = {"scan.hold.name": "rates"}
PLAIN = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}
NOW = {"availableNow": True}
DEADLINE_S = 120


@dataclass
class Sides:
    """Which rows of which side were in which batch."""

    rows: list[tuple[int, str, str]] = field(default_factory=list)

    def __call__(self, df: Any, batch: int) -> None:
        self.rows += [(batch, row["side"], row["v"]) for row in df.collect()]

    def values(self, side: str) -> list[str]:
        return sorted(v for _, own, v in self.rows if own == side)

    def batches(self, side: str) -> list[int]:
        return sorted({batch for batch, own, _ in self.rows if own == side})

    @property
    def is_in_order(self) -> bool:
        """Whether the build was there when the first row of the probe came."""
        return self.batches("build")[-1] < self.batches("probe")[0]


@pytest.fixture
def orders(tmp_path):
    scripts = Scripts(tmp_path / "orders")
    scripts.append("o-0", *((n, "k", f"o{n}") for n in range(4)))
    return scripts


@pytest.fixture
def rates(tmp_path):
    scripts = Scripts(tmp_path / "rates")
    scripts.append("r-0", *((n, "k", f"r{n}") for n in range(6)))
    return scripts


@pytest.fixture
def both(orders, rates):
    return orders, rates


def side(df: Any, name: str) -> Any:
    return df.select(F.lit(name).alias("side"), "v")


def run_once(df: Any, checkpoint: Any, into: Sides) -> None:
    with running(df, checkpoint=checkpoint, for_each=into, trigger=NOW) as query:
        assert query.query.awaitTermination(DEADLINE_S)


def waits_of(query: Running) -> list[dict[str, Any]]:
    """For whom the sources wait, as they said in the newest progress; nothing before there is one."""
    if not query.progress:
        return []
    tables = [json.loads(source.latestOffset or "{}") for source in query.progress[-1].sources]
    return [table["hold"] for table in tables if "hold" in table]


def waits_for_loading(query: Running) -> bool:
    return [(b["name"], b["status"]) for each in waits_of(query) for b in each["builds"]] == [("rates", "loading")]


@pytest.mark.parametrize(
    ("is_probe_first", "changes"),
    [(True, PLAIN), *full_cases((False, PLAIN), (True, {})), (False, {})],
    ids=["probe first, plain", "build first, plain", "probe first", "build first"],
)
def test_available_now_reads_the_build_then_the_probe_and_then_ends(spark, tmp_path, both, is_probe_first, changes):
    orders, rates = both
    probe = side(orders.stream(spark, {**changes, **WAITS}), "probe")
    build = side(rates.stream(spark, {**changes, **NAMED, "scan.max-rows-per-batch": 2}), "build")
    df, found = probe.union(build) if is_probe_first else build.union(probe), Sides()
    run_once(df, tmp_path / "checkpoint", found)
    assert found.values("probe") == ["o0", "o1", "o2", "o3"]
    assert found.values("build") == ["r0", "r1", "r2", "r3", "r4", "r5"]
    assert len(found.batches("build")) == 3
    assert found.is_in_order
    orders.append("o-0", (9, "k", "o9"))
    later = Sides()
    run_once(df, tmp_path / "checkpoint", later)
    assert later.values("probe") == ["o9"]


@pytest.mark.long
def test_a_restart_in_the_wait_waits_on_and_the_wait_is_shown(spark, tmp_path, orders, rates):
    late = {**NAMED, "scan.load-completed.timestamp-millis": 100_000}
    df = side(orders.stream(spark, WAITS), "probe").union(side(rates.stream(spark, late), "build"))
    found = Sides()
    for _ in range(2):
        with running(df, checkpoint=tmp_path / "checkpoint", for_each=found) as query:
            query.wait_for(waits_for_loading)
    assert found.values("build") == ["r0", "r1", "r2", "r3", "r4", "r5"]
    assert found.values("probe") == []
    rates.append("r-0", {"ts": instant(101.0), "k": "k", "v": "r9"})
    with running(df, checkpoint=tmp_path / "checkpoint", for_each=found) as query:
        query.wait_for(lambda _: len(found.values("probe")) == 4)
    assert found.is_in_order


def test_a_probe_that_stands_in_the_query_twice_is_held_twice(spark, tmp_path, orders, rates):
    once = side(orders.stream(spark, {**PLAIN, **WAITS}), "probe")
    again = side(orders.stream(spark, {**PLAIN, **WAITS}), "probe")
    build = side(rates.stream(spark, {**PLAIN, **NAMED, "scan.max-rows-per-batch": 3}), "build")
    found = Sides()
    run_once(once.union(once).union(build).union(again), tmp_path / "checkpoint", found)
    assert found.values("probe") == sorted(["o0", "o1", "o2", "o3"] * 3)
    assert found.is_in_order


def test_a_name_that_no_source_of_the_query_has_is_refused(spark, tmp_path, orders, rates):
    build = side(rates.stream(spark, {**PLAIN, "scan.hold.name": "rats"}), "build")
    df = side(orders.stream(spark, {**PLAIN, **WAITS}), "probe").union(build)
    refused = pytest.raises(Exception, match=r"waits for 'rates' .*names rats\.")
    with running(df, checkpoint=tmp_path / "checkpoint", for_each=Sides()) as query, refused:
        query.query.awaitTermination(DEADLINE_S)


@pytest.mark.mysql
@pytest.mark.parametrize("is_probe_first", [True, *full(False)], ids=["probe first", "build first"])
def test_a_probe_waits_for_the_snapshot_of_a_table(mysql, spark, tmp_path, orders, is_probe_first):
    shop = Shop.open(mysql, rates=150)
    rates = read_stream(spark, "tidemark-mysql", shop.options() | {"scan.max-rows-per-batch": "60"} | NAMED)
    build = rates.select(F.lit("build").alias("side"), F.col("n").cast("string").alias("v"))
    probe = side(orders.stream(spark, {**PLAIN, **WAITS}), "probe")
    found = Sides()
    run_once(probe.union(build) if is_probe_first else build.union(probe), tmp_path / "checkpoint", found)
    assert found.values("build") == sorted(str(n) for n in range(150))
    assert len(found.batches("build")) >= 3
    assert found.values("probe") == ["o0", "o1", "o2", "o3"]
    assert found.is_in_order
