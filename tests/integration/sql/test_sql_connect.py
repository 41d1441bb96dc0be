"""SQL where a client of Spark Connect sees no plan; each test runs in both kinds of session."""

from __future__ import annotations

import io
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from datasources.errors import OptionError, QueryError, SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql import TableEnvironment
from datasources.sql.shell.shell import Shell
from datasources.sql.shell.shell_output import print_rows
from tests.support.spark.connect_server import IS_CONNECT
from tests.support.spark.scripted_stream import running
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("tiny_queries")]

ORDERS = "id INT, k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
RATES = "k INT, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED"
WINDOWS = (
    "SELECT window_start, window_end, k, count(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' "
    "SECOND)) GROUP BY window_start, window_end, k"
)
AS_OF = "SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"
NEWEST = "SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON o.k = r.k"
OVER = "SELECT id, sum(k) OVER (PARTITION BY k ORDER BY ts) AS total FROM orders"


def at(second: int) -> str:
    return f"1970-01-01 00:00:{second:02d}"


@pytest.fixture
def t(spark: Any, tmp_path: Path) -> TableEnvironment:
    tables = {
        "orders": (ORDERS, [{"id": n, "k": 1 + n % 2, "ts": at(s)} for n, s in enumerate((1, 2, 9, 12, 14, 33))]),
        "rates": (
            RATES,
            [{"k": k, "rate": rate, "ts": at(s)} for k, rate, s in ((1, 100, 0), (1, 101, 9), (2, 9, 12), (3, 0, 59))],
        ),
    }
    environment = TableEnvironment(spark)
    for name, (columns, rows) in tables.items():
        write_records(tmp_path / name, "s-0", rows)
        environment.execute(scripted_table(name, columns, tmp_path / name, scripted__bounded="true"))
    return environment


def read(t: TableEnvironment, statement: str) -> list[tuple[Any, ...]]:
    with running(t.query(statement), trigger={"availableNow": True}) as query:
        assert query.query.awaitTermination(120)
        return sorted(map(tuple, query.rows()), key=repr)


def test_windows_joins_as_of_a_time_and_over_give_their_rows(t: TableEnvironment):
    counts = read(t, f"SELECT second(window_start), k, n FROM ({WINDOWS})")
    assert counts == [(0, 1, 2), (0, 2, 1), (10, 1, 1), (10, 2, 1), (30, 2, 1)]
    assert read(t, AS_OF) == [(0, 100), (1, None), (2, 101), (3, 9), (4, 101), (5, 9)]
    assert read(t, NEWEST) == [(0, 101), (1, 9), (2, 101), (3, 9), (4, 101), (5, 9)]
    assert read(t, OVER) == [(0, 1), (1, 2), (2, 2), (3, 4), (4, 3), (5, 6)]


def test_a_view_that_is_used_twice_is_read_once_for_each(t: TableEnvironment):
    t.execute(f"CREATE VIEW counts AS {WINDOWS}")
    joined = "SELECT a.k, b.k, a.n FROM counts AS a JOIN counts AS b ON a.window_end = b.window_end AND a.k < b.k"
    assert read(t, joined) == [(1, 2, 1), (1, 2, 2)]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (f"SELECT o.id FROM orders AS o LEFT SEMI JOIN ({WINDOWS}) AS w ON o.k = w.k", "loses rows of a LEFT SEMI JOIN"),
        (f"SELECT a.n FROM ({WINDOWS}) AS a JOIN ({WINDOWS}) AS b ON a.window_end = b.window_start", "only .*window_end"),
        (WINDOWS.replace("BY window_start, window_end, k", "BY GROUPING SETS ((window_start, window_end, k), (k))"), "nothing closes"),
    ],
)  # fmt: skip
def test_queries_of_which_spark_would_lose_rows_are_refused(t: TableEnvironment, statement: str, reason: str):
    with pytest.raises(SqlError, match=reason):
        t.query(statement)


def test_explain_has_the_scan_and_sparks_plan(t: TableEnvironment):
    streaming = str(t.execute(f"EXPLAIN {WINDOWS}"))
    assert "TableSourceScan(table=[orders], connector=[scripted], fields=[k, ts], " in streaming
    assert "Aggregate [" in streaming.partition("== Spark ==")[2]
    t.execute("SET 'execution.runtime-mode' = 'batch'")
    assert "HashAggregate" in str(t.execute(f"EXPLAIN {WINDOWS}")).partition("== Spark ==")[2]


def test_what_spark_does_not_find_is_named_with_its_place(t: TableEnvironment, tmp_path: Path):
    with pytest.raises(SqlError, match=r"line 1, column 8: there is no column 'idd'"):
        t.query("SELECT idd FROM orders")
    with pytest.raises(SqlError, match=r"there is no table or view 'ordrs'"):
        t.query("SELECT id FROM ordrs")
    t.execute(f"CREATE TABLE copies (id INT) WITH ('connector' = 'parquett', 'path' = '{tmp_path}')")
    with pytest.raises(OptionError, match=r"there is no connector 'parquett'\. Did you mean 'parquet'"):
        t.query("SELECT id FROM copies")


def test_a_query_whose_rows_change_needs_the_drivers_process(t: TableEnvironment):
    newest = (
        "SELECT id, k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM orders) WHERE n = 1"
    )
    if IS_CONNECT:
        with pytest.raises(SqlError, match=r"a Spark Connect client does not have: run the job in the driver's own"):
            t.query(newest)
        t.execute(
            "CREATE TABLE copies (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = "
            "'jdbc:mysql://127.0.0.1:1/d', 'table-name' = 'copies', 'username' = 'u', 'password' = 'p')"
        )
        with pytest.raises(
            QueryError, match=r"INSERT INTO 'copies' \(jdbc\) writes its batches in the driver's process, which"
        ):
            t.execute("INSERT INTO copies SELECT id FROM orders")
    else:
        assert t.query(newest).columns == ["row_kind", "id", "k"]


def test_the_shell_shows_the_rows_of_a_stream_and_an_insert_fills_a_table(t: TableEnvironment, tmp_path: Path):
    out, err = io.StringIO(), io.StringIO()
    shell = Shell(t, Console(file=out, width=80), Console(file=err, width=80))
    script = f"""SET 'execution.trigger' = 'available-now';
SELECT id, k FROM orders WHERE id > 3;
CREATE TABLE sink (id INT) WITH ('connector' = 'parquet', 'path' = '{tmp_path}/sink', 'checkpointLocation' = '{tmp_path}/c');
INSERT INTO sink SELECT id FROM orders WHERE k = 1;"""
    assert shell.run_scripts([SqlText(script)]) == 0, err.getvalue()
    assert "│ 4  │ 1 │\n│ 5  │ 2 │" in out.getvalue()
    assert "watermark 1970-01-01T00:00:28.000Z" in out.getvalue()
    assert sorted(row.id for row in t.spark.read.parquet(f"{tmp_path}/sink").collect()) == [0, 2, 4]


@pytest.mark.timeout(120)
def test_ctrl_c_ends_the_jobs_of_a_bounded_query(t: TableEnvironment):
    """A job that went on would keep both slots, and no other query would run."""
    endless = t.spark.sql("SELECT sum(id % 7) AS s FROM range(10000000000000)")
    pressed = threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        print_rows(Console(file=io.StringIO()), endless)
    pressed.join()
    assert t.spark.sql("SELECT count(*) AS n FROM range(1000)").head() == (1000,)
