"""Results straight off the socket: any length, any NULLs, errors at any position, and the connection remains usable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pymysql
import pytest

from datasources.errors import RecordError
from datasources.mysql.config.mysql_options import TlsMode
from datasources.mysql.connection.connection import connect
from datasources.mysql.connection.tls import TlsSettings
from datasources.mysql.snapshot.result_rows import ResultColumn, read_rows
from datasources.mysql.types import ColumnType, Kind
from tests.support.mysql.mysql_chunks import reader_settings
from tests.support.mysql.mysql_server import MySqlServer, every_server

pytestmark = [pytest.mark.mysql, pytest.mark.usefixtures("native_first")]

INT = ColumnType(kind=Kind.INTEGER, width=8)
BYTES = ColumnType(kind=Kind.BINARY)


def column(name: str, type_: ColumnType = INT) -> ResultColumn:
    return ResultColumn(name, type_, f"t.{name}")


@pytest.fixture
def session(mysql: MySqlServer) -> Iterator[Any]:
    with closing(mysql.connect(mysql.reader, charset="utf8mb4")) as connection:
        yield connection


def rows(connection: Any, statement: str, *columns: ResultColumn) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for batch in read_rows(connection, statement, columns) for row in batch.to_pylist()]


@every_server
def test_lengths_at_every_limit_of_the_protocol(mysql: MySqlServer):
    sizes = [0, 1, 250, 251, 252, 65_535, 65_536, 16_777_200, 16_777_215, 16_777_216, 34_000_000]
    with mysql.settings(max_allowed_packet=64 << 20), closing(mysql.connect()) as connection:
        for size in sizes:
            statement = f"SELECT 1, REPEAT('x', {size}), 2 UNION ALL SELECT 3, NULL, NULL UNION ALL SELECT 4, 'y', 5"
            found = rows(connection, statement, column("a"), column("b", BYTES), column("c"))
            assert found == [(1, b"x" * size, 2), (3, None, None), (4, b"y", 5)]


@every_server
def test_many_columns_with_every_pattern_of_null(mysql: MySqlServer, session: Any):
    count = 300
    columns = [column(f"c{n}", INT if n % 3 else BYTES) for n in range(count)]

    def value(row: int, at: int) -> str:
        if (row * 7 + at * at) % 5 < row % 5:
            return "NULL"
        return str(-at) if at % 3 else f"'{'v' * (at % 40)}'"

    selects = " UNION ALL ".join(
        "SELECT "
        + ", ".join(f"{value(row, at)} AS c{at}" if row else (f"{at}" if at % 3 else "''") for at in range(count))
        for row in range(12)
    )
    with session.cursor() as cursor:
        cursor.execute(selects)
        expected = [
            tuple(value.encode() if isinstance(value, str) else value for value in row) for row in cursor.fetchall()
        ]
    assert rows(session, selects, *columns) == expected
    assert len(expected) == 12


@every_server
def test_many_rows_arrive_in_few_batches_and_none_is_lost(mysql: MySqlServer, session: Any):
    numbers = " UNION ALL ".join(f"SELECT {n} AS n" for n in range(10))
    statement = f"WITH d AS ({numbers}) SELECT a.n + 10*b.n + 100*c.n + 1000*d.n + 10000*e.n FROM d a, d b, d c, d, d e"
    batches = list(read_rows(session, statement, [column("n")]))
    assert sorted(pa.Table.from_batches(batches)["n"].to_pylist()) == list(range(100_000))
    assert len(batches) < 60


@every_server
def test_nothing_and_errors_leave_the_connection_usable(mysql: MySqlServer, session: Any):
    for _ in range(3):
        assert rows(session, "SELECT 1 FROM DUAL WHERE FALSE", column("a")) == []
        with pytest.raises(pymysql.MySQLError, match="nowhere"):
            rows(session, "SELECT 1 FROM nowhere.t", column("a"))
        # Fails at its third row.
        with pytest.raises(pymysql.MySQLError, match="more than 1 row"):
            rows(
                session,
                "SELECT IF(n < 3, n, (SELECT 1 UNION SELECT 2)) FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS d",
                column("a"),
            )
        assert rows(session, "SELECT 5", column("a")) == [(5,)]
        with session.cursor() as cursor:
            cursor.execute("SELECT 6")
            assert cursor.fetchone() == (6,)
    count = mysql.execute("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")[0][1]
    assert int(count) == 0


@every_server
def test_a_result_of_another_type_is_an_error(mysql: MySqlServer, session: Any):
    with pytest.raises(RecordError, match=r"'t\.a': the server returned type 5 for a date of its catalog"):
        rows(session, "SELECT 1e0", column("a", ColumnType(kind=Kind.DATE)))


@every_server
def test_results_come_through_tls(mysql: MySqlServer):
    settings = reader_settings(mysql).connection
    with closing(connect(replace(settings, tls=TlsSettings(mode=TlsMode.REQUIRED)))) as connection:
        assert connection._secure
        found = rows(connection, "SELECT 1, REPEAT('x', 9000000)", column("a"), column("b", BYTES))
    assert found == [(1, b"x" * 9_000_000)]
