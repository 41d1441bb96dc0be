"""What mysql-replication loses or corrupts silently is read correctly here, or refused with a hint."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog import Capture, Statement
from datasources.mysql.ddl import Action, classify, concerns
from datasources.mysql.types import ZeroDates
from tests.support.mysql.mysql_binlog import everything, images, position, read_changes, reader_at, rows_of
from tests.support.mysql.mysql_server import MySqlServer, every_mysql, every_server

pytestmark = [pytest.mark.mysql, pytest.mark.usefixtures("native_first")]


@contextmanager
def _session(server: MySqlServer, *statements: str) -> Iterator[tuple[Any, str]]:
    """Give a cursor in a database of its own, after these statements."""
    database = server.create_database("faults")
    with closing(server.connect(charset="utf8mb4", database=database)) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        yield cursor, database


@every_mysql
def test_rows_of_compressed_transactions_are_there(mysql: MySqlServer):
    with _session(mysql, "SET binlog_transaction_compression = ON") as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200))")
        cursor.execute("CREATE TABLE other (id INT PRIMARY KEY)")
        start = position(mysql)
        cursor.execute("BEGIN")
        for first in range(0, 60_000, 10_000):
            rows = ", ".join(f"({n}, REPEAT('{n % 7}', 200))" for n in range(first, first + 10_000))
            cursor.execute(f"INSERT INTO t VALUES {rows}")
        cursor.execute("INSERT INTO other VALUES (1)")
        cursor.execute("UPDATE t SET v = NULL WHERE id < 3")
        cursor.execute("COMMIT")
        end = position(mysql)
    with closing(reader_at(mysql, start, everything(database))) as reader:
        batches = rows_of(list(reader))

        assert reader.position == end
        assert end.pos - start.pos < 1_000_000  # it was compressed indeed
    of_t = [batch for batch in batches if batch.table.table == "t"]
    assert len(of_t) > 2  # in pieces, never as a whole
    assert [n for b in of_t for n in b.images["id"].to_pylist()] == [*range(60_000), 0, 0, 1, 1, 2, 2]
    assert of_t[-1].images["v"].to_pylist()[-2:] == ["2" * 200, None]
    # The row numbers order the changes although all are in one event.
    assert len({int(pos) for b in batches for pos in b.pos}) == 1
    assert [int(n) for b in of_t for n in b.row] == [*range(60_000), 60_001, 60_001, 60_002, 60_002, 60_003, 60_003]
    assert {gtid for b in batches for gtid in b.transactions.texts().to_pylist()} == {reader.gtid}


@pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)
def test_rows_of_events_that_mariadb_compressed_are_there(mysql: MySqlServer):
    with mysql.settings(log_bin_compress=1, log_bin_compress_min_len=10), _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(2000))")
        start = position(mysql)
        cursor.execute("INSERT INTO t VALUES (1, REPEAT('a', 2000)), (2, NULL)")
        cursor.execute("UPDATE t SET v = REPEAT('b', 1000)")
        cursor.execute("DELETE FROM t WHERE id = 1")
        size = position(mysql).pos - start.pos
        changes = read_changes(mysql, start, everything(database))
    a, b = "a" * 2000, "b" * 1000
    assert size < 2000
    assert [(kind, row["id"], row["v"]) for kind, row in images(changes)] == [
        ("+I", 1, a), ("+I", 2, None), ("-U", 1, a), ("+U", 1, b), ("-U", 2, None), ("+U", 2, b), ("-D", 1, b),
    ]  # fmt: skip


@every_server
def test_a_map_without_names_is_refused_with_the_statement_to_run(mysql: MySqlServer):
    with mysql.settings(binlog_row_metadata="MINIMAL"), _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT UNSIGNED PRIMARY KEY, e ENUM('a', 'b'))")
        start = position(mysql)
        cursor.execute("INSERT INTO t VALUES (4294967295, 'a')")
    with pytest.raises(SchemaError, match=f"{database}.t .*SET PERSIST binlog_row_metadata = 'FULL'"):
        read_changes(mysql, start, everything(database))
    assert read_changes(mysql, start, everything("another")) == []


@every_server
def test_incomplete_images_are_refused_with_the_statement_to_run(mysql: MySqlServer):
    with _session(mysql, "SET binlog_row_image = 'MINIMAL'") as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)")
        cursor.execute("INSERT INTO t VALUES (1, 2, 3)")
        start = position(mysql)
        cursor.execute("UPDATE t SET b = 4")
    with pytest.raises(SchemaError, match=f"{database}.t .*SET PERSIST binlog_row_image = 'FULL'"):
        read_changes(mysql, start, everything(database))


@every_server
def test_column_names_are_those_at_the_event_also_after_alter(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(9))")
        start = position(mysql)
        cursor.execute("INSERT INTO t VALUES (1, 2, 'x')")
        cursor.execute("ALTER TABLE t ADD COLUMN c INT FIRST, RENAME COLUMN a TO z, MODIFY b VARBINARY(9)")
        cursor.execute("INSERT INTO t VALUES (9, 2, 3, 'y')")
        cursor.execute("ALTER TABLE t DROP COLUMN z")
        cursor.execute("INSERT INTO t VALUES (9, 3, 'z')")
    changes = read_changes(mysql, start, everything(database))
    assert [row for _, row in images(changes)] == [
        {"id": 1, "a": 2, "b": "x"},
        {"c": 9, "id": 2, "z": 3, "b": b"y"},
        {"c": 9, "id": 3, "b": b"z"},
    ]


@every_server
def test_zero_dates_are_refused_or_null_and_never_another_date(mysql: MySqlServer):
    with _session(mysql, "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'") as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT, d DATE, t DATETIME(3), s TIMESTAMP(2) NULL)")
        start = position(mysql)
        cursor.execute("INSERT INTO t VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00')")
        cursor.execute("INSERT INTO t VALUES (2, '2020-00-15', '2020-02-00', '1970-01-01 00:00:01')")
        cursor.execute("INSERT INTO t VALUES (3, '2023-02-29', '2023-02-29', NULL)")
        cursor.execute("INSERT INTO t VALUES (4, '2024-02-29', '2024-02-29', NULL)")
    with pytest.raises(RecordError, match=f"{database}.t.d' holds '0000-00-00'.*zero-dates"):
        read_changes(mysql, start, everything(database))
    changes = read_changes(
        mysql, start, lambda name, _: Capture(zero_dates=ZeroDates.NULL) if name == database else None
    )
    day, second = dt.datetime(2024, 2, 29), dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)
    assert [tuple(row.values()) for _, row in images(changes)] == [
        (1, None, None, None), (2, None, None, second), (3, None, None, None), (4, day.date(), day, None),
    ]  # fmt: skip


@pytest.mark.parametrize("mysql", ["newest"], indirect=True)
def test_tagged_gtids_are_read(mysql: MySqlServer):
    tag = f"t{time.time_ns()}"  # that this server has not seen yet
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        cursor.execute("SELECT @@server_uuid")
        (uuid,) = cursor.fetchone()
        start = position(mysql)
        cursor.execute("SET gtid_next = 'AUTOMATIC:bulk_load'")
        cursor.execute("INSERT INTO t VALUES (1), (2)")
        cursor.execute(f"SET gtid_next = '{uuid}:{tag}:70000'")
        cursor.execute("INSERT INTO t VALUES (3)")
        cursor.execute("SET gtid_next = 'AUTOMATIC'")
        cursor.execute("INSERT INTO t VALUES (4)")
        cursor.execute("SELECT @@gtid_executed, UNIX_TIMESTAMP() * 1000000")
        executed, now_us = cursor.fetchone()
    batches = rows_of(read_changes(mysql, start, everything(database)))
    gtids = [gtid for batch in batches for gtid in batch.transactions.texts().to_pylist()]
    assert gtids[0] == gtids[1]
    assert gtids[0].startswith(f"{uuid}:bulk_load:")
    assert gtids[2] == f"{uuid}:{tag}:70000"
    assert gtids[3].rpartition(":")[0] == uuid
    assert all(abs(int(us) - now_us) < 60_000_000 for batch in batches for us in batch.op_ts_us)
    # A set with tags can be used as a start: only other transactions are emitted.
    again = read_changes(mysql, executed, everything(database))
    assert rows_of(again) == []
    assert f":{tag}:70000" in executed
    behind = read_changes(mysql, executed.replace(f":{tag}:70000", ""), everything(database))
    assert [row["id"] for _, row in images(behind)] == [3]


@every_server
def test_a_reader_by_gtid_begins_after_what_was_read(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute("SELECT @@GLOBAL.gtid_binlog_pos" if mysql.is_mariadb else "SELECT @@GLOBAL.gtid_executed")
        (read_already,) = cursor.fetchone()
        cursor.execute("INSERT INTO t VALUES (2)")
        cursor.execute("FLUSH BINARY LOGS")
        cursor.execute("INSERT INTO t VALUES (3)")
        end = position(mysql)
    with closing(reader_at(mysql, read_already, everything(database))) as reader:
        assert [row["id"] for _, row in images(list(reader))] == [2, 3]
        assert reader.position == end


@every_server
def test_changes_written_as_statements_are_refused(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        start = position(mysql)
        cursor.execute("SET binlog_format = 'STATEMENT'")
        cursor.execute("INSERT INTO t VALUES (1)")
    (change,) = read_changes(mysql, start, everything(database))
    assert isinstance(change, Statement)
    assert concerns(change, database.__eq__, lambda *_: True)
    effect = classify(change, {}, lambda *_: True)
    assert effect.action is Action.STOP
    error = effect.error(change).message
    assert "binlog_format=ROW" in error
    assert f"'scan.skip-transactions' = '{start}' skips this one" in error
    assert concerns(change, "another".__eq__, lambda *_: False) == mysql.is_mariadb  # which does not list databases
