"""MySQL tables in SQL: batches, what cannot be read, and streams: push-down, windows, groups, processing time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from datasources.errors import TidemarkError
from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql.mysql_sql import ROWS, make_table, mysql_table
from tests.support.project import ROOT
from tests.support.spark.scripted_stream import Running, running
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]

COLUMNS = "id INT, v INT, kind STRING METADATA FROM 'row_kind', rt AS SYSTEM_ROWTIME()"
WATERMARK = "WATERMARK FOR rt AS SYSTEM_WATERMARK()"
COUNT = (
    "SELECT window_start, count(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' SECOND)) "
    "GROUP BY window_start, window_end"
)


@pytest.fixture
def t(spark: Any) -> TableEnvironment:
    return TableEnvironment(spark)


@pytest.fixture
def database(mysql: MySqlServer) -> str:
    """A database with a table of 30 rows."""
    return make_table(mysql)


def test_a_batch_equals_the_table(t, mysql, database):
    t.sql(mysql_table(mysql, database, "id INT, v INT, note STRING"))
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    frame = t.sql("SELECT id, v, note FROM t WHERE v < 500")
    assert not frame.isStreaming
    found = sorted(map(tuple, frame.collect()))
    assert found == sorted(mysql.execute(f"SELECT id, v, note FROM {database}.t WHERE v < 500"))
    assert [tuple(row) for row in t.sql("SELECT count(*) FROM t").collect()] == [(ROWS,)]
    assert [tuple(row) for row in t.sql("SELECT count(*), sum(v) FROM t").collect()] == [
        tuple(map(int, mysql.execute(f"SELECT COUNT(*), SUM(v) FROM {database}.t")[0]))
    ]


def test_the_readers_of_a_batch_count_by_key(t, mysql, database):
    t.sql(mysql_table(mysql, database, "id INT, v INT, note STRING"))
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    select = "SELECT id % 3 AS k, COUNT(*) AS n, SUM(v) AS s, MAX(note) AS note FROM t WHERE v < 900 GROUP BY id % 3"
    assert "groupBy=[" in str(t.sql(f"EXPLAIN {select}"))
    found = sorted(map(tuple, t.sql(select).collect()))
    t.sql("SET 'table.exec.source.aggregate-pushdown' = 'false'")
    assert "aggregates=[" not in str(t.sql(f"EXPLAIN {select}"))
    assert found == sorted(map(tuple, t.sql(select).collect()))
    expected = mysql.execute(select.replace(" t ", f" {database}.t ").replace("id % 3 AS k", "id % 3"))
    assert found == sorted((int(k), int(n), int(s), note) for k, n, s, note in expected)


def error_of(t: TableEnvironment, create: str, select: str) -> str:
    """Return what is said where a table is declared, looked at or read."""

    def use() -> None:
        t.sql(create)
        with running(t.sql(select)) as query:
            query.wait_for(lambda _: False, deadline_s=60)

    with pytest.raises((TidemarkError, AssertionError)) as caught:
        use()
    text = str(caught.value)
    assert "TIDEMARK_" in text or isinstance(caught.value, TidemarkError)
    return text


@pytest.mark.parametrize(
    ("columns", "changes", "expected"),
    [
        ("id INT", {"table_name": "no_such_table"}, "no_such_table"),
        ("id INT, price INT", {}, "price"),
        ("id INT, note INT", {}, "note"),
        ("id INT", {"hostnam": "x"}, "Did you mean 'hostname'"),
        ("id INT", {"username": "nobody", "password": "hunter2hunter2"}, "nobody"),
        ("id INT", {"scan__startup__mode": "first"}, "initial"),
    ],
)
def test_an_unreadable_table_is_an_error_that_names_it(t, request, columns, changes, expected):
    server, database = request.getfixturevalue("mysql"), request.getfixturevalue("database")
    text = error_of(t, mysql_table(server, database, columns, **changes), "SELECT * FROM t")
    assert expected in text
    assert "hunter2" not in text


def test_a_missing_privilege_is_named_with_the_statement_that_grants_it(t, mysql, database):
    login = mysql.create_login(f"SELECT ON {database}.*")
    text = error_of(t, mysql_table(mysql, database, "id INT", username=login.user), "SELECT id FROM t")
    assert "REPLICATION" in text
    assert "GRANT" in text


@contextmanager
def statements(server: MySqlServer) -> Iterator[list[str]]:
    """Collect what logins other than the administrator send to the server while in the block."""
    found: list[str] = []
    with server.settings(log_output="TABLE", general_log=1):
        server.execute("TRUNCATE mysql.general_log")
        yield found
        rows = server.execute(
            "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log "
            f"WHERE user_host LIKE '{server.reader.user}[%' AND command_type IN ('Query', 'Execute', 'Prepare')"
        )
        found.extend(row[0] for row in rows)


def test_windows_close_by_the_servers_clock_but_not_during_the_snapshot(t, mysql, database):
    options = {"scan__max_rows_per_batch": "10"}
    t.sql(mysql_table(mysql, database, f"{COLUMNS}, {WATERMARK}", **options))
    assert "watermark=[" in str(t.sql(f"EXPLAIN {COUNT}"))
    with running(t.sql(COUNT)) as query:
        query.wait_for(lambda running_: running_.rows() == [(0.0, ROWS)])
        mysql.execute(f"INSERT INTO {database}.t VALUES (100, 1, NULL)", f"DELETE FROM {database}.t WHERE id = 1")
        mysql.execute(f"UPDATE {database}.t SET v = 0 WHERE id IN (2, 3)")
        query.wait_for(lambda running_: sum(n for _, n in running_.rows()) == ROWS + 6)
        snapshot = [progress for progress in query.progress if not _is_read(progress)]
        emitted = [running_batch(progress) for progress in snapshot]
    assert len(snapshot) > 1
    assert set(emitted) == {None}
    windows = Counter(int(row[0]) for row in query.rows() for _ in range(int(row[1])))
    committed = mysql.execute("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0]
    assert all(start == 0 or 0 <= committed - start < 600 for start in windows)


def _is_read(progress: Any) -> bool:
    """Return whether the tables had been read when a batch was planned."""
    return '"sweep": null' in progress.sources[0].endOffset or '"sweep":null' in progress.sources[0].endOffset


def running_batch(progress: Any) -> datetime | None:
    """Return the watermark of a batch; None = the lowest there is."""
    value = progress.eventTime.get("watermark")
    found = None if value is None else datetime.fromisoformat(value)
    return None if found == datetime(1970, 1, 1, tzinfo=UTC) else found


def test_only_needed_columns_are_selected_at_the_server(t, mysql, database):
    columns = (
        "id INT, v INT, note STRING, db STRING METADATA FROM 'database_name', kind STRING METADATA FROM 'row_kind'"
    )
    t.sql(mysql_table(mysql, database, columns, scan__masked_columns="note"))
    with statements(mysql) as sent, running(t.sql("SELECT id, note FROM t WHERE id > 25")) as query:
        query.wait_for(lambda running_: len(running_.rows()) == ROWS - 25)
        assert sorted(query.rows()) == [(n, None) for n in range(26, ROWS + 1)]
    reads = [each for each in sent if f"`{database}`.`t`" in each and "SELECT" in each and "LIMIT 0" not in each]
    assert reads
    assert any("`id`" in each for each in reads)
    assert not any(
        "`v`" in each or "`note`" in each or "*" in each.split("FROM")[0].replace("COUNT(*)", "") for each in reads
    )


@pytest.mark.long
def test_an_aligned_source_that_is_ahead_waits_for_the_table(t, mysql, tmp_path):
    database = mysql.create_database("aligned")
    base = datetime(2026, 3, 2, 9, 0, 0)
    mysql.execute(
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, ts DATETIME(3))",
        f"INSERT INTO {database}.t VALUES (1, '{base}')",
    )
    group = {"scan.watermark.alignment.group": "shops", "scan.watermark.alignment.max-drift": "10 s"}
    columns = "id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    t.sql(mysql_table(mysql, database, f"{columns}, kind STRING METADATA FROM 'row_kind'", **group))
    write_records(tmp_path / "o", "s-0", [_second(0)])
    t.sql(scripted_table("o", columns, tmp_path / "o", **group))
    with running(t.sql("SELECT id, ts, 't' AS source FROM t UNION ALL SELECT id, ts, 'o' FROM o")) as query:
        _has(query, table=1, other=1)
        # A table is outside the group until its first change: this one.
        mysql.execute(f"INSERT INTO {database}.t VALUES (2, '2026-03-02 09:00:05')")
        _has(query, table=2)
        write_records(tmp_path / "o", "s-0", map(_second, range(1, 60)))
        # Nothing of the other source beyond second 15 is read.
        _has(query, table=2, other=16)
        query.drain()
        assert _count(query, "o") == 16
        mysql.execute(f"INSERT INTO {database}.t VALUES (3, '2026-03-02 09:00:30')")
        _has(query, table=3, other=41)
        query.drain()
        assert _count(query, "o") == 41


def _second(number: int) -> dict[str, Any]:
    return {"id": number, "ts": f"2026-03-02 09:00:{number:02d}.000"}


def _count(query: Running, source: str) -> int:
    return sum(row[2] == source for row in query.rows())


def _has(query: Running, *, table: int, other: int = 0) -> None:
    query.wait_for(lambda _: _count(query, "t") == table and _count(query, "o") >= other)


def test_processing_time_begins_after_the_rows_of_a_table(t, mysql, database):
    columns = f"{COLUMNS}, {WATERMARK}"
    options = {"watermark__processing_time": "after-backlog", "scan__snapshot__op_ts": "mark"}
    t.sql(mysql_table(mysql, database, columns, **options))
    with running(t.sql("SELECT id, kind, rt FROM t").dropDuplicates(["id", "kind"])) as query:
        query.wait_for(lambda running_: len(running_.rows()) == ROWS)
        query.wait_for(lambda running_: bool(running_.watermarks) and _is_now(running_.watermarks[-1], mysql))


def _is_now(second: float, mysql: MySqlServer) -> bool:
    return abs(float(mysql.execute("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0]) - second) < 120


@pytest.mark.parametrize(
    "pushes", [pytest.param(True, id="reader"), pytest.param(False, marks=pytest.mark.long, id="Spark")]
)
@pytest.mark.parametrize("batch_rows", ["50", *full("1", "1000")])
def test_windowed_aggregates_of_a_snapshot_equal_the_servers(t, mysql, pushes, batch_rows):
    database, dice = mysql.create_database("orders"), Random(3)
    rows = ", ".join(
        f"({n}, '{dice.choice(('oslo', 'Oslo', 'bergen', ''))}', {dice.randrange(10**6)}.25, "
        f"{dice.choice(('NULL', str(dice.randrange(-9, 9))))}, '2026-03-02 09:{dice.randrange(9):02}:{dice.randrange(60):02}.5')"
        for n in range(400)
    )
    mysql.execute(
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, shop VARCHAR(9) COLLATE utf8mb4_bin, price DECIMAL(10,2), "
        "qty SMALLINT, ts DATETIME(1))",
        f"INSERT INTO {database}.t VALUES {rows}",
    )
    columns = (
        "shop STRING, price DECIMAL(10, 2), qty SMALLINT, ts TIMESTAMP(3), kind STRING METADATA FROM 'row_kind', "
        "WATERMARK FOR ts AS ts"
    )
    options = {"scan__startup__mode": "snapshot", "scan__max_rows_per_batch": batch_rows}
    t.sql(mysql_table(mysql, database, columns, **options))
    t.sql(f"SET 'table.exec.source.aggregate-pushdown' = '{str(pushes).lower()}'")
    statement = (
        "SELECT date_format(window_start, 'HH:mm'), shop, COUNT(*), SUM(price), COUNT(qty), SUM(qty), MAX(qty) "
        "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE price > 1000 "
        "GROUP BY window_start, window_end, shop"
    )
    explained = str(t.sql(f"EXPLAIN {statement}"))
    assert ("aggregates=[COUNT(*), SUM(price), COUNT(qty), SUM(qty), MAX(qty)]" in explained) is pushes
    expected = mysql.execute(
        "SELECT DATE_FORMAT(ts, '%H:%i'), shop, COUNT(*), SUM(price), COUNT(qty), SUM(qty), MAX(qty) "
        f"FROM {database}.t WHERE price > 1000 GROUP BY 1, 2"
    )
    with running(t.sql(statement)) as query:
        query.wait_for(lambda running_: len(running_.rows()) >= len(expected))
        assert sorted(query.rows(), key=repr) == sorted(expected, key=repr)


# -- a script --


def test_the_example_counts_the_orders_of_each_minute(spark, mysql, monkeypatch, tmp_path):
    database = mysql.create_database("shop")
    mysql.execute(
        f"CREATE TABLE {database}.orders (id INT PRIMARY KEY, shop VARCHAR(20), price DECIMAL(10,2))",
        f"INSERT INTO {database}.orders VALUES (1, 'oslo', 9.50), (2, 'oslo', 1.00), (3, 'bergen', 2.25)",
    )
    script = (ROOT / "examples" / "sql" / "mysql_orders.sql").read_text(encoding="utf-8")
    login = mysql.reader
    for name, value in {"HOST": login.host, "PORT": login.port, "USER": login.user, "PASSWORD": login.password}.items():
        monkeypatch.setenv(f"SHOP_DB_{name}", str(value))
    monkeypatch.setenv("SHOP_DB_NAME", database)
    t = TableEnvironment(spark)
    list(t.run_script(script.replace("'connector' = 'print'", "'connector' = 'memory'")))
    (query,) = t.queries
    try:
        shown = Running(query, query.name, spark)
        shown.wait_for(
            lambda running_: (
                sorted((row[1], str(row[2])) for row in running_.rows()) == [("bergen", "2.25"), ("oslo", "10.50")]
            )
        )
    finally:
        query.stop()
