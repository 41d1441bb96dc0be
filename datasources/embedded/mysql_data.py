"""Programs with an initialised data directory beside them, kept in the cache and copied for every server.

Making system tables takes seconds; copying them a fraction of one. What is kept has two logins, for whoever runs the
demo or a test: an administrator, and a reader with the privileges that a reader of changes needs and no others. Each
server gives them a password of its own before it lets anybody log in.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pymysql

from datasources.embedded.certificates import make_certificates
from datasources.embedded.directory_cache import CachedDirectory, DirectoryCache, is_complete
from datasources.embedded.local_server import LocalServer
from datasources.embedded.mysql_config import storage_options
from datasources.embedded.mysql_programs import (
    INSTEAD,
    MySqlProgram,
    MySqlVersion,
    check_machine,
    fetch_program,
    installed_program,
)
from datasources.embedded.settings import cache_directory

__all__ = [
    "ADMINISTRATOR",
    "READER",
    "PreparedMySql",
    "copy_data",
    "kept_release",
    "password_script",
    "prepare",
    "run_as",
]

ADMINISTRATOR: Final = "root"
"""The login that may do everything."""

READER: Final = "tidemark"
"""The login with the least privileges that the change source works with."""

_REVISION: Final = 1
_SIZES_MB: Final = {MySqlVersion.NEWEST: 60, MySqlVersion.V8_0: 52, MySqlVersion.MARIADB: 142}
_DEADLINE_S: Final = 300.0
_GRACE_S: Final = 60.0
_REPLICATION: Final = "SELECT, REPLICATION SLAVE, REPLICATION CLIENT"
# A copy must get an identity of its own, and needs nothing of what the template cached or locked.
_NOT_COPIED: Final = ("auto.cnf", "ib_buffer_pool", "ibtmp1", "mysql.sock*", "*.pid", "*.err")
# MariaDB comes with logins of root for some hosts, which win over that for all hosts.
_WITHOUT_PASSWORD: Final = (
    "DELETE FROM mysql.global_priv WHERE User = '' OR User = 'root' AND Host <> 'localhost'",
    "FLUSH PRIVILEGES",
)
_LOGINS: Final = (
    f"CREATE USER '{ADMINISTRATOR}'@'%' IDENTIFIED BY '{{password}}'",
    f"GRANT ALL PRIVILEGES ON *.* TO '{ADMINISTRATOR}'@'%' WITH GRANT OPTION",
    f"CREATE USER '{READER}'@'%' IDENTIFIED BY '{{password}}'",
    f"GRANT {_REPLICATION} ON *.* TO '{READER}'@'%'",
    f"ALTER USER '{ADMINISTRATOR}'@'localhost' IDENTIFIED BY '{{password}}'",
)
# Not into the binlog: a replica has passwords of its own.
_PASSWORDS: Final = (
    "SET SESSION sql_log_bin = 0",
    f"ALTER USER '{ADMINISTRATOR}'@'%' IDENTIFIED BY '{{password}}'",
    f"ALTER USER '{ADMINISTRATOR}'@'localhost' IDENTIFIED BY '{{password}}'",
    f"ALTER USER '{READER}'@'%' IDENTIFIED BY '{{password}}'",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMySql:
    """A server's program and the data directory to copy."""

    program: MySqlProgram
    data: Path


def prepare(version: MySqlVersion, links: Path, *, tell: Callable[[str], None]) -> PreparedMySql:
    """Return a server's program and initialised data, from the cache or fetched into it.

    Args:
        version: Which server.
        links: A directory of the caller's in which libraries may be linked.
        tell: Receives a line when something takes long.

    Raises:
        EnvironmentProblem: This machine cannot run or fetch it; the message says why and what can be done.
    """
    check_machine(version)
    place = DirectoryCache(tell=tell).provide(_cached(version), lambda work: _make(version, work))
    return PreparedMySql(program=installed_program(version, place / "program", links), data=place / "data")


def kept_release(version: MySqlVersion) -> str | None:
    """Return the release that the cache holds, complete, or None."""
    place = cache_directory() / _cached(version).directory_name
    if not is_complete(place):
        return None
    return installed_program(version, place / "program").release


def run_as() -> list[str]:
    """Return the option that lets a server run as root, where we are root; it is refused otherwise."""
    return ["--user=root"] if os.geteuid() == 0 else []


def _cached(version: MySqlVersion) -> CachedDirectory:
    return CachedDirectory(
        title=version.title,
        directory_name=f"mysql-{version.value}-r{_REVISION}",
        size_mb=_SIZES_MB[version],
        instead=INSTEAD,
        doing=("fetching and preparing", "prepared"),
    )


def _make(version: MySqlVersion, work: Path) -> Path:
    made, fetched = work / "made", work / "fetched"
    made.mkdir()
    fetched.mkdir()
    fetch_program(version, fetched, made / "program")
    server = LocalServer(version.title.split()[0])
    try:
        program = installed_program(version, made / "program", server.directory)
        _initialise(program, server, made / "data")
    finally:
        server.close()
    make_certificates(made / "data")
    return made


def _initialise(program: MySqlProgram, server: LocalServer, data: Path) -> None:
    """Make the system tables and the logins in a new data directory."""
    command = [*program.command, "--no-defaults", *run_as(), *(f"--{k}={v}" for k, v in program.settings.items())]
    command += [f"--datadir={data}", *storage_options(program.version)]
    environment = {**os.environ, **program.environment}
    if program.scripts:
        data.mkdir()
        script = server.directory / "bootstrap.sql"
        script.write_bytes(b"create database mysql;\nuse mysql;\n" + b"".join(p.read_bytes() for p in program.scripts))
        into = ["/bin/sh", "-c", 'script=$1; shift; exec "$@" <"$script"', "sh", str(script)]
        server.run([*into, *command, "--bootstrap"], deadline_s=_DEADLINE_S, environment=environment)
    else:
        server.run([*command, "--initialize-insecure"], deadline_s=_DEADLINE_S, environment=environment)
    _make_logins(program, server, command, environment)
    for pattern in _NOT_COPIED:
        for path in data.glob(pattern):
            path.unlink()


def _make_logins(program: MySqlProgram, server: LocalServer, command: list[str], environment: dict[str, str]) -> None:
    socket = server.directory / "mysql.sock"
    tls = ["--skip-ssl"] if program.version.is_mariadb else []
    server.start([*command, *tls, f"--socket={socket}", "--skip-networking"], environment)
    server.wait_until(lambda: _connects(socket), deadline_s=_DEADLINE_S)
    with closing(pymysql.connect(unix_socket=str(socket), user="root")) as connection, connection.cursor() as cursor:
        password = secrets.token_urlsafe()  # which nobody needs: every server sets its own
        for statement in (*(_WITHOUT_PASSWORD if program.version.is_mariadb else ()), *_LOGINS):
            cursor.execute(statement.format(password=password))
    server.stop(grace_s=_GRACE_S)


def password_script(password: str) -> str:
    """Return the statements with which a server that starts gives the logins its own password."""
    return "".join(f"{statement.format(password=password)};\n" for statement in _PASSWORDS)


def _connects(socket: Path) -> bool:
    try:
        pymysql.connect(unix_socket=str(socket), user="root").close()
    except pymysql.MySQLError:
        return False
    return True


def copy_data(data: Path, target: Path) -> None:
    """Copy an initialised data directory to where a server may change it."""
    shutil.copytree(data, target)
