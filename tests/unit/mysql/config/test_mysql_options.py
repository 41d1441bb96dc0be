"""MySQL's options and versions: accepted ones, and the errors for wrong ones."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError, SourceUnavailable
from datasources.mysql.config.mysql_options import (
    BinlogOptions,
    MySqlConnectionOptions,
    MySqlTableOptions,
    SnapshotOptions,
    StartupMode,
    StartupOptions,
    TlsMode,
    parse_server_ids,
)
from datasources.mysql.connection.connection import ConnectionSettings, connection_settings
from datasources.mysql.connection.server_dialect import parse_version
from datasources.mysql.connection.tls import TlsSettings, tls_context
from datasources.options import OptionGroup, parse_group

LOGIN = {"hostname": "db", "username": "u", "password": "pässwörd"}


def refused(group: type[OptionGroup], options: dict[str, str]) -> str:
    with pytest.raises(OptionError) as caught:
        parse_group(group, options)
    return caught.value.message


def test_the_defaults_are_those_of_the_decisions():
    assert parse_group(SnapshotOptions, {}).chunk_size == 50_000
    assert parse_group(StartupOptions, {}).mode is StartupMode.INITIAL
    assert parse_group(BinlogOptions, {}).heartbeat_ms == 10_000
    assert parse_group(MySqlConnectionOptions, LOGIN).port == 3306


def test_the_read_timeout_is_five_minutes_unless_the_option_sets_it():
    assert connection_settings(parse_group(MySqlConnectionOptions, LOGIN)).read_timeout_ms == 300_000
    given = parse_group(MySqlConnectionOptions, {**LOGIN, "read.timeout": "20 s"})
    assert connection_settings(given).read_timeout_ms == 20_000


def test_a_password_is_shown_nowhere():
    options = parse_group(MySqlConnectionOptions, LOGIN)
    settings = connection_settings(options)
    assert settings.password == "pässwörd"
    assert "pässwörd" not in repr(options) + repr(settings) + str(settings)
    assert str(settings) == "u@db:3306"


@pytest.mark.parametrize("missing", ["hostname", "username"])
def test_what_a_login_lacks_is_named(missing: str):
    options = {key: value for key, value in LOGIN.items() if key != missing}
    assert refused(MySqlConnectionOptions, options).startswith(f"option '{missing}' is required")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"port": "0"}, "option 'port' = '0'"),
        ({"port": "65536"}, "option 'port' = '65536'"),
        ({"ssl.mode": "yes"}, "use one of 'disabled', 'preferred', 'required', 'verify-ca', 'verify-identity'"),
        ({"ssl.cert": "c"}, "'ssl.cert' and 'ssl.key' belong together"),
        ({"ssl.mode": "disabled", "ssl.ca": "c"}, "'ssl.ca' has no use with 'ssl.mode' = 'disabled'"),
        ({"ssl.mode": "required", "ssl.ca": "c"}, "set 'ssl.mode' to 'verify-identity' or 'verify-ca'"),
        ({"connect.timeout": "soon"}, "is not a duration"),
        ({"connect.max-retries": "-1"}, "option 'connect.max-retries' = '-1'"),
    ],
)
def test_invalid_connection_options_are_refused(options: dict[str, str], words: str):
    message = refused(MySqlConnectionOptions, {**LOGIN, **options})
    assert words in message
    assert "pässwörd" not in message


@pytest.mark.parametrize(("pattern", "words"), [("orders_(", "no regular expression"), (" ", "it is empty")])
def test_a_table_name_is_a_regular_expression(pattern: str, words: str):
    assert words in refused(MySqlTableOptions, {"database-name": "shop", "table-name": pattern})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scan.startup.mode": "specific-offset"}, "needs either"),
        ({"scan.startup.mode": "specific-offset", "scan.startup.specific-offset.file": "b.000001"}, "needs either"),
        (
            {
                "scan.startup.mode": "specific-offset",
                "scan.startup.specific-offset.file": "b.000001",
                "scan.startup.specific-offset.pos": "4",
                "scan.startup.specific-offset.gtid-set": "x:1",
            },
            "needs either",
        ),
        (
            {
                "scan.startup.mode": "specific-offset",
                "scan.startup.specific-offset.file": "binlog",
                "scan.startup.specific-offset.pos": "4",
            },
            "is no binlog file such as 'binlog.000042'",
        ),
        ({"scan.startup.specific-offset.gtid-set": "x:1"}, "needs 'scan.startup.mode' = 'specific-offset'"),
        ({"scan.startup.mode": "timestamp"}, "need each other"),
        ({"scan.startup.timestamp-millis": "1"}, "need each other"),
        ({"scan.startup.mode": "first"}, "use one of 'initial', 'snapshot', 'earliest-offset'"),
    ],
)
def test_an_invalid_start_is_refused(options: dict[str, str], words: str):
    assert words in refused(StartupOptions, options)


def test_a_start_is_a_position_or_a_gtid_set():
    position = {
        "scan.startup.mode": "specific-offset",
        "scan.startup.specific-offset.file": "binlog.000042",
        "scan.startup.specific-offset.pos": "4",
    }
    assert parse_group(StartupOptions, position).position == 4
    by_set = {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset.gtid-set": "x:1-5"}
    assert parse_group(StartupOptions, by_set).gtid_set == "x:1-5"


def test_server_ids_are_one_or_a_range():
    assert list(parse_server_ids("5400")) == [5400]
    assert parse_server_ids("5400 - 5408") == range(5400, 5409)


@pytest.mark.parametrize("text", ["0", "5408-5400", "4294967296", "a", "1-", "-1", ""])
def test_an_invalid_server_id_is_refused(text: str):
    assert f"option 'server-id' = '{text}'" in refused(BinlogOptions, {"server-id": text})


def test_versions_differ_in_their_dialect():
    old, new, newest = parse_version("8.0.31"), parse_version("8.4.3-log"), parse_version("9.7.4-2")
    mariadb = parse_version("5.5.5-10.11.6-MariaDB-1:10.11.6+maria~deb12")
    assert [each.status_statement for each in (old, new, newest, mariadb)] == [
        "SHOW MASTER STATUS",
        "SHOW BINARY LOG STATUS",
        "SHOW BINARY LOG STATUS",
        "SHOW BINLOG STATUS",
    ]
    assert [each.can_log_cascades for each in (old, new, newest, mariadb)] == [False, False, True, False]
    assert mariadb.numbers == (10, 11, 6)
    assert (old.set_global("a", "1"), mariadb.set_global("a", "1")) == ("SET PERSIST a = 1;", "SET GLOBAL a = 1;")


@pytest.mark.parametrize(
    ("text", "comment", "is_supported"),
    [
        ("8.0.0", "", True),
        ("5.7.44", "", False),
        ("10.6.5", "mariadb.org binary distribution", False),
        ("10.11.0", "MariaDB Server", True),
        ("8.0.36-28", "Percona Server (GPL)", True),
    ],
)
def test_a_server_is_supported_or_not(text: str, comment: str, *, is_supported: bool):
    assert parse_version(text, comment).is_supported is is_supported


def test_an_invalid_version_is_refused():
    with pytest.raises(SourceUnavailable, match=r"calls its version 'latest'"):
        parse_version("latest")


@pytest.mark.parametrize(
    ("host", "is_local"), [("localhost", True), ("127.0.0.7", True), ("::1", True), ("db", False), ("10.0.0.1", False)]
)
def test_a_host_is_this_machine_or_not(host: str, *, is_local: bool):
    assert ConnectionSettings(host=host, port=1, user="u", password="").is_local is is_local


def test_an_invalid_tls_file_names_its_option(tmp_path):
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    for settings, words in (
        (TlsSettings(mode=TlsMode.VERIFY_CA, ca=str(tmp_path / "none")), r"'ssl.ca' = .* cannot be read here"),
        (TlsSettings(mode=TlsMode.VERIFY_CA, ca=str(empty)), r"'ssl.ca' = .* holds no PEM certificates"),
        (TlsSettings(certificate=str(empty), key=str(empty)), r"'ssl.cert' = .* are no certificate"),
    ):
        with pytest.raises(OptionError, match=words):
            tls_context(settings)


def test_a_tls_context_is_created_once():
    assert tls_context(TlsSettings()) is tls_context(TlsSettings())
