"""Positions, stop rules, transactions, statements, XA and large packets, on real servers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any

import pymysql
import pytest

from datasources.errors import DataLossError, OffsetError, SourceUnavailable
from datasources.mysql.binlog import (
    BinlogPosition,
    BinlogRows,
    Capture,
    DumpRequest,
    Idle,
    Statement,
    StatementKind,
    StopRule,
    XaChange,
    XaOutcome,
    open_dump,
)
from tests.support.mysql.mysql_binlog import everything, images, position, read_changes, reader_at, rows_of
from tests.support.mysql.mysql_server import MySqlServer, every_mysql, every_server

pytestmark = pytest.mark.mysql


@contextmanager
def _session(server: MySqlServer, **settings: Any) -> Iterator[tuple[Any, str]]:
    database = server.create_database("reader")
    with closing(server.connect(charset="utf8mb4", database=database, **settings)) as connection:
        yield connection.cursor(), database


@every_server
def test_changes_have_position_kind_time_and_transaction(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))")
        start, before_us = position(mysql), time.time_ns() // 1000
        cursor.execute("BEGIN")
        cursor.execute("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
        cursor.execute("UPDATE t SET v = 'b'")
        cursor.execute("COMMIT")
        cursor.execute("DELETE FROM t WHERE id = 1")
        end = position(mysql)
    with closing(reader_at(mysql, start, everything(database))) as reader:
        (batch,) = list(reader)
        assert isinstance(batch, BinlogRows)
        assert reader.position == end
        assert reader.passed_bytes == end.pos - start.pos
        assert reader.changed_rows == batch.changes == 5
    assert batch.row_kinds().to_pylist() == ["+I", "+I", "-U", "+U", "-U", "+U", "-D"]
    assert batch.images.to_pydict() == {"id": [1, 2, 1, 1, 2, 2, 1], "v": ["a", None, "a", "b", None, "b", "b"]}
    assert batch.row.tolist() == [0, 1, 0, 0, 1, 1, 0]
    order_keys = list(zip(batch.pos.tolist(), batch.row.tolist(), strict=True))
    assert order_keys == sorted(order_keys)
    assert start.pos < order_keys[0][0]
    assert order_keys[-1][0] < end.pos
    assert batch.table.primary_key == ("id",)
    gtids = batch.transactions.texts().to_pylist()
    assert gtids[:6] == [gtids[0]] * 6
    assert gtids[6] == reader.gtid != gtids[0]
    slack_us = 1_000_000 if mysql.is_mariadb else 0  # whole seconds there
    assert before_us - slack_us <= batch.op_ts_us[0] <= batch.op_ts_us[6] <= time.time_ns() // 1000
    assert abs(int(batch.source_ts_us[0]) - before_us) < 10_000_000


def _transactions(server: MySqlServer, sizes: tuple[int, ...]) -> tuple[str, BinlogPosition, list[BinlogPosition]]:
    """Commit transactions of so many rows in t, in two files; return the position before and after each."""
    with _session(server) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(300))")
        cursor.execute("CREATE TABLE not_captured (id INT PRIMARY KEY AUTO_INCREMENT)")
        start, marks = position(server), []
        for size in sizes:
            cursor.execute("BEGIN")
            for _ in range(size):
                cursor.execute("INSERT INTO t (v) VALUES (REPEAT('x', 300))")
                cursor.execute("INSERT INTO not_captured VALUES ()")
            cursor.execute("COMMIT")
            marks.append(position(server))
            if size == sizes[2]:
                cursor.execute("FLUSH BINARY LOGS")
    return database, start, marks


@every_server
def test_reading_stops_between_transactions_and_resumes_there(mysql: MySqlServer):
    database, start, marks = _transactions(mysql, (1, 7, 3, 1, 12, 2, 5))

    def capture(name: str, table: str) -> Capture | None:
        return Capture() if (name, table) == (database, "t") else None

    def read(begin: BinlogPosition, rule: StopRule) -> tuple[list[int], BinlogPosition]:
        with closing(reader_at(mysql, begin, capture, stop=rule)) as reader:
            found = [row["id"] for _, row in images(list(reader))]
            assert reader.is_done or reader.position >= marks[-1]
            return found, reader.position

    whole = list(range(1, 32))
    assert read(start, StopRule(max_rows=2)) == (whole[:8], marks[1])
    assert read(start, StopRule(max_rows=1)) == (whole[:1], marks[0])
    assert read(start, StopRule(max_bytes=1)) == (whole[:1], marks[0])
    assert read(start, StopRule(max_bytes=marks[1].pos - start.pos)) == (whole[:8], marks[1])
    assert read(start, StopRule(max_bytes=marks[1].pos - start.pos + 1))[0] == whole[:11]
    for mark, count in zip(marks, (1, 8, 11, 12, 24, 26, 31), strict=True):
        assert read(start, StopRule(to=mark))[0] == whole[:count]
    for begin, end in pairwise(marks):
        assert read(begin, StopRule(to=end))[0] == read(begin, StopRule(max_rows=1))[0] != []
    pieces, at = [], start
    while at < marks[-1]:
        found, at = read(at, StopRule(max_rows=4))
        pieces += found
    assert pieces == whole


@every_server
def test_a_start_inside_a_transaction_is_refused(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        start = position(mysql)
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute(f"SHOW BINLOG EVENTS IN '{start.file}' FROM {start.pos}")
        inside = [int(row[1]) for row in cursor.fetchall()][1:]
        cursor.execute("INSERT INTO t VALUES (2)")
    assert len(inside) >= 2
    for pos in inside:
        with pytest.raises(OffsetError, match=f"{start.file}:{pos} continues inside a transaction"):
            read_changes(mysql, BinlogPosition(start.file, pos), everything(database))
    with pytest.raises(DataLossError, match="not between two events"):
        read_changes(mysql, BinlogPosition(start.file, inside[0] + 1), everything(database))


@every_mysql
def test_a_purged_file_is_named(mysql: MySqlServer):
    with pytest.raises(DataLossError, match="SHOW BINARY LOGS"):
        read_changes(mysql, BinlogPosition("binlog.999999", 4), everything("x"))


@every_server
def test_statements_about_captured_tables_are_ordered_and_end_transactions(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        start = position(mysql)
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute("ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 5")
        cursor.execute("TRUNCATE t")
        cursor.execute("INSERT INTO t VALUES (2, 6)")
        cursor.execute("CREATE TABLE other (t INT)")
        cursor.execute("CREATE TABLE made AS SELECT id FROM t")
        cursor.execute("RENAME TABLE t TO t_old, made TO t")
        after_rename = position(mysql)
        cursor.execute("DROP TABLE t_old, other")

    def capture(name: str, table: str) -> Capture | None:
        return Capture() if name == database and table in ("t", "made") else None

    changes = read_changes(mysql, start, capture)
    seen = [c.kind if isinstance(c, Statement) else images([c]) for c in changes]
    assert seen == [
        [("+I", {"id": 1})],
        StatementKind.ALTER_TABLE,
        StatementKind.TRUNCATE_TABLE,
        [("+I", {"id": 2, "w": 6})],
        StatementKind.CREATE_TABLE,
        [("+I", {"id": 2})],
        StatementKind.RENAME_TABLE,
    ]
    rename = changes[-1]
    assert isinstance(rename, Statement)
    assert rename.tables == tuple((database, name) for name in ("t", "t_old", "made", "t"))
    assert rename.position is not None
    with closing(reader_at(mysql, start, capture, stop=StopRule(to=after_rename), is_bounded=False)) as reader:
        assert len(list(reader)) == 7
        assert reader.position == after_rename


@every_mysql
def test_rows_of_xa_transactions_are_emitted_at_their_commit(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        start = position(mysql)
        name = f"'{database}'"
    for number, fate in enumerate(("COMMIT", "ROLLBACK")):
        with closing(mysql.connect(database=database)) as connection:
            cursor = connection.cursor()
            for statement in (
                f"XA START {name},'{number}'",
                f"INSERT INTO t VALUES ({number})",
                f"XA END {name},'{number}'",
                f"XA PREPARE {name},'{number}'",
            ):
                cursor.execute(statement)
        mysql.execute(f"INSERT INTO {database}.t VALUES (10{number})")
        for attempt in range(100):
            try:
                mysql.execute(f"XA {fate} {name},'{number}'")
                break
            except pymysql.err.MySQLError:  # the session that prepared it is not gone yet
                assert attempt < 99
                time.sleep(0.05)  # noqa: TID251 - a server's session ends
    mysql.execute(
        f"XA START {name}", f"INSERT INTO {database}.t VALUES (2)", f"XA END {name}", f"XA COMMIT {name} ONE PHASE"
    )

    changes = read_changes(mysql, start, everything(database))

    xa = [change for change in changes if isinstance(change, XaChange)]
    assert [row["id"] for _, row in images(changes)] == [100, 101]
    assert [change.outcome for change in xa] == [
        XaOutcome.PREPARED, XaOutcome.COMMITTED, XaOutcome.PREPARED, XaOutcome.ROLLED_BACK, XaOutcome.ONE_PHASE,
    ]  # fmt: skip
    assert xa[0].xid == xa[1].xid != xa[2].xid == xa[3].xid
    for change, expected in ((xa[0], 0), (xa[4], 2)):
        begin = change.position
        again = read_changes(
            mysql, begin, everything(database), stop=StopRule(max_bytes=1), released=frozenset({begin})
        )
        assert images(again) == [("+I", {"id": expected})]


@every_server
def test_events_longer_than_packets_are_joined(mysql: MySqlServer):
    size = 34_000_000  # two full packets of 16 MB - 1 and a bit
    with (
        mysql.settings(max_allowed_packet=128 << 20),
        _session(mysql, max_allowed_packet=128 << 20) as (cursor, database),
    ):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, v LONGBLOB)")
        start = position(mysql)
        cursor.execute(f"INSERT INTO t VALUES (1, 'small'), (2, REPEAT('abcdefg', {size // 7}))")
        cursor.execute("INSERT INTO t VALUES (3, REPEAT('y', 16777215 - 60)), (4, 'behind')")
        batches = rows_of(read_changes(mysql, start, everything(database)))
    values = {row: value for b in batches for row, value in zip(*b.images.to_pydict().values(), strict=True)}
    assert values == {1: b"small", 2: b"abcdefg" * (size // 7), 3: b"y" * (16777215 - 60), 4: b"behind"}


@every_server
def test_an_open_dump_emits_idle_at_the_log_end_and_continues(mysql: MySqlServer):
    with _session(mysql) as (cursor, database):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        start = position(mysql)
        with closing(reader_at(mysql, start, everything(database), is_bounded=False)) as reader:
            changes = iter(reader)
            first = next(changes)
            assert first == Idle(position=start)
            cursor.execute("INSERT INTO t VALUES (1)")
            end = position(mysql)
            found = next(change for change in changes if not isinstance(change, Idle))
            assert images([found]) == [("+I", {"id": 1})]
            assert next(changes) == Idle(position=end)


@every_mysql
def test_a_reader_of_the_same_name_replaces_the_first_with_a_clear_error(mysql: MySqlServer):
    start = position(mysql)
    request = DumpRequest(start=start, server_id=4_000_001, replica_uuid="11111111-2222-3333-4444-555555555555")
    with closing(open_dump(mysql.connect(mysql.reader, read_timeout=30), request)) as first:
        blocks = first.blocks()
        next(blocks)
        other = DumpRequest(start=start, server_id=4_000_002, replica_uuid=request.replica_uuid)
        with closing(open_dump(mysql.connect(mysql.reader, read_timeout=30), other)) as second:
            next(second.blocks())
            with pytest.raises(SourceUnavailable, match="another reader replaced this one.*server-id"):
                for _ in blocks:
                    pass


@every_server
def test_many_columns_and_large_events_decode(mysql: MySqlServer):
    count = 300
    with _session(mysql) as (cursor, database):
        columns = ", ".join(f"c{n} {'VARCHAR(9)' if n % 3 else 'INT'}" for n in range(count))
        cursor.execute(f"CREATE TABLE wide (id INT PRIMARY KEY, {columns})")
        cursor.execute("CREATE TABLE long_events (id INT PRIMARY KEY, v VARCHAR(40), w INT)")
        start = position(mysql)
        names = [f"c{n}" for n in range(0, count, 7)]
        cursor.execute(f"INSERT INTO wide (id, {', '.join(names)}) VALUES (1, {', '.join('5' for _ in names)})")
        rows = ", ".join(f"({n}, {'NULL' if n % 5 == 0 else repr('v' * (n % 40))}, {n})" for n in range(20_000))
        cursor.execute(f"INSERT INTO long_events VALUES {rows}")
    changes = read_changes(mysql, start, everything(database))
    ((_, wide),) = images(changes, "wide")
    assert {name: value for name, value in wide.items() if value is not None} == {
        "id": 1, **{name: "5" if int(name[1:]) % 3 else 5 for name in names},
    }  # fmt: skip
    found = [tuple(row.values()) for _, row in images(changes, "long_events")]
    assert found == [(n, None if n % 5 == 0 else "v" * (n % 40), n) for n in range(20_000)]
