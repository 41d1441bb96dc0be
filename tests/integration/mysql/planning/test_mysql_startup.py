"""Each startup mode finds its position, and a missing one is an error that names what exists."""

from __future__ import annotations

from contextlib import closing

import pytest

from datasources.errors import DataLossError, OptionError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.config.mysql_options import StartupOptions
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.server_dialect import server_version
from datasources.mysql.planning.startup_modes import StartPosition, resolve_start
from tests.support.mysql.mysql_binlog import (
    everything,
    images,
    position,
    purge_to_the_last_file,
    read_changes,
    reader_at,
    rows_of,
)
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_mysql, every_server

pytestmark = pytest.mark.mysql


def _settings(server: MySqlServer) -> ConnectionSettings:
    login = server.reader
    return ConnectionSettings(host=login.host, port=login.port, user=login.user, password=login.password, retries=0)


def _resolve(server: MySqlServer, mode: str, **options: object) -> StartPosition:
    keys = {
        "file": "scan.startup.specific-offset.file",
        "pos": "scan.startup.specific-offset.pos",
        "gtids": "scan.startup.specific-offset.gtid-set",
        "millis": "scan.startup.timestamp-millis",
    }
    texts = {keys[name]: str(value) for name, value in options.items()}
    startup = StartupOptions.model_validate({"scan.startup.mode": mode, **texts})
    settings = _settings(server)
    with closing(connect(settings)) as connection:
        return resolve_start(settings, startup, server_version(connection))


def _executed(server: MySqlServer) -> str:
    kind, name = (DomainPositions, "gtid_binlog_pos") if server.is_mariadb else (GtidSet, "gtid_executed")
    return str(kind.parse(server.execute(f"SELECT @@GLOBAL.{name}")[0][0]))


def _ids(server: MySqlServer, start: StartPosition, database: str) -> list[int]:
    begin = start.gtid if start.by_gtid and start.gtid is not None else start.position
    return [row["id"] for _, row in images(read_changes(server, begin, everything(database)), "t")]


def _server_now_ms(server: MySqlServer) -> int:
    """A time of the server with nothing committed in the second around it, which is the precision of MariaDB's log."""
    if server.is_mariadb:
        return int(server.execute("SELECT SLEEP(1.1), UNIX_TIMESTAMP(SYSDATE(3)) * 1000")[0][1]) // 1000 * 1000
    return int(server.execute("SELECT SLEEP(0.005), UNIX_TIMESTAMP(SYSDATE(6)) * 1000")[0][1])


@every_server
def test_the_latest_position_is_the_end_with_exactly_its_transactions(mysql: MySqlServer):
    database = mysql.create_database("latest")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"INSERT INTO {database}.t VALUES (1)")
    for mode in ("latest-offset", "initial", "snapshot"):
        start = _resolve(mysql, mode)
        assert start == StartPosition(
            position=position(mysql), gtid=_executed(mysql), by_gtid=False, log_end=position(mysql)
        )
    mysql.execute(f"INSERT INTO {database}.t VALUES (2)")
    assert _ids(mysql, start, database) == [2]


@every_server
def test_the_earliest_position_is_the_head_of_the_first_file(mysql: MySqlServer):
    start = _resolve(mysql, "earliest-offset")
    first = mysql.execute("SHOW BINARY LOGS")[0][0]
    assert (start.position, start.by_gtid) == (BinlogPosition(first, 4), False)
    database = mysql.create_database("earliest")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"INSERT INTO {database}.t VALUES (1), (2)")
    assert _ids(mysql, start, database) == [1, 2]


@every_server
def test_a_time_finds_the_first_transaction_committed_then_or_later(mysql: MySqlServer):
    database = mysql.create_database("times")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    points = []
    for number in range(3 if mysql.is_mariadb else 12):
        if number % 3 == 1 or mysql.is_mariadb:
            mysql.execute("FLUSH BINARY LOGS")
        points.append((_server_now_ms(mysql), _executed(mysql)))
        mysql.execute(f"INSERT INTO {database}.t VALUES ({number})")
    for number, (millis, executed) in enumerate(points):
        start = _resolve(mysql, "timestamp", millis=millis)
        assert _ids(mysql, start, database) == list(range(number, len(points)))
        assert start.gtid == executed
    later = _resolve(mysql, "timestamp", millis=_server_now_ms(mysql) + 3_600_000)
    assert (later.position, later.gtid) == (position(mysql), _executed(mysql))
    whole = _resolve(mysql, "timestamp", millis=1)
    assert _ids(mysql, whole, database) == list(range(len(points)))


