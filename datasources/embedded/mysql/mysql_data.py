"""Programs with an initialised data directory, cached and copied for every server.

Making system tables takes seconds; copying them a fraction of one. A cached directory has two logins, for the
demo or a test: an administrator, and a reader with the privileges that a reader of changes needs and no others. Each
server gives them a password of its own before it lets anybody log in.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pymysql

from datasources.embedded.fetch.directory_cache import CachedDirectory, DirectoryCache, is_complete
from datasources.embedded.fetch.mysql_programs import (
    INSTEAD,
    MySqlProgram,
    MySqlVersion,
    check_machine,
    fetch_program,
    installed_program,
)
from datasources.embedded.fetch.settings import cache_directory
from datasources.embedded.mysql.mysql_config import storage_options
from datasources.embedded.process.certificates import make_certificates
from datasources.embedded.process.local_server import LocalServer
from datasources.errors import EnvironmentProblem

ADMINISTRATOR: Final = "root"
"""The login that may do everything."""

READER: Final = "tidemark"
"""The login with the least privileges that the change source works with."""

_UNPRIVILEGED: Final = "nobody"
# Of every Unix: for a root whose own directory of temporary files is closed to others.
_OPEN_TO_ALL: Final = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - the name in it is made by mkdtemp
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


def prepare(version: MySqlVersion, directory: Path, *, report: Callable[[str], None]) -> PreparedMySql:
    """Return a server's program and initialised data, from the cache or fetched into it.

    Libraries may be linked in ``directory``, and what the server's user could not read is copied there.

    Raises:
        EnvironmentProblem: This machine cannot run or fetch it; the message gives the reason and the alternatives.
    """
    check_machine(version)
    cached = DirectoryCache(report=report).provide(_cached(version), lambda work: _make(version, work))
    program = _readable_program(cached / "program", directory)
    return PreparedMySql(program=installed_program(version, program, directory), data=cached / "data")


def kept_release(version: MySqlVersion) -> str | None:
    """Return the release that the cache holds, complete, or None."""
    cached = cache_directory() / _cached(version).directory_name
    if not is_complete(cached):
        return None
    return installed_program(version, cached / "program").release


def run_as() -> list[str]:
    """Return the option with which a server gives up the rights of root once it has started, where we are root."""
    return [f"--user={_UNPRIVILEGED}"] if _is_root() else []


def directory_for_server() -> Path | None:
    """Return where a server's directory is made; None = where temporary files are.

    Raises:
        EnvironmentProblem: The server would run as a user that may enter no directory of temporary files.
    """
    usual = Path(tempfile.gettempdir())
    if not _is_root() or _is_open(usual):
        return None
    for directory in _OPEN_TO_ALL:
        if directory.is_dir() and _is_open(directory):
            return directory
    raise EnvironmentProblem(
        f"a server that root starts runs as {_UNPRIVILEGED!r}, which may not enter {usual}: set TMPDIR to a "
        f"directory that every user may enter, or do not run this as root. {INSTEAD}"
    )


def give_to_server(directory: Path, *paths: Path) -> None:
    """Let the user that a server runs as own its directory, and these paths in it with all that is below them."""
    if not _is_root():
        return
    owner = pwd.getpwnam(_UNPRIVILEGED)
    inside = [Path(at, name) for path in paths for at, folders, files in os.walk(path) for name in (*folders, *files)]
    for path in (directory, *paths, *inside):
        os.lchown(path, owner.pw_uid, owner.pw_gid)


def _is_root() -> bool:
    return os.geteuid() == 0


def _is_open(directory: Path) -> bool:
    """Return whether every user may enter a directory."""
    real = directory.resolve()
    return all(path.stat().st_mode & stat.S_IXOTH for path in (real, *real.parents))


def _readable_program(program: Path, directory: Path) -> Path:
    """Return where a server finds its program: root's cache is closed to the user that the server runs as."""
    if not _is_root():
        return program
    here = directory / "program"
    if not here.exists():
        shutil.copytree(program, here, symlinks=True, copy_function=_link)
    return here


def _link(source: str, target: str) -> None:
    """Make a second name for a file, or a copy on another file system."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


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
    as_us = ["--user=root"] if _is_root() else []  # which is refused unless it is explicit
    command = [*program.command, "--no-defaults", *as_us, *(f"--{k}={v}" for k, v in program.settings.items())]
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
        password = secrets.token_urlsafe()  # not used again: every server sets its own
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
