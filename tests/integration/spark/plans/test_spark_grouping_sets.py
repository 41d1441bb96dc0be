"""Grouping sets of a stream: those with the window give what a batch gives, those without it are refused."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.errors import StreamingQueryException

from datasources.errors import SqlError
from tests.integration.sql.query.test_spark_branches import STEPS, append, environment, run
from tests.support.forms import full
from tests.support.spark.scripted_stream import Scripts, running, seconds

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

WINDOWS = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
SELECT = f"SELECT k, window_start AS s, count(*) AS n FROM {WINDOWS} GROUP BY "


@pytest.mark.parametrize(
    "groups",
    [
        "GROUPING SETS ((window_start, window_end, k), (window_start, window_end))",
        *full("window_start, window_end, CUBE (k)", "window_start, window_end, ROLLUP (k)"),
    ],
)
def test_grouping_sets_with_the_window_give_what_a_batch_gives(spark, tmp_path, groups):
    scripts, in_time = Scripts(tmp_path / "scripts"), Scripts(tmp_path / "in-time")
    append(in_time, [row for step in STEPS for row in step])
    batch = environment(spark, in_time.directory)
    batch.sql("SET 'execution.runtime-mode' = 'batch'")
    expected = Counter(tuple(map(seconds, row)) for row in batch.sql(SELECT + groups).collect())
    assert expected
    assert run(environment(spark, scripts.directory).sql(SELECT + groups), scripts) == expected


@pytest.mark.parametrize(
    "groups",
    [
        "GROUPING SETS ((window_start, window_end, k), (k))",
        "ROLLUP (window_start, window_end, k)",
        "CUBE (window_start, window_end, k)",
    ],
)
def test_grouping_sets_without_the_window_are_refused(spark, tmp_path, groups):
    t = environment(spark, Scripts(tmp_path / "scripts").directory)
    with pytest.raises(SqlError, match="leaves out window_end"):
        t.sql(SELECT + groups)


def test_a_rollup_of_a_dataframe_over_its_window_is_refused(spark, tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s-0", (1, "a", "1"))
    scripts.stream(spark).createOrReplaceTempView("rolled")
    windows = "SELECT k, window(ts, '10 seconds') AS w FROM rolled"
    df = spark.sql(f"SELECT k, count(*) AS n FROM ({windows}) GROUP BY ROLLUP (w, k)")
    with pytest.raises(StreamingQueryException, match="would never come"), running(df) as query:
        query.drain()
