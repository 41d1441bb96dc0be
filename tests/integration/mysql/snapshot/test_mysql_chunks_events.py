"""What happens to tables between the snapshot position and the read: commits in flight, DDL, XA; and what readers reject."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pytest

from datasources.embedded import MySqlVersion
from datasources.errors import DataLossError, OptionError, RecordError, SchemaError, SourceUnavailable
from datasources.mysql.binlog import BinlogPosition, StopRule, XaChange
from datasources.mysql.config.mysql_options import NoKeyPolicy, SnapshotLocking
from datasources.mysql.snapshot.chunks import read_as_of
from datasources.mysql.snapshot.requests import ChunkRequest, SnapshotSettings
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.mysql.types import ZeroDates
from tests.support.mysql.mysql_binlog import everything, position, read_changes, rows_of
from tests.support.mysql.mysql_chunks import read, reader_settings, rows_by_range, schema_of, whole
from tests.support.mysql.mysql_hole import commit_between_flush_and_engine
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_mysql, every_server
from tests.support.mysql.mysql_xa import commit_in_one_phase, decide, prepare
from tests.support.mysql_values.mysql_types_matrix import CASES

pytestmark = pytest.mark.mysql


@pytest.fixture
def database(mysql: MySqlServer) -> str:
    """A database with t: 1..3."""
    name = mysql.create_database("events")
    mysql.execute(
        f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v INT)", f"INSERT INTO {name}.t VALUES (1, 10), (2, 20), (3, 30)"
    )
    return name


BEFORE = [(1, 10), (2, 20), (3, 30)]


@every_mysql
def test_a_commit_that_is_in_the_binlog_and_not_yet_visible_is_read(mysql: MySqlServer):
    name = mysql.create_database()
    mysql.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY)")
    request, settings = whole(schema_of(mysql, name)), reader_settings(mysql, "id")
    with (
        closing(mysql.connect(mysql.reader)) as reader,
        commit_between_flush_and_engine(mysql, f"{name}.t", reader) as as_of,
    ):
        assert read(settings, BinlogPosition(*as_of), request) == [(1,)]


def test_a_skipped_transaction_does_not_block_the_read_of_a_range(mysql: MySqlServer, database: str):
    as_of = position(mysql)
    mysql.execute("SET binlog_format = 'STATEMENT'", f"UPDATE {database}.t SET v = 11 WHERE id = 1")
    mysql.execute(f"UPDATE {database}.t SET v = 21 WHERE id = 2")
    request = whole(schema_of(mysql, database))
    with pytest.raises(SchemaError, match=rf"'scan.skip-transactions' = '{as_of}'"):
        read(reader_settings(mysql, "id", "v"), as_of, request)
    settings = reader_settings(mysql, "id", "v", skipped=frozenset({as_of}))
    assert read(settings, as_of, request) == [(1, 11), (2, 20), (3, 30)]


def test_without_gtids_a_snapshot_needs_a_short_lock_that_must_be_allowed(own_mysql: OpenMySql):
    server = own_mysql(MySqlVersion.V8_0, gtid_mode="OFF", enforce_gtid_consistency="OFF")
    name = server.create_database()
    server.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY)")
    login = server.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    request = whole(schema_of(server, name))
    with pytest.raises(OptionError, match=r"has no GTIDs.*'scan\.snapshot\.locking' = 'minimal'"):
        read(reader_settings(server, "id"), position(server), request)
    with pytest.raises(SourceUnavailable, match="Access denied"):
        read(reader_settings(server, "id", locking=SnapshotLocking.MINIMAL), position(server), request)
    settings = reader_settings(server, "id", locking=SnapshotLocking.MINIMAL, login=login)
    with (
        closing(server.connect(login)) as reader,
        commit_between_flush_and_engine(server, f"{name}.t", reader) as as_of,
    ):
        assert read(settings, BinlogPosition(*as_of), request) == [(1,)]
    before = position(server)
    server.execute(f"INSERT INTO {name}.t VALUES (2)", f"UPDATE {name}.t SET id = 7 WHERE id = 1")
    assert read(settings, before, request) == [(1,)]
    assert read(settings, position(server), request) == [(2,), (7,)]
    server.execute(f"DROP TABLE {name}.t")
    assert read(settings, before, request) == []


@every_server
@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE t",
        "DROP TABLE t",
        "RENAME TABLE t TO t_old, other TO t",
        "ALTER TABLE t RENAME TO t_old",
        "DROP DATABASE {}",
    ],
)
def test_a_table_that_was_emptied_or_replaced_yields_no_rows_and_others_do(
    mysql: MySqlServer, database: str, statement: str
):
    second = mysql.create_database()
    mysql.execute(
        f"CREATE TABLE {database}.other (id INT PRIMARY KEY, v INT)",
        f"INSERT INTO {database}.other VALUES (100, 1)",
        f"CREATE TABLE {second}.t LIKE {database}.t",
        f"INSERT INTO {second}.t VALUES (9, 9)",
    )
    requests = [whole(schema_of(mysql, database)), whole(schema_of(mysql, second))]
    settings, as_of = reader_settings(mysql, "id", "v"), position(mysql)
    mysql.execute(f"USE {database}", "UPDATE t SET v = 0", statement.format(database))
    if "TRUNCATE" in statement:
        mysql.execute(f"INSERT INTO {database}.t VALUES (1, 1), (5, 5)")
    assert rows_by_range(settings, as_of, requests) == [[], [(9, 9)]]


@every_server
def test_a_table_without_a_key_that_was_emptied_yields_no_rows(mysql: MySqlServer):
    name = mysql.create_database()
    mysql.execute(f"CREATE TABLE {name}.t (v INT)", f"INSERT INTO {name}.t VALUES (1), (1), (NULL)")
    request, as_of = whole(schema_of(mysql, name)), position(mysql)
    login = mysql.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    settings = reader_settings(mysql, "v", no_key=NoKeyPolicy.LOCK, login=login)
    mysql.execute(f"DELETE FROM {name}.t WHERE v = 1 LIMIT 1", f"INSERT INTO {name}.t VALUES (NULL)")
    assert read(settings, as_of, request) == [(1,), (1,), (None,)]
    mysql.execute(f"TRUNCATE {name}.t", f"INSERT INTO {name}.t VALUES (5)")
    assert read(settings, as_of, request) == []
    mysql.execute(f"DROP TABLE {name}.t")
    assert read(settings, as_of, request) == []
    with pytest.raises(OptionError, match=r"has neither a primary key.*'scan\.snapshot\.no-key' = 'lock'"):
        read(reader_settings(mysql, "v"), as_of, request)


@every_server
@pytest.mark.parametrize(
    "statement",
    [
        "ADD COLUMN w INT NOT NULL DEFAULT 5",
        "ADD COLUMN later INT",
        "ADD COLUMN w INT FIRST, ADD INDEX (v), COMMENT = 'x, DROP COLUMN v'",
        "DROP COLUMN junk",
        "RENAME COLUMN junk TO other",
        "MODIFY junk BIGINT FIRST",
        "ALTER COLUMN v SET DEFAULT 7",
        "ENGINE = InnoDB",
    ],
)
def test_columns_that_are_not_read_may_be_added_and_dropped(mysql: MySqlServer, database: str, statement: str):
    mysql.execute(f"ALTER TABLE {database}.t ADD COLUMN junk INT NOT NULL DEFAULT 4")
    request, as_of = whole(schema_of(mysql, database)), position(mysql)
    mysql.execute(
        f"USE {database}",
        "UPDATE t SET v = 11 WHERE id = 1",
        f"ALTER TABLE t {statement}",
        "UPDATE t SET v = 12 WHERE id < 3",
        "DELETE FROM t WHERE id = 3",
    )
    settings = reader_settings(mysql, "id", "v", "later")
    assert read(settings, as_of, request) == [(*row, None) for row in BEFORE]
    [(_, batch), *_] = read_as_of(settings, as_of, [request], {})
    assert batch.schema.types == [pa.int32(), pa.int32(), pa.null()]


@every_server
@pytest.mark.parametrize(
    "statement",
    [
        "MODIFY v BIGINT",
        "DROP COLUMN v",
        "CHANGE v w INT",
        "RENAME COLUMN v TO w",
        "ADD COLUMN x INT, DROP PRIMARY KEY",
        "CONVERT TO CHARACTER SET latin1",
    ],
)
def test_ddl_that_may_change_rows_fails_the_read_with_the_statement(mysql: MySqlServer, database: str, statement: str):
    request, as_of = whole(schema_of(mysql, database)), position(mysql)
    mysql.execute(f"ALTER TABLE {database}.t {statement}")
    with pytest.raises(SchemaError, match=r"was altered while its snapshot was read.*scan.snapshot.again") as raised:
        read(reader_settings(mysql, "id", "v"), as_of, request)
    assert statement in str(raised.value)


@every_server
def test_xa_transactions_count_from_their_commit(mysql: MySqlServer, database: str):
    names = [f"{database}_{n}" for n in range(4)]
    start = position(mysql)
    prepare(mysql, database, names[0], "UPDATE t SET v = 0 WHERE id = 1", "INSERT INTO t VALUES (7, 70)")
    prepare(mysql, database, names[1], "DELETE FROM t WHERE id = 2")
    open_at = {
        change.xid: change.position
        for change in read_changes(mysql, start, everything(database))
        if isinstance(change, XaChange)
    }
    request, as_of = whole(schema_of(mysql, database)), position(mysql)
    settings = reader_settings(mysql, "id", "v")
    assert read(settings, as_of, request, prepared=open_at) == BEFORE
    decide(mysql, "COMMIT", names[0])
    prepare(mysql, database, names[2], "UPDATE t SET v = 99 WHERE id = 3")
    assert read(settings, as_of, request, prepared=open_at) == BEFORE
    decide(mysql, "COMMIT", names[2])
    decide(mysql, "ROLLBACK", names[1])
    commit_in_one_phase(mysql, database, names[3], "UPDATE t SET id = 8 WHERE id = 2")
    assert read(settings, as_of, request, prepared=open_at) == BEFORE
    assert read(settings, position(mysql), request) == [(1, 0), (3, 99), (7, 70), (8, 20)]
    with pytest.raises(DataLossError, match="XA RECOVER"):
        read(settings, as_of, request)


@every_server
def test_columns_are_as_declared_and_masked_ones_are_never_read(mysql: MySqlServer):
    name = mysql.create_database()
    mysql.execute(
        f"CREATE TABLE {name}.t (id INT PRIMARY KEY, secret VARCHAR(9), v INT)",
        f"INSERT INTO {name}.t VALUES (1, 'x', 2), (2, 'y', 3)",
    )
    as_of = position(mysql)
    mysql.execute(f"UPDATE {name}.t SET secret = 'z'")
    login = mysql.create_login("REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    mysql.execute(f"GRANT SELECT (id, v) ON {name}.t TO '{login.user}'@'%'")
    settings = reader_settings(mysql, "v", "secret", "nowhere", masked=frozenset({"secret", "id"}), login=login)
    request = whole(schema_of(mysql, name))
    [(given, batch)] = list(read_as_of(settings, as_of, [request], {}))
    assert given is request
    assert batch.to_pylist() == [{"v": 2, "secret": None, "nowhere": None}, {"v": 3, "secret": None, "nowhere": None}]
    assert batch.schema.types == [pa.int32(), pa.string(), pa.null()]


@every_mysql
def test_a_generated_invisible_key_divides_a_table(mysql: MySqlServer):
    name = mysql.create_database()
    with closing(mysql.connect(database=name)) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_generate_invisible_primary_key = ON")
        cursor.execute("CREATE TABLE t (v INT, w INT AS (v + 1), s INT AS (v + 2) STORED)")
        cursor.execute("INSERT INTO t (v) VALUES (1), (1), (2)")
    schema, as_of = schema_of(mysql, name), position(mysql)
    mysql.execute(f"UPDATE {name}.t SET v = 5 WHERE v = 1 LIMIT 1", f"DELETE FROM {name}.t WHERE v = 2")
    requests = [
        ChunkRequest(schema=schema, wanted=wanted) for wanted in (KeyRange(upper=("2",)), KeyRange(lower=("2",)))
    ]
    settings = reader_settings(mysql, "v", "w", "s")
    assert rows_by_range(settings, as_of, requests) == [[(1, 2, 3), (1, 2, 3)], [(2, 3, 4)]]


@pytest.fixture
def zero_dates(mysql: MySqlServer) -> Iterator[str]:
    name = mysql.create_database()
    with closing(mysql.connect(database=name)) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = ''")
        cursor.execute("CREATE TABLE t (id DATE PRIMARY KEY, d DATETIME)")
        cursor.execute("INSERT INTO t VALUES ('2024-01-01', '2020-00-01'), ('2024-01-02', '2024-01-01')")
        yield name


def test_zero_dates_are_an_error_or_null_and_no_key(mysql: MySqlServer, zero_dates: str):
    request, as_of = whole(schema_of(mysql, zero_dates)), position(mysql)
    with pytest.raises(RecordError, match=r"\.t\.d' holds '2020-00-01'"):
        read(reader_settings(mysql, "d"), as_of, request)
    settings = reader_settings(mysql, "d", zero_dates=ZeroDates.NULL)
    valid = dt.datetime(2024, 1, 1)
    assert read(settings, as_of, request) == [(None,), (valid,)]
    with closing(mysql.connect(database=zero_dates)) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = ''")
        cursor.execute("DELETE FROM t")
        assert read(settings, as_of, request) == [(None,), (valid,)]
        cursor.execute("INSERT INTO t VALUES ('0000-00-00', NULL)")
    with pytest.raises(RecordError, match="key column 'id' holds an invalid date"):
        read(settings, as_of, request)


@every_server
def test_the_rate_of_rows_is_limited(mysql: MySqlServer):
    name = mysql.create_database()
    values = ", ".join(f"({n})" for n in range(400))
    mysql.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY)", f"INSERT INTO {name}.t VALUES {values}")
    schema, as_of = schema_of(mysql, name), position(mysql)
    requests = [
        ChunkRequest(schema=schema, wanted=KeyRange(lower=(str(n - 1),), upper=(str(n + 99),)))
        for n in range(0, 400, 100)
    ]
    begin = time.monotonic()
    assert len(read(reader_settings(mysql, "id", max_rows_per_second=1000), as_of, *requests)) == 400
    assert time.monotonic() - begin >= 0.4


@every_server
def test_a_read_that_exceeds_its_time_limit_is_an_error(mysql: MySqlServer):
    name = mysql.create_database()
    values = ", ".join(f"({n}, REPEAT('x', 60000))" for n in range(300))
    mysql.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v LONGTEXT)", f"INSERT INTO {name}.t VALUES {values}")
    request = ChunkRequest(schema=schema_of(mysql, name), wanted=KeyRange(lower=("-1",)))
    settings = reader_settings(mysql, "v", select_timeout_ms=1)
    with pytest.raises(SourceUnavailable, match=r"was ended by the server.*chunk\.size"):
        _read_often(settings, position(mysql), request)


def _read_often(settings: SnapshotSettings, as_of: BinlogPosition, request: ChunkRequest) -> None:
    """The server's timer may be late by more than a read takes."""
    for _ in range(50):
        read(settings, as_of, request)


