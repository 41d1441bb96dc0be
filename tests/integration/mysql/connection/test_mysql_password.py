"""What a server learns of the password: hostile ones on loopback, which ask for each plugin, and real ones."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from datasources.embedded.process.certificates import AUTHORITY_FILE, make_certificates
from datasources.errors import OptionError, SourceUnavailable
from datasources.mysql.config.mysql_options import TlsMode
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.tls import TlsSettings
from tests.support.mysql.mysql_hostile import HostileServer, hostile_server
from tests.support.mysql.mysql_server import OpenMySql

PASSWORD = "pass-wörd,☃"
CLEAR = ("mysql_clear_password", "dialog")
WHOLE = ("caching_sha2_password", "sha256_password")
OTHERS = ("mysql_old_password", "client_ed25519", "authentication_of_tomorrow")
SCRAMBLES = ("mysql_native_password",)
PLAIN_MODES = (TlsMode.DISABLED, TlsMode.PREFERRED)
TLS_MODES = (TlsMode.PREFERRED, TlsMode.REQUIRED, TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory


def settings(server: HostileServer, mode: TlsMode, certificates: Path | None = None, **more) -> ConnectionSettings:
    ca = str(certificates / AUTHORITY_FILE) if certificates is not None and mode.is_verified else None
    host, port = server.address
    return ConnectionSettings(
        host=host, port=port, user="u", password=PASSWORD, tls=TlsSettings(mode=mode, ca=ca), retries=0, **more
    )


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConnectionSettings, "is_local", property(lambda _self: False))


def ask(server: HostileServer, wanted: ConnectionSettings) -> Exception:
    with pytest.raises((OptionError, SourceUnavailable)) as caught:
        connect(wanted)
    assert PASSWORD not in str(caught.value)
    assert PASSWORD not in repr(wanted)
    return caught.value


@pytest.mark.parametrize(
    ("mode", "greets", "plugin"),
    [*itertools.product(PLAIN_MODES, (False, True), (*CLEAR, *OTHERS, *SCRAMBLES))],
)
def test_without_tls_no_plugin_gets_the_password_in_clear(mode, greets, plugin):
    with hostile_server(plugin, greets=greets) as server:
        error = ask(server, settings(server, mode))
        assert not server.learned(PASSWORD.encode())
    if plugin in CLEAR:
        assert isinstance(error, OptionError)
        assert "'ssl.mode' to 'verify-identity'" in error.message
        assert plugin in error.message


@pytest.mark.parametrize(
    ("mode", "greets", "plugin"),
    [*itertools.product(PLAIN_MODES, (False, True), (*CLEAR, *WHOLE, *OTHERS, *SCRAMBLES))],
)
def test_no_plugin_of_another_host_gets_a_password_without_tls(mode, greets, plugin, elsewhere):
    with hostile_server(plugin, greets=greets) as server:
        error = ask(server, settings(server, mode))
        assert not server.learned(PASSWORD.encode())
        if mode is TlsMode.PREFERRED:
            assert isinstance(error, OptionError)
            assert "'ssl.mode' = 'disabled'" in error.message
            assert not any(b"u\0" in packet for packet in server.packets), "not even the login's name"


@pytest.mark.parametrize(("greets", "plugin"), [*itertools.product((False, True), WHOLE)])
def test_a_key_is_accepted_from_this_machine_or_if_an_option_allows_it(greets, plugin, monkeypatch):
    with hostile_server(plugin, greets=greets) as server:
        ask(server, settings(server, TlsMode.DISABLED))
        assert server.learned(PASSWORD.encode()), "the helper sees what is encrypted for its key"
    monkeypatch.setattr(ConnectionSettings, "is_local", property(lambda _self: False))
    with hostile_server(plugin, greets=greets) as server:
        ask(server, settings(server, TlsMode.DISABLED, has_server_public_key=True))
        assert server.learned(PASSWORD.encode())


@pytest.mark.parametrize(
    ("mode", "greets", "plugin"), [*itertools.product(TLS_MODES, (False, True), (*CLEAR, *OTHERS, *SCRAMBLES))]
)
def test_a_clear_text_password_needs_a_verified_certificate(mode, greets, plugin, certificates, elsewhere):
    with hostile_server(plugin, greets=greets, certificates=certificates) as server:
        ask(server, settings(server, mode, certificates))
        assert server.learned(PASSWORD.encode()) is (plugin in CLEAR and mode.is_verified)


def test_a_self_signed_certificate_fails_where_certificates_are_checked(certificates, tmp_path):
    make_certificates(tmp_path)
    for plugin, mode in itertools.product((*CLEAR, *WHOLE), (TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY)):
        with hostile_server(plugin, certificates=tmp_path) as server:
            ask(server, settings(server, mode, certificates))
            assert not server.learned(PASSWORD.encode())


def test_a_server_gets_no_file_of_this_machine(tmp_path: Path):
    file = tmp_path / "private"
    file.write_text("nobody-reads-this")
    with hostile_server("mysql_native_password") as server:
        server.wants_file = str(file)
        wanted = settings(server, TlsMode.DISABLED)
        with closing(connect(wanted)) as connection, pytest.raises(RuntimeError, match="LOAD_LOCAL"):
            connection.cursor().execute("SELECT 1")
        assert len(server.packets) >= 2
        assert not any(b"nobody-reads-this" in packet for packet in server.packets)


@pytest.mark.mysql
def test_a_server_without_tls_on_another_host_needs_ssl_mode_disabled(own_mysql: OpenMySql, elsewhere):
    server = own_mysql(tls_version="")
    login = server.reader
    wanted = ConnectionSettings(host=login.host, port=login.port, user=login.user, password=login.password, retries=0)
    with pytest.raises(OptionError, match=r"'ssl\.mode' = 'disabled'"):
        connect(wanted)
    plain = replace(wanted, tls=TlsSettings(mode=TlsMode.DISABLED), has_server_public_key=True)
    connect(plain).close()


@pytest.mark.mysql
def test_a_login_of_sha256_password_is_as_safe_as_its_connection(own_mysql: OpenMySql, elsewhere):
    server = own_mysql()
    login = server.login("old_style", PASSWORD)
    server.execute(f"CREATE USER '{login.user}'@'%' IDENTIFIED WITH sha256_password BY '{login.password}'")
    wanted = ConnectionSettings(host=login.host, port=login.port, user=login.user, password=login.password, retries=0)
    connect(wanted).close()
    plain = replace(wanted, tls=TlsSettings(mode=TlsMode.DISABLED))
    with pytest.raises(OptionError, match=r"full exchange of its password \(sha256_password\)"):
        connect(plain)
    connect(replace(plain, has_server_public_key=True)).close()
