"""MariaDB's tables that keep their history, and its sequences: both are in the binlog like tables of current rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import feather

from datasources.embedded import MySqlVersion
from datasources.errors import SchemaError, SourceUnavailable
from datasources.mysql.data_source import MySqlDataSource
from tests.support.mysql.mysql_server import OpenMySql, OwnMySql
from tests.support.mysql_consistency.local_query import LocalQuery
from tests.support.mysql_consistency.recording import Recording

pytestmark = pytest.mark.mysql

VERSIONED = "CREATE TABLE d.h (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING"
BY_NAME = (
    "CREATE TABLE d.h (id INT PRIMARY KEY, v INT, a TIMESTAMP(6) GENERATED ALWAYS AS ROW START, "
    "b TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)) WITH SYSTEM VERSIONING"
)
CHANGES = ("UPDATE d.u SET v = v + 1", "INSERT INTO d.u VALUES (8, 8)", "DELETE FROM d.u WHERE id = 7")


@pytest.fixture
def server(own_mysql: OpenMySql) -> OwnMySql:
    server = own_mysql(MySqlVersion.MARIADB)
    server.execute("CREATE DATABASE d", "CREATE TABLE d.u (id INT PRIMARY KEY, v INT)", "INSERT INTO d.u VALUES (7, 7)")
    return server


def options(server: OwnMySql, tables: str, **more: str) -> dict[str, str]:
    login = server.reader
    return {
        "hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password,
        "ssl.mode": "disabled", "database-name": "d", "table-name": tables, "schema": "id INT, v INT", **more,
    }  # fmt: skip


def read(query: LocalQuery) -> None:
    for _ in range(20):
        query.step()


def rows(recording: Recording) -> list[tuple[str, str, int, int]]:
    files = [file for n in range(recording.planned()) for file in recording.batches.glob(f"{n}.*")]
    found = [feather.read_table(str(file)) for file in files]
    return [(r["table_name"], r["row_kind"], r["id"], r["v"]) for table in found for r in table.to_pylist()]


@pytest.mark.parametrize("mode", ["initial", "latest-offset"])
@pytest.mark.parametrize("statement", [VERSIONED, BY_NAME], ids=["hidden columns", "named columns"])
def test_a_table_that_keeps_its_history_is_refused_at_the_start(server, tmp_path: Path, statement: str, mode: str):
    server.execute(statement, "INSERT INTO d.h VALUES (1, 1)" if statement is VERSIONED else "DO 0")
    mine = options(server, "u|h", **{"scan.startup.mode": mode})
    with (
        pytest.raises((SourceUnavailable, SchemaError), match=r"d\.h.*SYSTEM VERSIONING.*old rows.*'table-name'"),
        LocalQuery(mine, Recording(tmp_path).create()) as query,
    ):
        read(query)


@pytest.mark.parametrize("statement", [VERSIONED, BY_NAME, "ALTER TABLE d.u ADD SYSTEM VERSIONING"])
def test_a_statement_that_makes_a_table_keep_its_history_stops_the_query(server, tmp_path: Path, statement: str):
    with LocalQuery(options(server, "u|h"), Recording(tmp_path).create()) as query:
        read(query)
        server.execute(statement, *CHANGES)
        with pytest.raises(SchemaError, match=r"history.*old rows are in the binlog"):
            read(query)


def test_the_columns_of_such_a_table_are_not_inferred(server):
    server.execute(VERSIONED)
    mine = options(server, "h")
    del mine["schema"]
    with pytest.raises(SchemaError, match=r"table d\.h keeps its history \(SYSTEM VERSIONING\)"):
        MySqlDataSource(mine).schema()


def test_sequences_are_no_tables(server, tmp_path: Path):
    server.execute("CREATE SEQUENCE d.s", "SELECT NEXT VALUE FOR d.s")
    recording = Recording(tmp_path).create()
    with LocalQuery(options(server, ".*"), recording) as query:
        read(query)
        server.execute("SELECT NEXT VALUE FOR d.s", "SELECT SETVAL(d.s, 5000)", *CHANGES)
        server.execute(
            "CREATE SEQUENCE d.s2 START WITH 5", "ALTER SEQUENCE d.s RESTART 9", "SELECT NEXT VALUE FOR d.s2"
        )
        server.execute("DROP SEQUENCE d.s2", "INSERT INTO d.u VALUES (9, 9)")
        read(query)
    assert rows(recording) == [
        ("u", "+I", 7, 7),
        ("u", "-U", 7, 7),
        ("u", "+U", 7, 8),
        ("u", "+I", 8, 8),
        ("u", "-D", 7, 8),
        ("u", "+I", 9, 9),
    ]


def test_a_sequence_that_replaces_a_table_fails_the_query(server, tmp_path: Path):
    with LocalQuery(options(server, ".*"), Recording(tmp_path).create()) as query:
        read(query)
        server.execute("CREATE OR REPLACE SEQUENCE d.u")
        with pytest.raises(SchemaError, match=r"about d\.u replaces the table, whose rows vanish"):
            read(query)
