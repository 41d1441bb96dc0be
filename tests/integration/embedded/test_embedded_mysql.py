"""The embedded MySQL is a real server: it keeps data over outages, and nothing of it outlives its owner."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pymysql
import pytest

from datasources.embedded import EmbeddedMySql, MySqlProcessOptions, MySqlVersion, start_any_mysql
from datasources.embedded.mysql import mysql_data
from datasources.errors import EnvironmentProblem, InternalError
from tests.support.forms import full
from tests.support.mysql.mysql_server import (
    TEST_MYSQL_VARIABLE,
    MySqlServer,
    MySqlServers,
    OpenMySql,
    OwnMySql,
    each_server,
    every_server,
    newest_first,
)
from tests.support.mysql.mysql_url import mysql_url

pytestmark = pytest.mark.mysql


def eventually(condition: Callable[[], bool]) -> bool:
    pause = threading.Event()
    for _ in range(600):
        if condition():
            return True
        pause.wait(0.05)
    return False


def variables(server: MySqlServer, *names: str) -> tuple[object, ...]:
    return server.execute("SELECT " + ", ".join(f"@@GLOBAL.{name}" for name in names))[0]


@every_server
def test_the_binlog_has_whole_rows_that_describe_themselves(mysql: MySqlServer):
    assert variables(mysql, "log_bin", "binlog_format", "binlog_row_image", "binlog_row_metadata", "time_zone") == (
        1,
        "ROW",
        "FULL",
        "FULL",
        "+00:00",
    )
    assert ("MariaDB" in mysql.execute("SELECT VERSION()")[0][0]) == mysql.is_mariadb
    if not mysql.is_mariadb:
        assert variables(mysql, "gtid_mode") == ("ON",)


@each_server
def test_the_reader_may_read_and_replicate_and_nothing_else(mysql: MySqlServer):
    database = mysql.create_database()
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"INSERT INTO {database}.t VALUES (1)")
    with closing(mysql.connect(mysql.reader)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {database}.t")
        assert cursor.fetchall() == ((1,),)
        cursor.execute("SHOW BINARY LOGS")
        with pytest.raises(pymysql.MySQLError, match="denied"):
            cursor.execute(f"INSERT INTO {database}.t VALUES (2)")


@every_server
def test_the_certificate_is_valid_for_the_servers_address(mysql: MySqlServer):
    with (
        closing(
            mysql.connect(
                mysql.reader, ssl_ca=str(mysql.authority_path), ssl_verify_cert=True, ssl_verify_identity=True
            )
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        assert cursor.fetchone()[1]


@pytest.mark.parametrize("version", ["newest", *full("mariadb")])
def test_a_killed_server_comes_back_with_its_data_and_its_place(own_mysql: OpenMySql, version: str):
    server = own_mysql(MySqlVersion(version))
    database = server.create_database()
    server.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"INSERT INTO {database}.t VALUES (1)")
    logs, address = server.execute("SHOW BINARY LOGS"), server.administrator
    pid = server.embedded.pid
    server.embedded.kill()
    assert pid is not None
    assert not psutil.pid_exists(pid)
    with pytest.raises(pymysql.MySQLError):
        server.connect()
    server.embedded.start()
    assert server.embedded.administrator == address
    assert server.execute(f"SELECT id FROM {database}.t") == [(1,)]
    assert len(server.execute("SHOW BINARY LOGS")) == len(logs) + 1


def test_a_stopped_server_starts_with_other_settings_on_the_same_port(own_mysql: OpenMySql):
    server = own_mysql(MySqlVersion.V8_0, gtid_mode="OFF", enforce_gtid_consistency="OFF", log_bin="OFF")
    assert variables(server, "log_bin", "gtid_mode") == (0, "OFF")
    identity = variables(server, "server_id", "server_uuid")
    server.embedded.stop()
    assert not server.embedded.is_running
    server.embedded.reconfigure({"log_bin": "other", "binlog-group-commit-sync-delay": "1000"})
    with closing(socket.socket()) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((server.administrator.host, server.administrator.port))
        other.listen()
        with pytest.raises(EnvironmentProblem, match=r"another process listens on its port \d+"):
            server.embedded.start()
    server.embedded.start()
    assert variables(server, "log_bin", "binlog_group_commit_sync_delay") == (1, 1000)
    assert variables(server, "server_id", "server_uuid") == identity


@pytest.mark.parametrize("version", list(MySqlVersion), ids=lambda version: version.value)
def test_every_server_has_a_password_of_its_own(version: MySqlVersion):
    with EmbeddedMySql(version) as embedded, EmbeddedMySql(version) as other:
        one = OwnMySql(embedded)
        password = one.administrator.password
        assert len(password) == 32
        assert password != other.administrator.password
        assert password not in repr(MySqlProcessOptions(password=password))
        for user in ("root", "tidemark"):
            with pytest.raises(pymysql.OperationalError, match="Access denied"):
                one.connect(one.login(user, other.administrator.password))
            one.connect(one.login(user, password)).close()
        assert [path.name for path in embedded.data_dir.parent.glob("*.sql")] == []
        assert one.execute("SELECT count(*) FROM mysql.user WHERE user IN ('root', 'tidemark')") == [(3,)]
        assert password not in str(one.execute("SHOW BINLOG EVENTS"))


@newest_first
def test_a_server_has_no_rights_of_root_and_reads_no_files_of_the_machine(mysql: MySqlServer, own_mysql: OpenMySql):
    server = own_mysql(mysql.version)
    process = psutil.Process(server.embedded.pid)
    running = next(p for p in (process, *process.children(recursive=True)) if "--datadir" in " ".join(p.cmdline()))
    assert 0 not in running.uids()
    assert 0 not in running.gids()
    assert server.execute("SELECT LOAD_FILE('/etc/passwd')") == [(None,)]
    server.execute("CREATE DATABASE kept", "CREATE TABLE kept.t (id INT PRIMARY KEY)", "INSERT INTO kept.t VALUES (1)")
    server.embedded.kill()
    server.embedded.start()
    assert server.execute("SELECT id FROM kept.t") == [(1,)]
    cached = mysql_data.cache_directory() / f"mysql-{mysql.version.value}-r1"
    assert {path.lstat().st_uid for path in (cached, *cached.rglob("*"))} == {os.geteuid()}


def test_a_server_whose_user_cannot_enter_the_directory_of_temporary_files_has_one_elsewhere(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(closed))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with EmbeddedMySql() as server:
        OwnMySql(server).connect().close()
        assert (closed in server.data_dir.parents) == (os.geteuid() != 0)
        directory = server.data_dir.parent
    assert not directory.exists()
    assert list(closed.iterdir()) == []
    monkeypatch.setattr(mysql_data, "_OPEN_TO_ALL", (tmp_path / "absent", closed))
    if os.geteuid() == 0:
        with pytest.raises(EnvironmentProblem, match=r"may not enter .*: set TMPDIR"):
            EmbeddedMySql().start()


def test_a_given_password_is_taken_or_refused():
    with EmbeddedMySql(options=MySqlProcessOptions(password="of_both-1")) as embedded:
        server = OwnMySql(embedded)
        server.connect(server.login("tidemark", "of_both-1")).close()
    for refused in ("", "it's", "a" * 33, "ü"):
        with pytest.raises(ValueError, match="1 to 32 letters"):
            MySqlProcessOptions(password=refused)


def test_every_server_has_an_identity_of_its_own(mysql: MySqlServer, own_mysql: OpenMySql):
    other = own_mysql()
    for name in ("server_id", "server_uuid"):
        assert variables(other, name) != variables(mysql, name)


def test_a_setting_that_the_server_refuses_is_quoted():
    with pytest.raises(EnvironmentProblem, match=r"MySQL ended with \d+ while it was starting[^$]*no-such-setting"):
        EmbeddedMySql(MySqlVersion.V8_0, {"no_such_setting": "1"}).start()


def test_a_server_that_the_environment_names_takes_the_newest_ones_place(
    mysql: MySqlServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(TEST_MYSQL_VARIABLE, mysql_url(mysql.administrator))
    used: dict[str, str] = {}
    with closing(MySqlServers(used.__setitem__)) as servers:
        named = servers.get(MySqlVersion.NEWEST)
        assert named.administrator == mysql.administrator
        assert named.execute("SELECT @@server_uuid") == mysql.execute("SELECT @@server_uuid")
    assert used == {"mysql newest": f"{TEST_MYSQL_VARIABLE}={mysql.administrator}"}
    assert mysql.administrator.password not in used["mysql newest"]


def test_a_named_server_that_refuses_is_an_error_and_nothing_takes_its_place(
    mysql: MySqlServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(TEST_MYSQL_VARIABLE, mysql_url(mysql.login("nobody", "x")))
    with (
        closing(MySqlServers(lambda _name, _origin: None)) as servers,
        pytest.raises(AssertionError, match=r"TIDEMARK_TEST_MYSQL names nobody@.*does not answer an administrator"),
    ):
        servers.get(MySqlVersion.NEWEST)


def test_where_a_version_cannot_run_the_next_one_does(monkeypatch: pytest.MonkeyPatch):
    def check(version: MySqlVersion) -> None:
        if version is not MySqlVersion.MARIADB:
            raise EnvironmentProblem(f"{version.title} lacks something\nhere")

    monkeypatch.setattr(mysql_data, "check_machine", check)
    reported: list[str] = []
    with start_any_mysql({"binlog_row_image": "MINIMAL"}, report=reported.append) as server:
        assert server.version is MySqlVersion.MARIADB
        assert server.is_running
    assert [line for line in reported if "cannot run" in line] == [
        "MySQL 9 LTS cannot run here: MySQL 9 LTS lacks something",
        "MySQL 8.0.31 cannot run here: MySQL 8.0.31 lacks something",
    ]
    with pytest.raises(EnvironmentProblem, match=r"no MySQL can run on this machine:\nMySQL 9 LTS: .*\nhere\nMySQL 8"):
        start_any_mysql(versions=[MySqlVersion.NEWEST, MySqlVersion.V8_0], report=reported.append)


def test_a_server_that_was_not_started_is_an_error():
    server = EmbeddedMySql()
    with pytest.raises(InternalError, match=r"not started yet"):
        _ = server.administrator
    assert not server.is_running
    server.close()


_OWNER = """
import sys
from datasources.embedded import EmbeddedMySql, MySqlVersion
with EmbeddedMySql(MySqlVersion.V8_0) as server:
    print(server.pid, server.data_dir, flush=True)
    sys.stdin.read()
"""


def test_nothing_outlives_an_owner_that_was_killed():
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, data = owner.stdout.readline().split()
        assert psutil.pid_exists(int(pid))
        os.kill(owner.pid, signal.SIGKILL)
    assert eventually(lambda: not psutil.pid_exists(int(pid)))
    assert eventually(lambda: not Path(data).parent.exists())
