"""`tidemark sql` on Spark: tables, streams with their watermark, and the queries that a script starts."""

from __future__ import annotations

import io
import os
import signal
import threading

import pytest
from rich.console import Console

from datasources.grammar.source_text import SqlText
from datasources.sql import TableEnvironment
from datasources.sql.shell.shell import Shell
from datasources.sql.shell.shell_output import print_rows
from tests.support.spark.scripted_stream import TINY_QUERIES, Scripts, running, settings

pytestmark = pytest.mark.spark

TABLE = """
CREATE TABLE orders (ts TIMESTAMP_LTZ(3), k STRING, v STRING, WATERMARK FOR ts AS ts - '1' SECOND)
WITH ('connector' = 'scripted', 'path' = '{path}');
"""
SCRIPT = """
SET 'execution.trigger' = 'available-now';
SELECT k, v FROM orders WHERE k <> 'b';
SELECT k, count(*) AS n FROM orders GROUP BY k; -- rows change
SET 'execution.runtime-mode' = 'batch';
SELECT count(*) AS n, max(ts) AS latest, X'1F' AS b, array(1, NULL) AS l, 1 AS n FROM orders;
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE sink (k STRING) WITH ('connector' = 'memory');
INSERT INTO sink SELECT k FROM orders;
"""
FAILING = "SET 'execution.runtime-mode' = 'batch'; SELECT raise_error(k) AS e FROM orders"


def test_a_script_shows_streams_tables_and_its_own_queries(spark, tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s", (1, "a", "x"), (2, "b", None), (9, "c", None))
    out, err = io.StringIO(), io.StringIO()
    with settings(spark, TINY_QUERIES):
        environment = TableEnvironment(spark)
        shell = Shell(environment, Console(file=out, width=80), Console(file=err, width=80))
        script = TABLE.format(path=scripts.directory) + SCRIPT
        assert shell.run_scripts([SqlText(script)]) == 0, err.getvalue()
        copied = spark.sql("SELECT k FROM sink ORDER BY k").collect()
    printed = out.getvalue()
    assert "hint: line 2, column 88: INTERVAL was added before the string" in printed
    assert "│ a │ x    │\n│ c │ NULL │" in printed
    assert "watermark 1970-01-01T00:00:08.000Z" in printed
    assert "rows of this query change" in printed
    assert "│ 3 │ 1970-01-01 " in printed
    assert "│ 1F │ [1, null] │ 1 │" in printed
    assert [row.k for row in copied] == ["a", "b", "c"]


def test_errors_of_spark_have_no_traceback(spark, tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s", (1, "a", "x"))
    out, err = io.StringIO(), io.StringIO()
    with settings(spark, TINY_QUERIES):
        shell = Shell(TableEnvironment(spark), Console(file=out, width=200), Console(file=err, width=200))
        assert shell.run_scripts([SqlText("SELECT nowhere")]) == 1
        assert shell.run_scripts([SqlText(TABLE.format(path=scripts.directory)), SqlText(FAILING)]) == 1
    lines = err.getvalue().splitlines()
    assert "nowhere" in lines[0]
    assert not any(line.startswith(("Traceback", "\tat ", "JVM stacktrace")) for line in lines)


def test_ctrl_c_ends_a_bounded_query_and_leaves_those_in_the_background_alone(spark, tmp_path):
    """`range` gives more numbers than anybody waits for; the stream beside it goes on with the next row."""
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s", (1, "a", "x"))
    frame = spark.sql("SELECT sum(id % 7) AS s FROM range(10000000000000)")
    tracker = spark.sparkContext.statusTracker()
    seen: list[str] = []
    with running(
        scripts.stream(spark), for_each=lambda df, _: seen.extend(row.k for row in df.collect())
    ) as background:
        background.wait_for(lambda _: seen == ["a"])
        presses = threading.Thread(target=press_when_it_runs, args=(tracker,), daemon=True)
        presses.start()
        with pytest.raises(KeyboardInterrupt):
            print_rows(Console(file=io.StringIO()), frame)
        presses.join()
        scripts.append("s", (2, "b", "x"))
        background.wait_for(lambda _: seen == ["a", "b"])
        background.drain()
        assert list(tracker.getActiveJobsIds()) == []


def press_when_it_runs(tracker) -> None:
    """Press Ctrl-C when a job has been at work for a while: the stream's own are shorter."""
    seen: dict[int, int] = {}
    while not any(looks >= 20 for looks in seen.values()):
        seen = {job: seen.get(job, 0) + 1 for job in tracker.getActiveJobsIds()}
        threading.Event().wait(0.1)
    os.kill(os.getpid(), signal.SIGINT)
