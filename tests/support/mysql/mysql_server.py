"""What tests do with a MySQL, whichever server it is."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pymysql
import pytest

from datasources.embedded import EmbeddedMySql, MySqlAddress, MySqlVersion
from datasources.embedded.mysql.mysql_data import READER
from tests.support.forms import full
from tests.support.mysql.mysql_url import parse_mysql_url

__all__ = [
    "TEST_MYSQL_VARIABLE",
    "MySqlServer",
    "MySqlServers",
    "OpenMySql",
    "OwnMySql",
    "each_server",
    "every_mysql",
    "every_server",
    "newest_first",
]

TEST_MYSQL_VARIABLE: Final = "TIDEMARK_TEST_MYSQL"

every_mysql: Final = pytest.mark.parametrize("mysql", ["newest", *full("8.0")], indirect=True)
"""Runs a test on each MySQL; `make test` runs it on the newest."""

every_server: Final = pytest.mark.parametrize("mysql", ["newest", *full("8.0"), "mariadb"], indirect=True)
"""Runs a test on each MySQL and on MariaDB; `make test` runs it on the newest and on MariaDB."""

newest_first: Final = pytest.mark.parametrize("mysql", ["newest", *full("8.0", "mariadb")], indirect=True)
"""Runs a test whose rule does not depend on the server on each of them; `make test` runs it on the newest."""

each_server: Final = pytest.mark.parametrize("mysql", ["newest", "8.0", "mariadb"], indirect=True)
"""Runs a test on each MySQL and on MariaDB, in `make test` too: what differs between them."""


class MySqlServer:
    """A running server.

    Args:
        administrator: The server with a login that may do everything.
        version: Which server it is.
        origin: Where it comes from, for the summary.
        authority_path: The authority that signed its certificate, where that is known.
    """

    def __init__(
        self,
        administrator: MySqlAddress,
        *,
        version: MySqlVersion,
        origin: str,
        authority_path: Path | None = None,
    ) -> None:
        self.administrator = administrator
        self.version = version
        self.origin = origin
        self.authority_path = authority_path

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB."""
        return self.version.is_mariadb

    @property
    def reader(self) -> MySqlAddress:
        """The login with the least privileges."""
        return self.login(READER, self.administrator.password)

    def login(self, user: str, password: str) -> MySqlAddress:
        """Return the address of this server with another login."""
        return MySqlAddress(host=self.administrator.host, port=self.administrator.port, user=user, password=password)

    def connect(self, login: MySqlAddress | None = None, **settings: Any) -> pymysql.connections.Connection[Any]:
        """Open a connection, by default the administrator's, with autocommit; the caller closes it."""
        who = login or self.administrator
        # Making a TLS context takes longer than most of what tests do with a connection.
        is_plain = not any(key.startswith("ssl") for key in settings)
        settings = {"autocommit": True, **({"ssl_disabled": True} if is_plain else {}), **settings}
        return pymysql.connect(host=who.host, port=who.port, user=who.user, password=who.password, **settings)

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements as the administrator; return the rows of the last one."""
        with closing(self.connect()) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def create_database(self, prefix: str = "db") -> str:
        """Create a database with a name that no other test has."""
        name = f"{prefix}_{uuid.uuid4().hex[:12]}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def create_login(self, *grants: str) -> MySqlAddress:
        """Create a login that no other test has; ``grants`` are like ``SELECT ON *.*``."""
        user = f"u_{uuid.uuid4().hex[:12]}"
        self.execute(f"CREATE USER '{user}'@'%' IDENTIFIED BY '{self.administrator.password}'")
        self.execute("DO 0", *(f"GRANT {grant} TO '{user}'@'%'" for grant in grants))
        return self.login(user, self.administrator.password)

    @contextmanager
    def settings(self, **values: object) -> Iterator[None]:
        """While in the block, have these global variables; new connections see them."""
        before = {name: self.execute(f"SELECT @@GLOBAL.{name}")[0][0] for name in values}
        try:
            for name, value in values.items():
                self._set(name, value)
            yield
        finally:
            for name, value in reversed(before.items()):
                self._set(name, value)

    def _set(self, name: str, value: object) -> None:
        literal = f"'{value}'" if isinstance(value, str) else str(value)
        self.execute(f"SET GLOBAL {name} = {literal}")


class OwnMySql(MySqlServer):
    """A server that belongs to one test, which may take it away."""

    def __init__(self, embedded: EmbeddedMySql) -> None:
        super().__init__(
            embedded.administrator,
            version=embedded.version,
            origin="embedded, for one test",
            authority_path=embedded.authority_path,
        )
        self.embedded = embedded


OpenMySql = Callable[..., OwnMySql]
"""Starts a server of the test's own: version and settings in the server's names."""


class MySqlServers:
    """The servers of a test session: each is started at its first use and runs to the end.

    Args:
        used: Called with what was started.
    """

    def __init__(self, used: Callable[[str, str], None]) -> None:
        self._stack = ExitStack()
        self._servers: dict[MySqlVersion, MySqlServer] = {}
        self._used = used

    def get(self, version: MySqlVersion) -> MySqlServer:
        """Return a running server.

        Raises:
            EnvironmentProblem: This machine cannot run it.
        """
        if version not in self._servers:
            server = self._open(version, os.environ)
            self._used(f"mysql {version.value}", server.origin)
            self._servers[version] = server
        return self._servers[version]

    def close(self) -> None:
        """End all of them."""
        self._stack.close()

    def _open(self, version: MySqlVersion, environment: Mapping[str, str]) -> MySqlServer:
        named = environment.get(TEST_MYSQL_VARIABLE, "").strip()
        if named and version is MySqlVersion.NEWEST:
            return _named_mysql(parse_mysql_url(named, what=TEST_MYSQL_VARIABLE))
        embedded = self._stack.enter_context(EmbeddedMySql(version))
        return MySqlServer(
            embedded.administrator,
            version=version,
            origin=f"embedded {embedded.title}",
            authority_path=embedded.authority_path,
        )


def _named_mysql(address: MySqlAddress) -> MySqlServer:
    server = MySqlServer(address, version=MySqlVersion.NEWEST, origin=f"{TEST_MYSQL_VARIABLE}={address}")
    try:
        server.execute(
            f"CREATE USER IF NOT EXISTS '{READER}'@'%' IDENTIFIED BY '{address.password}'",
            f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{READER}'@'%'",
        )
    except pymysql.MySQLError as error:
        message = f"{TEST_MYSQL_VARIABLE} names {address}, which does not answer an administrator: {error}"
        raise AssertionError(message) from error
    return server
