"""Joins as of a time, planned without Spark: each scan's options, and what EXPLAIN shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql.execute.explain import explain_table
from datasources.sql.planner import table_planner
from datasources.sql.planner.scan_options import scan_options
from datasources.sql.planner.table_planner import TablePlanner
from datasources.sql.planner.temporal.temporal_plan import LoadGateNames, PlannedTemporal, plan_temporal
from datasources.sql.planner.tree import scan_of
from datasources.sql.query.block.relation import TableUse
from datasources.sql.query.block.temporal_request import TemporalBuild, TemporalRequest
from datasources.sql.settings import Settings
from tests.support.sql.sql_catalog import table
from tests.support.sql.sql_planning import CompiledTypes

CONF = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
TABLES = {
    "orders": (
        "CREATE TABLE orders (id INT, k INT, v INT, e ROW<ts TIMESTAMP(3)>, ts TIMESTAMP(3), pt AS PROCTIME(), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'scripted', 'path' = '{path}')"
    ),
    "twice": (
        "CREATE TABLE twice (k INT, made TIMESTAMP(3), sent TIMESTAMP(3), WATERMARK FOR made AS made, "
        "WATERMARK FOR sent AS sent) WITH ('connector' = 'scripted', 'path' = '{path}')"
    ),
    "nested": (
        "CREATE TABLE nested (k INT, e ROW<ts TIMESTAMP(3)>, WATERMARK FOR e.ts AS e.ts) "
        "WITH ('connector' = 'scripted', 'path' = '{path}')"
    ),
    "rates": (
        "CREATE TABLE rates (k INT, rate INT, note STRING, at TIMESTAMP(3), WATERMARK FOR at AS at, "
        "PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'scripted', 'path' = '{path}')"
    ),
    "copied": (
        "CREATE TABLE copied (k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'mysql-cdc', "
        "'hostname' = 'db', 'username' = 'u', 'password' = 'p', 'database-name' = 'd', 'table-name' = 't')"
    ),
}
NAMES = {"k": "__tidemark_r_k_1", "rate": "rate"}


@pytest.fixture
def plan(monkeypatch, tmp_path):
    monkeypatch.setattr(table_planner, "SparkTypes", lambda _spark: CompiledTypes())
    of_the_administrator = SimpleNamespace(getConf=lambda: SimpleNamespace(get=lambda _key, default: default))
    spark: Any = SimpleNamespace(conf=SimpleNamespace(get=CONF.get), sparkContext=of_the_administrator)
    definitions = {name: table(text.replace("{path}", str(tmp_path))) for name, text in TABLES.items()}

    def planned(
        *builds: TemporalBuild,
        probe: TableUse | None = None,
        is_streaming: bool = True,
        options: Mapping[str, Mapping[str, str]] | None = None,
    ) -> PlannedTemporal:
        settings = Settings({} if is_streaming else {"execution.runtime-mode": "batch"})
        given = {
            name: replace(each, options={**each.options, **(options or {}).get(name, {})})
            for name, each in definitions.items()
        }
        request = TemporalRequest(probe=probe or used("orders", "id", "k"), builds=builds)
        planner = TablePlanner(spark, settings)
        return plan_temporal(planner, given.__getitem__, request, LoadGateNames(), is_streaming=is_streaming)

    return planned


def used(name: str, *columns: str) -> TableUse:
    return TableUse(name=name, columns=frozenset(columns))


def joined(name: str = "rates", **changes: Any) -> TemporalBuild:
    given = {"use": used(name, "k", "rate", "id"), "keys": (("k", "k"),), "columns": NAMES}
    return TemporalBuild(**{**given, **changes})


def source_options(tree: Any) -> dict[str, str]:
    """The options of a scan that are about columns and about waiting."""
    options = scan_options(scan_of(tree))
    return {key: value for key, value in options.items() if key.startswith(("scan.hold", "scan.load", "scan.columns"))}


def test_in_event_time_both_tables_read_their_times_without_load_gate(plan):
    done = plan(joined(as_of="ts"))
    assert source_options(done.probe.tree) == {"scan.columns": "`id`, `k`, `ts`"}
    assert source_options(done.builds[0].side.tree) == {"scan.columns": "`k`, `rate`, `at`"}
    assert (done.builds[0].rowtime, done.builds[0].load_gate) == ("at", None)


def test_a_nested_time_attribute_is_read_with_its_struct(plan):
    for is_streaming in (True, False):
        done = plan(joined(as_of="e_ts"), probe=used("nested", "k"), is_streaming=is_streaming)
        assert source_options(done.probe.tree) == {}  # both columns
        assert "e_ts" in [column.name for column in done.probe.columns]


def test_of_several_time_attributes_the_one_that_the_join_goes_by_is_the_first(plan):
    done = plan(joined(as_of="sent"), probe=used("twice", "k", "made", "sent"))
    options = scan_options(scan_of(done.probe.tree))
    assert (options["watermark.for"], options["watermark.1.for"]) == ("`sent`", "`made`")
    alone = scan_options(scan_of(plan(joined(as_of="sent"), probe=used("twice", "k")).probe.tree))
    assert (alone["watermark.for"], "watermark.1.for" in alone) == ("`sent`", False)


def test_by_processing_time_the_left_table_waits_for_each_right_one(plan):
    done = plan(joined(), joined("copied", columns={"name": "name"}), joined())
    assert source_options(done.probe.tree)["scan.hold.until"] == "rates,copied,rates-2"
    assert [source_options(build.side.tree)["scan.hold.name"] for build in done.builds] == [
        "rates",
        "copied",
        "rates-2",
    ]
    assert "scan.hold.name" not in source_options(done.probe.tree)


def test_what_the_connector_knows_of_changes_is_read_along(plan):
    done = plan(joined("copied", columns={"name": "name"}, use=used("copied", "name")))
    assert scan_options(scan_of(done.builds[0].side.tree))["scan.metadata"] == (
        "`__tidemark_row_kind` FROM `row_kind`, `__tidemark_sequence` FROM `_seq`"
    )
    assert "`__tidemark_sequence`" in source_options(done.builds[0].side.tree).get(
        "scan.columns", "`__tidemark_sequence`"
    )


def test_the_users_names_go_before_ours(plan):
    options = {"rates": {"scan.hold.name": "all rates"}, "orders": {"SCAN.HOLD.UNTIL": "other, all rates"}}
    done = plan(joined(), options=options)
    assert source_options(done.probe.tree)["scan.hold.until"] == "other,all rates"
    assert done.builds[0].load_gate == "all rates"


def test_a_snapshot_defines_when_it_is_loaded(plan):
    done = plan(joined(load_time="1700000000000", idle_timeout_ms=2_000))
    assert source_options(done.builds[0].side.tree) == {
        "scan.columns": "`k`, `rate`, `at`",
        "scan.hold.name": "rates",
        "scan.load-completed.timestamp-millis": "1700000000000",
        "scan.load-completed.idle-timeout": "2000 ms",
    }


def test_a_batch_has_no_load_gate(plan):
    done = plan(joined(load_time="1700000000000", idle_timeout_ms=2_000), is_streaming=False)
    assert source_options(done.probe.tree) == {"scan.columns": "`id`, `k`"}
    assert "scan.hold.name" not in source_options(done.builds[0].side.tree)


def test_explain_shows_a_chain_of_joins_above_their_tables(plan):
    first = joined(as_of="ts", is_left=True, condition="`rate`\n > 1")
    second = joined("copied", columns={"name": "name"}, keys=(("__tidemark_r_k_1", "k"),), idle_timeout_ms=5)
    lines = explain_table(plan(first, second).tables[0]).splitlines()
    assert [line for line in lines if "Join" in line] == [
        (
            "TemporalJoin(joinType=[InnerJoin], on=[__tidemark_r_k_1 = k], asOf=[processing time], "
            "holds=[orders is not read until copied is loaded or idle for 5 ms (copied)])"
        ),
        (
            ":- TemporalJoin(joinType=[LeftOuterJoin], on=[k = k], asOf=[event time orders.ts, versions by rates.at], "
            "condition=[`rate` > 1], select=[rates.k AS __tidemark_r_k_1])"
        ),
    ]
    scans = [line for line in lines if "TableSourceScan" in line]
    assert scans[0].startswith(":  :  +- ")
    assert [line.partition("table=[")[2].partition("]")[0] for line in scans] == ["orders", "rates", "copied"]


def test_a_clock_column_is_named(plan):
    shown = explain_table(plan(joined(), probe=used("orders", "id", "k", "pt")).tables[0])
    assert "asOf=[processing time orders.pt]" in shown


def test_the_error_of_a_table_names_the_table(plan):
    with pytest.raises(SqlError, match="table 'rates' has no 'connector'"):
        plan(joined(), options={"rates": {"connector": None}})  # type: ignore[dict-item]
