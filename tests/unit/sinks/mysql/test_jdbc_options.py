"""Options of a `jdbc` table: the URL is Flink's, the connection is that of all MySQL tables."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.mysql.config.mysql_options import TlsMode
from datasources.sinks.mysql.jdbc_options import jdbc_target

LOGIN = {"table-name": "t", "username": "u", "password": "p%w"}


@pytest.mark.parametrize(
    ("url", "host", "port", "database"),
    [
        ("jdbc:mysql://db/shop", "db", 3306, "shop"),
        ("jdbc:mysql://db:3307/my%20shop?serverTimezone=UTC&useUnicode=true", "db", 3307, "my shop"),
        ("jdbc:mariadb://[::1]:3306/shop", "::1", 3306, "shop"),
    ],
)
def test_the_url_names_the_server_and_the_database(url, host, port, database):
    target = jdbc_target({"url": url, **LOGIN})
    assert (target.connection.host, target.connection.port, target.database) == (host, port, database)
    assert (target.connection.user, target.connection.password, target.table) == ("u", "p%w", "t")
    assert "p%w" not in f"{target} {target!r}"


@pytest.mark.parametrize(
    ("parameters", "mode"),
    [
        ("", TlsMode.PREFERRED),
        ("?useSSL=false", TlsMode.DISABLED),
        ("?sslMode=VERIFY_IDENTITY", TlsMode.VERIFY_IDENTITY),
    ],
)
def test_parameters_of_the_url_set_tls(parameters, mode):
    assert jdbc_target({"url": f"jdbc:mysql://db/shop{parameters}", **LOGIN}).connection.tls.mode is mode


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://db/shop",
        "jdbc:mysql://db",
        "jdbc:mysql://me:hidden@db/shop",
        "jdbc:mysql://one,two/shop",
        "jdbc:mysql://db/shop?password=hidden",
        "jdbc:mysql://db/shop?autoReconnect=hidden",
    ],
)
def test_another_url_is_refused_without_being_shown(url):
    with pytest.raises(OptionError, match=r"option 'url'") as raised:
        jdbc_target({"url": url, **LOGIN})
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("missing", ["url", "table-name", "username"])
def test_an_option_that_is_missing_is_named(missing):
    given = {"url": "jdbc:mysql://db/shop", **LOGIN}
    with pytest.raises(OptionError, match=f"option '{missing}' is required"):
        jdbc_target({key: value for key, value in given.items() if key != missing})
