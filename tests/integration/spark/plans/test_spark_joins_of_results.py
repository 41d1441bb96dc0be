"""Joins of two streams of which a side comes with the watermark: what a batch gives, or an error with the way round."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import SqlError
from tests.integration.sql.query.test_spark_branches import COUNTS, environment, run, truth
from tests.support.forms import full, full_cases
from tests.support.spark.scripted_stream import Scripts, first_line, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]


def windows(df: Any) -> Any:
    return df.groupBy("k", F.window("ts", "10 seconds").alias("w")).agg(F.count("*").alias("n"))


def largest(df: Any) -> Any:
    inner = windows(df).groupBy("w").agg(F.max("n").alias("n"))
    return inner.select(F.lit("all").alias("k"), "w", "n")


def rows(df: Any) -> Any:
    return df.select("k", F.col("ts").alias("w"), F.lit(1).alias("n"))


def starts(df: Any) -> Any:
    return windows(df).select("k", F.col("w.start").alias("w"), "n")


def unmarked(df: Any) -> Any:
    return df.select("k", F.expr("ts + INTERVAL 0 SECONDS").alias("w"), F.lit(1).alias("n"))


def joined(left: Any, right: Any, how: str, condition: str = "") -> Any:
    other = right.select(*(F.col(name).alias(f"r_{name}") for name in right.columns))
    return left.join(other, F.expr(f"w = r_w{condition}"), how)


ON = {"": "", "both": " AND n >= r_n", "left": " AND n > 1", "right": " AND r_n > 1", "key": " AND k = r_k"}
OUTER = [("left_outer", "both"), ("full_outer", "right")]
MORE = [(how, on) for how in ("left_outer", "right_outer", "full_outer") for on in ON if (how, on) not in OUTER]


@pytest.mark.parametrize("other", [windows, *full(largest)])
@pytest.mark.parametrize(("how", "on"), [*OUTER, *full_cases(*MORE)])
def test_an_outer_join_of_two_results_gives_what_a_batch_gives(spark, tmp_path, how, on, other):
    def build(df: Any) -> Any:
        both = joined(windows(df), other(df), how, ON[on])
        return both.selectExpr("concat_ws(',', k, r_k) AS k", "coalesce(w.start, r_w.start) AS s", "n", "r_n")

    scripts = Scripts(tmp_path / "scripts")
    expected = truth(spark, build)
    assert expected
    assert run(build(scripts.stream(spark)), scripts) == expected


@pytest.mark.parametrize("on", ["", *full(*(on for on in ON if on))])
@pytest.mark.parametrize(("left", "right"), [(windows, windows), (windows, largest)])
def test_a_left_semi_join_of_two_results_is_refused(spark, tmp_path, left, right, on):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s-0", (1, "a", "1"))
    df = scripts.stream(spark)
    with (
        pytest.raises(StreamingQueryException, match="SELECT DISTINCT"),
        running(joined(left(df), right(df), "left_semi", ON[on])) as query,
    ):
        query.drain()


def test_a_left_semi_join_of_rows_gives_what_a_batch_gives(spark, tmp_path):
    def build(df: Any) -> Any:
        right = df.filter("v > '2'").select("k", F.col("ts").alias("w"), F.lit(1).alias("n"))
        return joined(rows(df), right, "left_semi", " AND k = r_k").select("k", F.col("w").alias("s"))

    scripts = Scripts(tmp_path / "scripts")
    expected = truth(spark, build)
    assert expected
    assert run(build(scripts.stream(spark)), scripts) == expected


@pytest.mark.long
@pytest.mark.parametrize("condition", ["", *full(" AND l.n >= r.n", " AND l.k = r.k")])
def test_in_sql_the_refusal_of_left_semi_names_a_statement_that_gives_what_a_batch_gives(spark, tmp_path, condition):
    scripts = Scripts(tmp_path / "scripts")
    counts, t = COUNTS.format("t"), environment(spark, scripts.directory)
    on = f"l.s = r.s AND l.e = r.e{condition}"
    with pytest.raises(SqlError, match="SELECT DISTINCT"):
        t.sql(f"SELECT l.k, l.s FROM ({counts}) l LEFT SEMI JOIN ({counts}) r ON {on}")
    text = f"SELECT DISTINCT l.k, l.s, l.e, l.n FROM ({counts}) l JOIN ({counts}) r ON {on}"
    expected = truth(
        spark,
        lambda df: (
            windows(df)
            .alias("l")
            .join(windows(df).alias("r"), F.expr("l.w = r.w" + condition), "left_semi")
            .selectExpr("k", "w.start AS s", "w.end AS e", "n")
        ),
    )
    assert expected
    assert run(t.sql(text), scripts) == expected


@pytest.mark.parametrize(("left", "right"), [(rows, starts), *full_cases((starts, rows), (rows, unmarked))])
def test_a_join_by_event_time_of_one_side_only_is_refused(spark, tmp_path, left, right):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s-0", (1, "a", "1"))
    df = scripts.stream(spark)
    with (
        pytest.raises(StreamingQueryException) as error,
        running(joined(left(df), right(df), "inner")) as query,
    ):
        query.drain()
    assert "INTERVAL 0 SECONDS" in first_line(error.value)


@pytest.mark.long
def test_rows_meet_the_windows_that_begin_at_their_time(spark, tmp_path):
    """By a computed value, as the refusal proposes it."""

    def build(df: Any) -> Any:
        return joined(unmarked(df), starts(df), "inner").selectExpr("k", "w AS s", "r_k", "r_n")

    scripts = Scripts(tmp_path / "scripts")
    expected = truth(spark, build)
    assert expected
    assert run(build(scripts.stream(spark)), scripts) == expected


def test_in_sql_a_join_by_event_time_of_one_side_only_is_refused(spark, tmp_path):
    t = environment(spark, Scripts(tmp_path / "scripts").directory)
    with pytest.raises(SqlError, match="only .* is event time"):
        t.sql(f"SELECT a.k, b.n FROM t a JOIN ({COUNTS.format('t')}) b ON a.ts = b.s")