@every_server
def test_a_position_between_two_transactions_is_accepted(mysql: MySqlServer):
    database = mysql.create_database("place")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    here, executed = position(mysql), _executed(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (1)")
    start = _resolve(mysql, "specific-offset", file=here.file, pos=here.pos)
    assert (start.position, start.gtid, start.by_gtid) == (here, executed, False)
    assert _ids(mysql, start, database) == [1]
    end = position(mysql)
    assert _resolve(mysql, "specific-offset", file=end.file, pos=end.pos).position == end
    inside = int(mysql.execute(f"SHOW BINLOG EVENTS IN '{here.file}' FROM {here.pos}")[1][1])
    for wrong in (inside, here.pos + 1):
        with pytest.raises(OptionError, match=f"'{wrong}' is no position between two transactions of {here.file}"):
            _resolve(mysql, "specific-offset", file=here.file, pos=wrong)
    with pytest.raises(OptionError, match="lies behind the end"):
        _resolve(mysql, "specific-offset", file=end.file, pos=end.pos + 100)
    with pytest.raises(DataLossError, match="'binlog.777777' is no file.*SHOW BINARY LOGS.*new checkpoint"):
        _resolve(mysql, "specific-offset", file="binlog.777777", pos=4)


@every_server
def test_a_gtid_set_starts_after_its_transactions(mysql: MySqlServer):
    database = mysql.create_database("sets")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"INSERT INTO {database}.t VALUES (1)")
    here, executed = position(mysql), _executed(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (2)")
    start = _resolve(mysql, "specific-offset", gtids=executed)
    assert start == StartPosition(position=here, gtid=executed, by_gtid=True, log_end=position(mysql))
    assert _ids(mysql, start, database) == [2]
    if mysql.is_mariadb:
        ahead = executed.rpartition("-")[0] + "-99999"
        with pytest.raises(OptionError, match="ahead of the server"):
            _resolve(mysql, "specific-offset", gtids=ahead)
    else:
        with pytest.raises(OptionError, match="never committed: '00000000-0000-0000-0000-0000000000aa:1-3'"):
            _resolve(mysql, "specific-offset", gtids=f"{executed},00000000-0000-0000-0000-0000000000AA:1-3")


@every_mysql
def test_the_transactions_at_a_position_are_exact_while_others_write(mysql: MySqlServer):
    database = mysql.create_database("exact")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY AUTO_INCREMENT)")
    with (
        mysql.settings(binlog_group_commit_sync_delay=300_000),
        closing(mysql.connect()) as writer,
        writer.cursor() as cursor,
    ):
        # Sent without waiting: in the log for 0.3 s before it counts as executed.
        writer._execute_command(3, f"INSERT INTO {database}.t VALUES ()")
        begin = position(mysql)
        while position(mysql) == begin and not writer._rfile.peek(1):
            pass
        start = _resolve(mysql, "latest-offset")
        writer._read_query_result()
        cursor.execute("SELECT @@GLOBAL.gtid_executed")
        executed = cursor.fetchone()[0]
    assert start.gtid == str(GtidSet.parse(executed))
    assert _ids(mysql, start, database) == []


def test_a_server_without_gtids_has_positions_only(own_mysql: OpenMySql):
    server = own_mysql(**{"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"})
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    millis, here = _server_now_ms(server), position(server)
    server.execute("INSERT INTO d.t VALUES (1)")
    start = _resolve(server, "timestamp", millis=millis)
    assert start == StartPosition(position=here, gtid=None, by_gtid=False, log_end=position(server))
    assert _resolve(server, "latest-offset").gtid is None
    assert _ids(server, _resolve(server, "earliest-offset"), "d") == [1]
    with pytest.raises(OptionError, match="gtid_mode=ON; give file and position"):
        _resolve(server, "specific-offset", gtids="")
    with closing(reader_at(server, here, everything("d"))) as reader:
        (batch,) = rows_of(list(reader))
        assert batch.transactions.texts().to_pylist() == [None]
        assert (reader.gtids, reader.first_gtid) == (None, None)


def test_a_purged_start_is_rejected_with_the_files_that_exist(own_mysql: OpenMySql):
    server = own_mysql()
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    executed, here = _executed(server), position(server)
    before_ms = _server_now_ms(server)
    server.execute("DO SLEEP(1.1)", "INSERT INTO d.t VALUES (1)")
    behind, remaining = _executed(server), purge_to_the_last_file(server)
    server.execute("INSERT INTO d.t VALUES (2)")
    with pytest.raises(DataLossError, match=f"lacks transactions.*:3'.*{remaining}"):
        _resolve(server, "specific-offset", gtids=executed)
    with pytest.raises(DataLossError, match=f"'{here.file}' is no file"):
        _resolve(server, "specific-offset", file=here.file, pos=here.pos)
    with pytest.raises(DataLossError, match=f"'{before_ms}' lies before the first transaction.*{remaining}"):
        _resolve(server, "timestamp", millis=before_ms)
    assert _ids(server, _resolve(server, "specific-offset", gtids=behind), "d") == [2]
    earliest = _resolve(server, "earliest-offset")
    assert (earliest.position, earliest.gtid) == (BinlogPosition(remaining, 4), behind)
