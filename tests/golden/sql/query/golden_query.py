"""Golden pairs of the query layer: how they are written, and what they are about.

A pair is an input and what is expected of it, each ended by a semicolon at the end of a line. A line `-- why` begins a
pair; `# mode: batch`, `# late rows: exact` and `# time zone: Europe/Berlin` before the input change how it is read. Expected is

    the text that Spark gets;

    step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT ...
    the text that Spark gets, after the steps that it names;

    join bid LEFT rates AS OF ts ON k = k AND `rate` > `price`
    the text that Spark gets, after the joins as of a time that it names;

    ERROR line 1, column 8: the message, with the place underlined;
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query import rewrite_query
from datasources.sql.query.block.relation import QueryPlan, QueryStep
from datasources.sql.query.block.temporal_request import TemporalBuild, TemporalRequest
from datasources.sql.statements.catalog_objects import ViewDefinition
from tests.support.sql.sql_relations import SparkRelations, table

__all__ = ["Pair", "answer", "prepare", "read_pairs"]

TABLES = {
    "bid": table("ts TIMESTAMP_NTZ, k INT, item STRING, price DOUBLE", rowtime="ts"),
    "ask": table("at TIMESTAMP_NTZ, k INT, amount INT", rowtime="at"),
    "click": table("lt TIMESTAMP, user_name STRING", rowtime="lt"),
    "tick": table("pt TIMESTAMP, v INT", proctime="pt"),
    "rates": table("k INT, rate DOUBLE, since TIMESTAMP_NTZ", rowtime="since", primary_key=("k",)),
    "items": table("item STRING, shop INT, label STRING", primary_key=("item", "shop")),
    "keyless": table("k INT, at TIMESTAMP_NTZ", rowtime="at"),
    "changing": table("k INT, ts TIMESTAMP_NTZ", rowtime="ts", connector="upsert-kafka", is_changelog=True),
    "copied": table(
        "k INT, v INT, at TIMESTAMP_NTZ", rowtime="at", primary_key=("k",), connector="mysql-cdc", has_history=False
    ),
    "listed": table("k INT, v INT", primary_key=("k",), connector="parquet", can_wait=False),
    "nested": table("e STRUCT<time:TIMESTAMP_NTZ>, e_time TIMESTAMP_NTZ, k INT", rowtime="e_time"),
}
_VIEW_TEXTS = {
    "big": "SELECT ts, k, price FROM bid WHERE price > 10",
    "all_bids": "SELECT * FROM bid",
    "hourly": (
        "SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR) AS t, COUNT(*) AS c FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"
    ),
    "over_view": "SELECT k FROM big",
    "circle": "SELECT * FROM round_about",
    "round_about": "SELECT * FROM circle",
}
VIEWS = {
    **{name: ViewDefinition(name=name, query=text) for name, text in _VIEW_TEXTS.items()},
    "renamed": ViewDefinition(name="renamed", columns=("t", "a"), query="SELECT ts, k FROM bid"),
}
"""Beside these there is `names (k INT, name STRING, since TIMESTAMP)`, which is Spark's."""


@dataclass
class Pair:
    """An input and what is expected of it."""

    reason: str
    source: str
    expected: str = ""
    directives: dict[str, str] = field(default_factory=dict)


def read_pairs(path: Path) -> list[Pair]:
    """Read a file of pairs."""
    pairs: list[Pair] = []
    reason: list[str] = []
    directives: dict[str, str] = {}
    texts: list[str] = []
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not lines and line.startswith("--"):
            reason.append(line.removeprefix("--").strip())
        elif not lines and line.startswith("# "):
            key, value = line.removeprefix("# ").split(": ")
            directives[key] = value
        elif lines or line.strip():
            lines.append(line)
            if line.endswith(";"):
                texts.append("\n".join(lines)[:-1])
                lines = []
        if len(texts) == 2:
            pairs.append(Pair(" ".join(reason), texts[0], texts[1], directives))
            reason, directives, texts = [], {}, []
    assert not texts
    assert not lines, f"{path.name} ends inside of a pair"
    return pairs


def prepare(spark: Any) -> None:
    """Make what is Spark's."""
    spark.sql("SELECT 1 AS k, 'Ada' AS name, TIMESTAMP '2024-01-01 00:00:00' AS since").createOrReplaceTempView("names")


def answer(spark: Any, pair: Pair, made: dict[tuple[str, bool], Any]) -> str:
    """Rewrite an input; what is not refused is analysed by Spark as well. `made` keeps the tables."""
    relations = SparkRelations(
        spark=spark,
        made=made,
        tables=TABLES,
        views=VIEWS,
        is_streaming=pair.directives.get("mode") != "batch",
        is_exact=pair.directives.get("late rows") == "exact",
        time_zone=pair.directives.get("time zone", "UTC"),
    )
    try:
        plan = rewrite_query(SqlText(pair.source), relations)
    except SqlError as error:
        return f"ERROR {str(error).removeprefix('[TIDEMARK_SQL] ')}"
    assert spark.sql(plan.text).columns
    return _shown(plan, relations.temporals)


def _shown(plan: QueryPlan, temporals: list[TemporalRequest]) -> str:
    return "\n".join((*map(_join, temporals), *map(_step, plan.steps), plan.text))


def _join(request: TemporalRequest) -> str:
    return " ".join(["join", getattr(request.probe, "name", "") or request.probe.view, *map(_build, request.builds)])


def _build(build: TemporalBuild) -> str:
    conditions = [f"{left} = {right}" for left, right in build.keys]
    conditions += [] if build.condition is None else [build.condition]
    loaded = [] if build.load_time is None else [f"LOADED AT {build.load_time}"]
    loaded += [] if build.idle_timeout_ms is None else [f"LOADED WHEN IDLE FOR {build.idle_timeout_ms} ms"]
    time = f"AS OF {build.as_of or 'PROCTIME()'}"
    kind = "LEFT" if build.is_left else "INNER"
    return " ".join([kind, build.use.name, time, "ON", " AND ".join(conditions), *loaded])


def _step(step: QueryStep) -> str:
    marks = []
    if step.event_times:
        marks.append(f"event time: {', '.join(step.event_times)}")
    if step.attributes:
        marks.append("attributes: " + ", ".join(f"{name}={time.value}" for name, time in step.attributes.items()))
    if step.lost:
        marks.append(f"lost: {', '.join(step.lost)}")
    return f"step {step.view}{_marks(marks)}: {step.text}"


def _marks(marks: list[str]) -> str:
    return f" ({'; '.join(marks)})" if marks else ""
