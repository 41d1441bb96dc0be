"""The scripts of examples/sql, as `tidemark sql -f` runs them, with their sinks in memory."""

from __future__ import annotations

import pytest

from datasources.grammar.source_text import SqlText
from datasources.sql import TableEnvironment
from tests.support.project import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]


def results_of(spark, monkeypatch, name: str) -> dict[str, list[tuple[str, ...]]]:
    monkeypatch.chdir(ROOT)
    script = (ROOT / "examples" / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    t = TableEnvironment(spark)
    list(t.run_script(SqlText(script.replace("'connector' = 'print'", "'connector' = 'memory'"), name=name)))
    found = {}
    for query in t.queries:
        assert query.awaitTermination(120)
        rows = spark.table(query.name).collect() if query.name else []
        found[query.name] = sorted(tuple(map(str, row)) for row in rows)
    return found


def test_a_late_split_loses_no_order(spark, monkeypatch):
    (rows,) = results_of(spark, monkeypatch, "late_partition").values()
    assert [(start[11:16], n) for start, n, _ in rows] == [
        ("09:00", "13"),
        ("09:01", "10"),
        ("09:02", "3"),
        ("09:03", "1"),
    ]


def test_late_orders_are_shown_and_the_best_ones_found(spark, monkeypatch):
    found = results_of(spark, monkeypatch, "exact_late_rows")
    late = {row[0] for row in found["late_orders"]}
    assert {"114"} <= late <= {"103", "110", "114"}  # two more are late if their split alone decides
    assert ("2026-03-02 09:00:00", "oslo", "102", "9") in found["best_orders"]


@pytest.mark.long
def test_orders_meet_the_clicks_of_their_minute(spark, monkeypatch):
    (rows,) = results_of(spark, monkeypatch, "window_join").values()
    assert len(rows) > 20
    assert {start[14:16] for start, *_ in rows} == {"00", "01", "02", "05"}
