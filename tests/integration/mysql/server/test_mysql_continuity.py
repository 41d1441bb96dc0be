"""Going on at the same server and at another one: purged, reset, behind, errant."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from datasources.embedded import MySqlVersion
from datasources.errors import DataLossError, SourceUnavailable
from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.server_dialect import server_version
from datasources.mysql.server.continuity import Continuation, KnownPosition, check_continuity
from datasources.mysql.server.server_log import ServerLog
from tests.support.mysql.mysql_binlog import everything, images, position, purge_to_the_last_file, read_changes
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, OwnMySql, every_server
from watermark.clock import ManualClock

pytestmark = pytest.mark.mysql


@contextmanager
def _log(server: MySqlServer) -> Iterator[ServerLog]:
    login = server.reader
    settings = ConnectionSettings(host=login.host, port=login.port, user=login.user, password=login.password, retries=0)
    with closing(connect(settings)) as connection:
        yield ServerLog(connection=connection, settings=settings, version=server_version(connection))


def _here(server: MySqlServer, *, with_gtid: bool = True) -> KnownPosition:
    with _log(server) as log:
        end, gtids = log.end_with_gtids()
        known = str(gtids) if with_gtid else None
        return KnownPosition(server_uuid=log.server_uuid(), position=end, gtid=known, epoch=3)


def _check(server: MySqlServer, known: KnownPosition, **how: Any) -> Continuation:
    with _log(server) as log:
        return check_continuity(log, known, **{"deadline_s": 0.5, **how})


def _ids(server: MySqlServer, known: KnownPosition, found: Continuation, database: str = "d") -> list[int]:
    start = known.gtid if found.by_gtid and known.gtid is not None else found.position
    return [row["id"] for _, row in images(read_changes(server, start, everything(database)), "t")]


@every_server
def test_the_same_server_goes_on_by_position(mysql: MySqlServer):
    database = mysql.create_database("same")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    for with_gtid in (True, False):
        known = _here(mysql, with_gtid=with_gtid)
        mysql.execute(f"INSERT INTO {database}.t VALUES ({int(with_gtid)})", "FLUSH BINARY LOGS")
        found = _check(mysql, known)
        assert found == Continuation(
            server_uuid=known.server_uuid, epoch=3, position=known.position, by_gtid=False, gtid_until=None
        )
        mysql.execute(f"INSERT INTO {database}.t VALUES ({10 + int(with_gtid)})")
        assert _ids(mysql, known, found, database)[:2] == [int(with_gtid), 10 + int(with_gtid)]


def test_a_file_that_was_purged_is_an_error_unless_all_of_it_was_read(own_mysql: OpenMySql):
    server = own_mysql()
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    early = _here(server)
    server.execute("INSERT INTO d.t VALUES (1)")
    late = _here(server)
    kept = purge_to_the_last_file(server)
    server.execute("INSERT INTO d.t VALUES (2)")
    with pytest.raises(DataLossError, match=f"not read yet.*:3'.*SHOW BINARY LOGS.*{kept}.*new checkpoint"):
        _check(server, early)
    for known in (early, late):
        with pytest.raises(DataLossError, match=f"{known.position}, where reading resumes, is no longer.*{kept}"):
            _check(server, replace(known, gtid=None))
    found = _check(server, late)
    assert (found.by_gtid, found.epoch) == (True, 3)
    assert _ids(server, late, found) == [2]


def test_a_reset_log_is_an_error_also_once_it_has_grown_again(own_mysql: OpenMySql):
    server = own_mysql()
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)")
    grown = _here(server)
    server.execute("INSERT INTO d.t VALUES ()", "INSERT INTO d.t VALUES ()")
    known = _here(server)
    server.execute("RESET BINARY LOGS AND GTIDS")
    with pytest.raises(DataLossError, match="lacks transactions.*RESET.*new checkpoint"):
        _check(server, known)
    with pytest.raises(DataLossError, match="is behind the end of that file"):
        _check(server, replace(known, gtid=None))
    # The same statements again: names and positions are equal, and of other transactions.
    server.execute("DROP DATABASE d", "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)")
    head = BinlogPosition(grown.position.file, 4)
    with _log(server) as log:
        begin = log.scan(head, StopRule(committed_us=0)).position
    with pytest.raises(DataLossError, match=rf"the transaction is {grown.server_uuid}:1, which was already read"):
        _check(server, replace(grown, position=begin))


def _follow(replica: OwnMySql, source: OwnMySql) -> None:
    login = source.administrator
    replica.execute(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={login.port}, SOURCE_USER='{login.user}', "
        f"SOURCE_PASSWORD='{login.password}', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_RETRY_COUNT=1",
        "START REPLICA",
    )


def _wait_for(replica: OwnMySql, source: OwnMySql) -> None:
    executed = source.execute("SELECT @@GLOBAL.gtid_executed")[0][0]
    assert replica.execute(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 20)") == [(0,)]


@pytest.fixture
def pair(own_mysql: OpenMySql) -> tuple[OwnMySql, OwnMySql]:
    """A source with a table, and a replica that has it."""
    source, replica = own_mysql(**{"server-id": "11"}), own_mysql(**{"server-id": "12"})
    source.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
    _follow(replica, source)
    _wait_for(replica, source)
    return source, replica


def test_reading_resumes_at_another_server_once_it_has_the_gtids(pair: tuple[OwnMySql, OwnMySql]):
    source, replica = pair
    # An own transaction of the replica, in its log before one that was read: only the set identifies that one.
    replica.execute("STOP REPLICA SQL_THREAD", "INSERT INTO d.t VALUES (1000)")
    source.execute("INSERT INTO d.t VALUES (2)")
    known = _here(source)
    source.execute("INSERT INTO d.t VALUES (3)")
    with pytest.raises(SourceUnavailable, match=rf"behind.*lacks '{known.server_uuid}:4' after 0.5 s.*caught up"):
        _check(replica, known)
    # While it is waited for, it catches up.
    found = _check(replica, known, deadline_s=20, clock=_CatchesUp(lambda: replica.execute("START REPLICA SQL_THREAD")))
    _wait_for(replica, source)
    assert (found.by_gtid, found.epoch) == (True, 4)
    assert found.server_uuid == replica.execute("SELECT @@server_uuid")[0][0] != known.server_uuid
    assert _ids(replica, known, found) == [1000, 3]
    # Behind `gtid_until` positions are used again; before it dumps are requested by the set.
    assert found.gtid_until is not None
    batch_end = _next_position(replica, known)
    assert batch_end < found.gtid_until
    at = KnownPosition(
        server_uuid=found.server_uuid,
        position=batch_end,
        gtid=_gtids_read(replica, known),
        epoch=4,
        gtid_until=found.gtid_until,
    )
    between = _check(replica, at)
    assert (between.by_gtid, between.epoch) == (True, 4)
    assert _ids(replica, at, between) == [3]
    behind = _check(replica, replace(at, position=position(replica)))
    assert (behind.by_gtid, behind.gtid_until) == (False, None)


class _CatchesUp(ManualClock):
    """A clock that does not advance; at its second reading something happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self._happens = happens
        self._looks = 0

    def monotonic_ns(self) -> int:
        self._looks += 1
        if self._looks == 2:
            self._happens()
        return super().monotonic_ns()


