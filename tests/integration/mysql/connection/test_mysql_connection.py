"""Connections to real servers: logins, TLS, and errors with a remedy."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest

from datasources.embedded import MySqlAddress
from datasources.embedded.process.certificates import make_certificates
from datasources.embedded.process.ports import free_ports
from datasources.errors import OptionError, SourceUnavailable
from datasources.mysql.config.mysql_options import MySqlConnectionOptions, TlsMode
from datasources.mysql.connection.connection import ConnectionSettings, connect, connection_settings
from datasources.mysql.connection.server_dialect import read_variables, server_version
from datasources.mysql.connection.tls import TlsSettings, tls_context
from datasources.mysql.server.server_view import ServerView
from datasources.options import parse_group
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_mysql, every_server

pytestmark = pytest.mark.mysql

_VERIFIED = ("verify-ca", "verify-identity")


def settings(login: MySqlAddress, **tls: str) -> ConnectionSettings:
    mode = TlsMode(tls.pop("mode", "preferred"))
    return ConnectionSettings(
        host=login.host,
        port=login.port,
        user=login.user,
        password=login.password,
        tls=TlsSettings(mode=mode, **tls),
        retries=0,
    )


def cipher(wanted: ConnectionSettings) -> str:
    with closing(connect(wanted)) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        return str(cursor.fetchone()[1])


@every_server
def test_the_dialect_of_a_server_follows_from_its_version(mysql: MySqlServer):
    with closing(connect(settings(mysql.reader))) as connection, connection.cursor() as cursor:
        version = server_version(connection)
        assert version.is_mariadb is mysql.is_mariadb
        assert version.is_supported
        cursor.execute(version.status_statement)
        assert cursor.fetchone()[0].startswith("binlog.")
        names = read_variables(connection, ["binlog_row_metadata", "gtid_mode", "no_such_variable"])
    assert names == {"binlog_row_metadata": "FULL"} | ({} if mysql.is_mariadb else {"gtid_mode": "ON"})


@every_server
def test_statements_of_the_session_are_run_first(mysql: MySqlServer):
    wanted = settings(mysql.reader)
    with closing(connect(wanted, statements=["SET time_zone = '+03:00'"])) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@session.time_zone, @@autocommit, @@character_set_client")
        assert cursor.fetchone() == ("+03:00", 1, "utf8mb4")


@every_server
def test_tls_is_as_strict_as_its_mode(mysql: MySqlServer, tmp_path: Path):
    trusted, reader = str(mysql.authority_path), mysql.reader
    make_certificates(tmp_path)
    other_ca = str(tmp_path / "tls-ca.pem")
    assert cipher(settings(reader, mode="disabled")) == ""
    for mode in ("preferred", "required"):
        assert cipher(settings(reader, mode=mode))
    for mode in _VERIFIED:
        assert cipher(settings(reader, mode=mode, ca=trusted))
        with pytest.raises(
            SourceUnavailable, match=r"no TLS connection to tidemark@.*'ssl.ca' must name the authority"
        ):
            connect(settings(reader, mode=mode, ca=other_ca))


def test_a_certificate_of_another_host_passes_verify_ca_only(mysql: MySqlServer):
    # Another way to write the server's address, which its certificate does not name.
    elsewhere = {mode: settings(mysql.reader, mode=mode, ca=str(mysql.authority_path)) for mode in _VERIFIED}
    elsewhere = {mode: replace(wanted, host="127.1") for mode, wanted in elsewhere.items()}
    assert cipher(elsewhere["verify-ca"])
    with pytest.raises(SourceUnavailable, match=r"no TLS connection to tidemark@127\.1:"):
        connect(elsewhere["verify-identity"])


def test_a_server_without_tls_is_read_without_it_unless_it_is_required(own_mysql: OpenMySql):
    server = own_mysql(tls_version="")
    login = server.login("fresh", "päss,wörd ☃")
    server.execute(f"CREATE USER '{login.user}'@'%' IDENTIFIED BY '{login.password}'")
    with pytest.raises(SourceUnavailable, match=r"no TLS connection .*server doesn't support it"):
        connect(settings(login, mode="required"))
    # The password was never seen by the server, so it wants all of it, encrypted by a key of its own.
    assert cipher(settings(login)) == ""


def test_a_password_is_not_encrypted_with_an_unknown_key(own_mysql: OpenMySql, monkeypatch: pytest.MonkeyPatch):
    server = own_mysql()
    login = server.login("fresh", "secret-word")
    server.execute(f"CREATE USER '{login.user}'@'%' IDENTIFIED BY '{login.password}'")
    monkeypatch.setattr(ConnectionSettings, "is_local", property(lambda _self: False))
    plain = settings(login, mode="disabled")
    with pytest.raises(OptionError, match=r"'ssl.mode' to 'required' or more") as caught:
        connect(plain)
    assert "secret-word" not in str(caught.value)
    assert cipher(replace(plain, has_server_public_key=True)) == ""
    # Now the server knows it and is content with a scramble.
    assert cipher(plain) == ""


@every_mysql
def test_a_refused_login_names_the_login_and_not_the_password(mysql: MySqlServer):
    wrong = mysql.login(mysql.reader.user, "wrong-word")
    with pytest.raises(SourceUnavailable, match=r"the server refused tidemark@127.0.0.1:\d+ while looking") as caught:
        connect(settings(wrong), doing="looking")
    assert "wrong-word" not in str(caught.value)


@every_server
def test_a_login_that_needs_tls_is_recognized_and_the_option_named(mysql: MySqlServer):
    login = mysql.create_login("SELECT ON *.*")
    mysql.execute(f"ALTER USER '{login.user}'@'%' REQUIRE SSL")
    with pytest.raises(SourceUnavailable, match=r"REQUIRE SSL is refused like this without TLS: set 'ssl.mode' = "):
        connect(settings(login, mode="disabled"))
    assert cipher(settings(login, mode="required"))


def test_a_server_that_requires_tls_has_the_option_named(own_mysql: OpenMySql):
    server = own_mysql()
    server.execute("SET GLOBAL require_secure_transport = ON")
    with pytest.raises(SourceUnavailable, match=r"logins in over TLS only: set 'ssl.mode' to 'required'"):
        connect(settings(server.reader, mode="disabled"))
    assert cipher(settings(server.reader, mode="required"))


@pytest.mark.slow
def test_a_restart_of_the_server_is_waited_for(own_mysql: OpenMySql):
    """For minutes, as the options are by default: no pause is longer than 5 s, and they are two minutes together."""
    server = own_mysql()
    login = server.reader
    options = {"hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password}
    wanted = connection_settings(parse_group(MySqlConnectionOptions, {**options, "ssl.mode": "disabled"}))
    view = ServerView(wanted)
    position = view.end().position
    server.embedded.stop()
    back = threading.Timer(5.0, server.embedded.start)
    back.start()
    try:
        assert view.end().position.file > position.file
    finally:
        back.join()
        view.close()


def test_an_absent_server_is_retried_and_then_reported():
    [port] = free_ports(1)
    nobody = ConnectionSettings(host="127.0.0.1", port=port, user="u", password="p", retries=1)
    with pytest.raises(SourceUnavailable, match=r"did not answer while connecting: .*Check 'hostname' and 'port'"):
        connect(nobody)


def test_a_statement_that_fails_closes_the_connection(mysql: MySqlServer, monkeypatch: pytest.MonkeyPatch):
    closed: list[bool] = []
    plain = pymysql.connections.Connection.close
    monkeypatch.setattr(pymysql.connections.Connection, "close", lambda self: (closed.append(True), plain(self))[1])
    with pytest.raises(SourceUnavailable, match=r"connecting at tidemark@.* failed: Unknown system variable"):
        connect(settings(mysql.reader), statements=["SET no_such_variable = 1"])
    assert closed


def test_a_tls_context_is_created_again_when_its_file_was_replaced(tmp_path: Path):
    make_certificates(tmp_path)
    authority = tmp_path / "tls-ca.pem"
    wanted = TlsSettings(mode=TlsMode.VERIFY_CA, ca=str(authority))
    first = tls_context(wanted)
    os.utime(authority, ns=(1, 1))
    assert tls_context(wanted) is not first
