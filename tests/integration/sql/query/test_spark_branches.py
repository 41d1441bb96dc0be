"""Two branches over one attached stream, or over one table of a statement, give what a batch over the same rows gives.

Spark may run two branches that are alike up to a shuffle as one and reuse it; operators above the reused shuffle would
have no watermark. Whether it does depends on the plan, so combinations are generated: two branches, and what puts
them together. The rows come in three steps; the late one must not appear, the last one closes all windows before it.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.sql import TableEnvironment
from tests.support.forms import full, full_cases, long
from tests.support.spark.scripted_stream import Scripts, instant, running, seconds
from tests.support.sql.sql_tables import scripted_table

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

STEPS = (
    [(1, "a", "1"), (2, "a", "2"), (3, "b", "3"), (11, "a", "4"), (20, "b", "9"), (25, "b", "5")],
    [(26, "a", "6"), (27, "b", "7"), (28, "b", "8"), (41, "a", "9"), (50, "a", "1"), (55, "b", "10")],
    [(57, "a", "12"), (58, "a", "13"), (75, "b", "14"), (76, "b", "15")],
)
LATE = (4, "a", "11")
LAST = (200, "z", "16")
OPEN_FROM = 190  # the window of the last record


def counts(df: Any) -> Any:
    """What each key has in a window."""
    grouped = df.groupBy("k", F.window("ts", "10 seconds").alias("w")).agg(F.count("*").alias("n"))
    return grouped.select("k", F.col("w.start").alias("s"), F.col("w.end").alias("e"), "n")


def totals(df: Any) -> Any:
    grouped = df.groupBy(F.window("ts", "10 seconds").alias("w")).agg(F.count("*").alias("n"))
    return grouped.select(F.lit("all").alias("k"), F.col("w.start").alias("s"), F.col("w.end").alias("e"), "n")


def largest(df: Any) -> Any:
    """The largest count of a window: an aggregation of an aggregation."""
    inner = df.groupBy("k", F.window("ts", "10 seconds").alias("w")).agg(F.count("*").alias("n"))
    outer = inner.groupBy("w").agg(F.max("n").alias("n"))
    return outer.select(F.lit("all").alias("k"), F.col("w.start").alias("s"), F.col("w.end").alias("e"), "n")


def of_a(df: Any) -> Any:
    return counts(df.filter("k = 'a'"))


def distinct(df: Any) -> Any:
    """Without duplicates, which keeps state and no window. The times have no mark, as those of a window's struct."""
    rows = df.dropDuplicates(["k", "ts"])
    return rows.selectExpr("k", "ts + INTERVAL 0 SECONDS AS s", "ts + INTERVAL 10 SECONDS AS e", "int(v) AS n")


def join(how: str, condition: str) -> Any:
    def joined(left: Any, right: Any) -> Any:
        other = right.select(*(F.col(name).alias(f"r_{name}") for name in right.columns))
        return left.join(other, F.expr(f"s = r_s AND e = r_e{condition}"), how)

    return joined


BRANCHES = {"counts": counts, "totals": totals, "largest": largest, "of_a": of_a, "distinct": distinct}
PUT_TOGETHER = {
    "join": join("inner", ""),
    "join by n": join("inner", " AND n >= r_n"),
    "union": lambda left, right: left.unionByName(right),
}
ALL = list(itertools.product(BRANCHES, BRANCHES, PUT_TOGETHER))
ALWAYS = [
    ("counts", "largest", "join by n"),
    ("distinct", "distinct", "union"),
]
REST = [case for case in random.Random(17).sample(ALL, len(ALL)) if case not in ALWAYS]
CASES = [*ALWAYS, *full_cases(*REST)]


def append(scripts: Scripts, rows: list[tuple[int, str, str]]) -> None:
    for row in rows:
        scripts.append(f"s-{int(row[2]) % 2}", row)


def run(df: Any, scripts: Scripts) -> Counter[tuple[Any, ...]]:
    """The rows of a stream; batches with and without rows follow each other."""
    append(scripts, STEPS[0])
    with running(df) as query:
        query.drain()
        append(scripts, STEPS[1])
        query.drain()
        append(scripts, [LATE])
        query.drain()
        append(scripts, STEPS[2])
        query.drain()
        append(scripts, [LAST, (LAST[0], "z", "17")])
        query.drain()
        return Counter(row for row in query.rows() if row[1] < OPEN_FROM)


def truth(spark: Any, build: Any) -> Counter[tuple[Any, ...]]:
    """What a batch makes of the rows that are not late."""
    rows = [(instant(second), k, v) for step in STEPS for second, k, v in step]
    df = build(spark.createDataFrame(rows, "ts STRING, k STRING, v STRING").withColumn("ts", F.to_timestamp("ts")))
    names = [F.unix_timestamp(c).alias(c) if c in {"s", "e", "r_s", "r_e"} else F.col(c) for c in df.columns]
    return Counter(tuple(row) for row in df.select(*names).collect())


@pytest.mark.long
@pytest.mark.parametrize(("left", "right", "how"), CASES)
def test_two_branches_of_one_attached_stream_give_what_a_batch_gives(spark, tmp_path, left, right, how):
    def build(df: Any) -> Any:
        return PUT_TOGETHER[how](BRANCHES[left](df), BRANCHES[right](df))

    scripts = Scripts(tmp_path / "scripts")
    expected = truth(spark, build)
    assert expected
    assert run(build(scripts.stream(spark)), scripts) == expected