def _next_position(server: MySqlServer, known: KnownPosition) -> BinlogPosition:
    with _log(server) as log:
        return log.scan(str(known.gtid), StopRule(max_rows=1), capture=everything("d")).position


def _gtids_read(server: MySqlServer, known: KnownPosition) -> str:
    with _log(server) as log:
        passed = log.scan(str(known.gtid), StopRule(max_rows=1), capture=everything("d")).gtids
        return str(log.parse_gtids(str(known.gtid)).union(passed))


def test_transactions_that_a_server_cannot_get_are_named(pair: tuple[OwnMySql, OwnMySql]):
    source, replica = pair
    source.execute("INSERT INTO d.t VALUES (2)")
    known = _here(source)
    _wait_for(replica, source)
    errant = f"{uuid.UUID(int=7)}:5"
    with pytest.raises(SourceUnavailable, match="behind"):
        _check(replica, replace(known, gtid=f"{known.gtid},{errant}"))
    # A later one of the same server is there: those between were never sent.
    hole = f"{known.server_uuid}:1-2:4"
    source.execute(
        f"SET gtid_next = '{known.server_uuid}:900'", "INSERT INTO d.t VALUES (900)", "SET gtid_next='AUTOMATIC'"
    )
    _wait_for(replica, source)
    with pytest.raises(DataLossError, match=rf"will not get them \('{known.server_uuid}:700'\).*errant"):
        _check(replica, replace(known, gtid=f"{hole}:700"))
    # Promoted: nothing more can come, so nothing is waited for.
    replica.execute("STOP REPLICA", "RESET REPLICA ALL")
    with pytest.raises(DataLossError, match=rf"will not get them \('{errant}'\).*new checkpoint"):
        _check(replica, replace(known, gtid=f"{known.gtid},{errant}"), deadline_s=1000)
    assert _check(replica, known).by_gtid


