"""A position of the binlog does not make rows visible; the barrier does."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from datasources.embedded import MySqlVersion
from datasources.errors import SourceUnavailable
from datasources.mysql.connection.server_dialect import server_version
from datasources.mysql.snapshot.barrier import (
    open_locked_snapshot,
    open_positioned_snapshot,
    wait_until_visible,
)
from tests.support.mysql.mysql_hole import commit_between_flush_and_engine, rows, status
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_mysql

pytestmark = pytest.mark.mysql


@every_mysql
def test_a_committed_row_is_invisible_before_the_barrier_and_visible_after(mysql: MySqlServer):
    table = f"{mysql.create_database()}.t"
    mysql.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    with closing(mysql.connect(mysql.reader)) as reader:
        with commit_between_flush_and_engine(mysql, table, reader):
            assert rows(reader, table) == 0
            assert wait_until_visible(reader) > 1
            assert rows(reader, table) == 1
        assert wait_until_visible(reader) == 1


@every_mysql
def test_a_barrier_does_not_wait_for_later_transactions(mysql: MySqlServer):
    database = mysql.create_database()
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY AUTO_INCREMENT)")
    stop = threading.Event()

    def write() -> None:
        with closing(mysql.connect(database=database)) as writer, writer.cursor() as cursor:
            while not stop.is_set():
                cursor.execute("INSERT INTO t VALUES ()")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with mysql.settings(binlog_group_commit_sync_delay=5_000), closing(mysql.connect(mysql.reader)) as reader:
            for _ in range(20):
                assert wait_until_visible(reader, deadline_s=10) < 1000
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_gtid_that_stays_owned_is_named(mysql: MySqlServer):
    with closing(mysql.connect()) as holder, holder.cursor() as cursor, closing(mysql.connect(mysql.reader)) as reader:
        gtid = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7"
        cursor.execute(f"SET SESSION gtid_next = '{gtid}'")
        cursor.execute("BEGIN")
        with pytest.raises(SourceUnavailable, match=rf"transaction {gtid} did not become visible in 0\.05 s"):
            wait_until_visible(reader, deadline_s=0.05)
        cursor.execute("ROLLBACK")
        cursor.execute("SET SESSION gtid_next = 'AUTOMATIC'")
        assert wait_until_visible(reader) == 1


def test_without_gtids_a_short_lock_is_the_barrier(own_mysql: OpenMySql):
    server = own_mysql(MySqlVersion.V8_0, gtid_mode="OFF", enforce_gtid_consistency="OFF")
    database = server.create_database()
    table = f"{database}.t"
    server.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    login = server.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    with closing(server.connect(login)) as reader, closing(server.connect(login)) as locker:
        with commit_between_flush_and_engine(server, table, reader):
            assert rows(reader, table) == 0
            assert wait_until_visible(reader) == 1  # which is why it is no barrier here
            assert rows(reader, table) == 0
            open_locked_snapshot(locker, reader, database, "t")
            assert rows(reader, table) == 1
        server.execute(f"INSERT INTO {table} VALUES (2)")
        assert rows(reader, table) == 1


@pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)
def test_a_snapshot_of_mariadb_has_all_of_the_binlog_up_to_its_position(mysql: MySqlServer):
    database = mysql.create_database()
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    stop, committed = threading.Event(), [0]

    def write() -> None:
        with closing(mysql.connect(database=database)) as writer, writer.cursor() as cursor:
            while not stop.is_set():
                cursor.execute("INSERT INTO t VALUES (%s)", (committed[0],))
                committed[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with closing(mysql.connect(mysql.reader)) as reader:
            statement = server_version(reader).status_statement
            for _ in range(50):
                at_least, as_of = committed[0], status(reader, statement)
                file, position = open_positioned_snapshot(reader, *as_of)
                assert (file, position) >= as_of
                assert rows(reader, f"{database}.t") >= at_least
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)
def test_a_position_ahead_of_mariadb_is_an_error(mysql: MySqlServer):
    with closing(mysql.connect(mysql.reader)) as reader:
        file, position = status(reader, server_version(reader).status_statement)
        with pytest.raises(SourceUnavailable, match=rf"{file}:{position + 1} .*did not become visible in 0\.05 s"):
            open_positioned_snapshot(reader, file, position + 1, deadline_s=0.05)
        with pytest.raises(SourceUnavailable, match=r"does not end in a number"):
            open_positioned_snapshot(reader, "binlog", 4, deadline_s=0.05)