def near(df: Any, how: str = "inner") -> Any:
    """Each row with those of its key up to five seconds later: rows of one attachment on both sides."""
    later = df.selectExpr("k AS later_k", "ts AS later_ts", "v AS later_v")
    return df.join(later, F.expr("k = later_k AND later_ts > ts AND later_ts <= ts + INTERVAL 5 SECONDS"), how)


def sessions(df: Any) -> Any:
    grouped = df.groupBy("k", F.session_window("ts", "5 seconds").alias("w")).agg(F.count("*").alias("n"))
    return grouped.select("k", F.col("w.start").alias("s"), F.col("w.end").alias("e"), "n")


def in_window(df: Any) -> Any:
    """Each row with the count of its window."""
    of_windows = counts(df).selectExpr("k AS w_k", "s", "e", "n")
    return df.join(of_windows, F.expr("k = w_k AND ts >= s AND ts < e")).select("k", "s", "v", "n")


FORMS = {
    "self-join": lambda df: near(df).selectExpr("k", "ts AS s", "v", "later_v"),
    "outer self-join": lambda df: near(df, "left_outer").selectExpr("k", "ts AS s", "v", "later_v"),
    "semi self-join": lambda df: near(df, "left_semi").selectExpr("k", "ts AS s", "v"),
    "windows of a self-join": lambda df: counts(near(df)),
    "rows with their window": in_window,
    "windows of a union": lambda df: counts(df.union(df)),
    "duplicates of a union": lambda df: df.union(df).dropDuplicates(["k", "ts"]).selectExpr("k", "ts AS s", "v"),
    "sessions twice": lambda df: sessions(df).union(sessions(df)),
    "three unions": lambda df: counts(df).union(sessions(df)).union(totals(df)),
    "after a repartition": lambda df: counts(df.repartition(2, "k")).union(largest(df.repartition(2, "k"))),
}
FORM_CASES = [
    pytest.param(name, marks=pytest.mark.full) if name != "rows with their window" else name for name in FORMS
]


@pytest.mark.parametrize("form", FORM_CASES)
def test_one_attached_stream_on_both_sides_gives_what_a_batch_gives(spark, tmp_path, form):
    scripts = Scripts(tmp_path / "scripts")
    expected = truth(spark, FORMS[form])
    assert expected
    assert run(FORMS[form](scripts.stream(spark)), scripts) == expected


COUNTS = (
    "SELECT k, window_start AS s, window_end AS e, count(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), "
    "INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"
)
LARGEST = "SELECT s, e, max(n) AS n FROM {} GROUP BY s, e"
OF_ONE_WINDOW = "l.s = r.s AND l.e = r.e"
JOIN = f"SELECT l.k, l.s, l.n, r.n FROM {{}} l JOIN {{}} r ON {OF_ONE_WINDOW} AND l.n >= r.n"
STATEMENTS = {
    "a CTE twice": f"WITH c AS ({COUNTS.format('t')}) {JOIN.format('c', '(' + LARGEST.format('c') + ')')}",
    "a table twice": JOIN.format(f"({COUNTS.format('t')})", f"({LARGEST.format('(' + COUNTS.format('t') + ')')})"),
    "a view of rows twice": JOIN.format(f"({COUNTS.format('rows_view')})", f"({COUNTS.format('rows_view')})"),
    "a view of counts twice": JOIN.format("counts_view", "(" + LARGEST.format("counts_view") + ")"),
    "a view of a view and its view": JOIN.format("counts_view", "counts_view_view"),
    "a union of one view": "SELECT k, s, n FROM counts_view UNION ALL SELECT k, s, n FROM counts_view",
}
SLOWER = ("a view of a view and its view", "a union of one view", "a view of rows twice")
SQL_CASES = ["a table twice", *long("a CTE twice", "a view of counts twice"), *full(*SLOWER)]


def environment(spark: Any, directory: Path) -> TableEnvironment:
    t = TableEnvironment(spark)
    columns = "ts TIMESTAMP_LTZ(3), k STRING, v STRING, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    t.sql(scripted_table("t", columns, directory, **{"scan.watermark.heartbeat-interval": "300 ms"}))
    t.sql("CREATE VIEW rows_view AS SELECT ts, k, v FROM t WHERE v <> '0'")
    t.sql(f"CREATE VIEW counts_view AS {COUNTS.format('rows_view')}")
    t.sql("CREATE VIEW counts_view_view AS SELECT * FROM counts_view WHERE n > 0")
    return t


@pytest.mark.parametrize("name", SQL_CASES)
def test_a_relation_used_twice_in_a_statement_gives_what_a_batch_gives(spark, tmp_path, name):
    scripts, in_time = Scripts(tmp_path / "scripts"), Scripts(tmp_path / "in-time")
    append(in_time, [row for step in STEPS for row in step])
    batch = environment(spark, in_time.directory)
    batch.sql("SET 'execution.runtime-mode' = 'batch'")
    expected = Counter((row[0], seconds(row[1]), *row[2:]) for row in batch.sql(STATEMENTS[name]).collect())
    assert expected
    assert run(environment(spark, scripts.directory).sql(STATEMENTS[name]), scripts) == expected