@every_server
def test_a_reader_that_is_left_behind_leaves_no_session(mysql: MySqlServer, database: str):
    values = ", ".join(f"({n}, REPEAT('x', 60000))" for n in range(300))
    mysql.execute(f"CREATE TABLE {database}.n (id INT, v LONGTEXT)", f"INSERT INTO {database}.n VALUES {values}")
    login = mysql.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    settings = reader_settings(mysql, "id", "v", login=login, no_key=NoKeyPolicy.LOCK)
    rows = read_as_of(settings, position(mysql), [whole(schema_of(mysql, database, "n"))], {})
    assert next(rows)[1].num_rows < 300
    rows.close()  # type: ignore[attr-defined]
    count = f"SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{login.user}'"
    assert any(mysql.execute(count) == [(0,)] or time.sleep(0.05) for _ in range(100))  # noqa: TID251 - sessions end


@every_server
def test_every_type_has_the_value_of_the_binlog(mysql: MySqlServer):
    name = mysql.create_database("types")
    cases = [case for case in CASES if mysql.version.value in case.servers]
    columns = ", ".join(f"`{case.name}` {case.ddl}" for case in cases)
    start = position(mysql)
    with closing(mysql.connect(charset="utf8mb4", database=name)) as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00', sql_mode = ''")
        cursor.execute(f"CREATE TABLE t (id INT PRIMARY KEY, {columns}) ROW_FORMAT=DYNAMIC")
        for number in range(max(len(case.values) for case in cases) + 1):
            literals = [case.values[number][0] if number < len(case.values) else "NULL" for case in cases]
            cursor.execute(f"INSERT INTO t VALUES ({number}, {', '.join(literals)})")
    schema, as_of = schema_of(mysql, name), position(mysql)
    types = {column.name: column.type for column in schema.columns}
    changes = rows_of(read_changes(mysql, start, everything(name, types), stop=StopRule(to=as_of)))
    expected = pa.Table.from_batches([batch.images for batch in changes])
    settings = reader_settings(mysql, *types)

    def found() -> pa.Table:
        batches = [batch for _, batch in read_as_of(settings, as_of, [whole(schema)], {})]
        return pa.Table.from_batches(batches).sort_by("id")

    assert found().equals(expected)
    mysql.execute(f"DELETE FROM {name}.t WHERE id MOD 2 = 1", f"UPDATE {name}.t SET id = id + 1000 WHERE id MOD 4 = 2")
    assert found().equals(expected)
    for each in expected.schema.names[1:]:
        assert expected[each].null_count < expected.num_rows