def test_another_server_that_purged_the_next_transactions_is_an_error(pair: tuple[OwnMySql, OwnMySql]):
    source, replica = pair
    known = _here(source)
    source.execute("INSERT INTO d.t VALUES (2)")
    _wait_for(replica, source)
    kept = purge_to_the_last_file(replica)
    with pytest.raises(DataLossError, match=rf"not read yet.*'{known.server_uuid}:4'.*{kept}"):
        _check(replica, known)
    with pytest.raises(DataLossError, match="have no GTIDs by which to resume"):
        _check(replica, replace(known, gtid=None))
    assert _ids(replica, _here(source), _check(replica, _here(source))) == []


def test_a_mariadb_is_identified_by_its_id_and_resumes_by_domain(own_mysql: OpenMySql):
    server = own_mysql(MySqlVersion.MARIADB)
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    early = _here(server)
    server.execute("INSERT INTO d.t VALUES (1)")
    known = _here(server)
    server.execute("SET GLOBAL server_id = 77", "INSERT INTO d.t VALUES (2)")
    found = _check(server, known)
    assert (found.server_uuid, found.by_gtid, found.epoch) == ("mariadb-77", True, 4)
    assert _ids(server, known, found) == [2]
    ahead = str(known.gtid).rpartition("-")[0] + "-9000"
    with pytest.raises(SourceUnavailable, match=f"behind.*lacks '{ahead}'"):
        _check(server, replace(known, gtid=ahead))
    purge_to_the_last_file(server)
    with pytest.raises(DataLossError, match="SHOW BINARY LOGS"):
        _check(server, early)


@every_server
def test_bytes_of_a_dump_by_gtids_count_from_its_first_transaction(mysql: MySqlServer):
    database = mysql.create_database("known")
    mysql.execute("FLUSH BINARY LOGS", f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v VARCHAR(1000))")
    mysql.execute(*(f"INSERT INTO {database}.t VALUES ({n}, REPEAT('x', 1000))" for n in range(20)))
    known = str(_here(mysql).gtid)
    mysql.execute(*(f"INSERT INTO {database}.t VALUES ({n}, REPEAT('x', 1000))" for n in (100, 101, 102)))
    for max_bytes, wanted in ((1, [100]), (1_500, [100, 101]), (15_000, [100, 101, 102])):
        found = read_changes(mysql, known, everything(database), stop=StopRule(max_bytes=max_bytes))
        assert [row["id"] for _, row in images(found, "t")] == wanted
