"""The settings of a MySQL that we start: what a reader of changes needs, and no durability beyond this process.

A crash of the server loses nothing that was committed: the system keeps what the server wrote. Only what guards against
a crash of the machine is off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from datasources.embedded.fetch.mysql_programs import MySqlVersion
from datasources.embedded.process.ports import LOOPBACK
from datasources.errors import OptionError

SHARED_DEFAULTS: Final[Mapping[str, str]] = {
    "log-bin": "binlog",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
    "default-time-zone": "+00:00",
    "skip-name-resolve": "ON",
    "innodb-doublewrite": "OFF",
    "innodb-buffer-pool-size": "64M",
    "innodb-buffer-pool-load-at-startup": "OFF",
    "innodb-buffer-pool-dump-at-shutdown": "OFF",
    "performance-schema": "OFF",
    "max-connections": "200",
}
"""Settings of every server that we start ourselves, in the server's own names and units."""

MYSQL_DEFAULTS: Final[Mapping[str, str]] = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "mysqlx": "OFF",
    "secure-file-priv": "NULL",
    "innodb-redo-log-capacity": "64M",
}
"""What MySQL needs besides."""

MARIADB_DEFAULTS: Final[Mapping[str, str]] = {
    "gtid-strict-mode": "ON",
    "innodb-log-file-size": "64M",
    "character-set-server": "utf8mb4",
}
"""What MariaDB needs besides."""

_KEY: Final = re.compile(r"[a-z][a-z0-9_.-]*")
_OURS: Final = frozenset(
    {
        "basedir",
        "bind-address",
        "datadir",
        "defaults-file",
        "init-file",
        "log-error",
        "pid-file",
        "plugin-dir",
        "port",
        "socket",
        "ssl-ca",
        "ssl-cert",
        "ssl-key",
        "tmpdir",
        "user",
    }
)


def server_options(
    version: MySqlVersion, config: Mapping[str, str], *, server_id: int, port: int, directory: Path
) -> list[str]:
    """Return the part of the command line that makes a server ours.

    The caller's settings, with ``-`` or ``_`` in their names, win over our defaults; ``directory`` is for the socket.

    Raises:
        OptionError: ``config`` sets what makes the server an embedded one, or is no setting.
    """
    given = _checked(config)
    flavour = MARIADB_DEFAULTS if version.is_mariadb else MYSQL_DEFAULTS
    settings = {**SHARED_DEFAULTS, **flavour, "server-id": str(server_id), **given}
    if _is_off(settings["log-bin"]):
        del settings["log-bin"]
        settings["skip-log-bin"] = "ON"
    settings |= {
        "port": str(port),
        "bind-address": LOOPBACK,
        "socket": str(directory / "mysql.sock"),
        "pid-file": str(directory / "mysql.pid"),
        # In the machine's own, a MariaDB that starts removes the temporary tables of all others.
        "tmpdir": str(directory),
    }
    if version.is_mariadb:  # which has no value for "nowhere": where its temporary files are, it may import and export
        settings.setdefault("secure-file-priv", str(directory))
    return [f"--{key}={value}" for key, value in settings.items()]


def storage_options(version: MySqlVersion) -> list[str]:
    """Return the options with which a data directory is made: small files, and none of it forced to disk."""
    flavour = MARIADB_DEFAULTS if version.is_mariadb else MYSQL_DEFAULTS
    needless = ("gtid", "enforce-gtid", "innodb-log-file-size")
    own = [f"--{key}={value}" for key, value in flavour.items() if not key.startswith(needless)]
    small = ["--innodb-log-file-size=16M"] if version.is_mariadb else []
    return [*own, *small, "--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--skip-log-bin"]


def _checked(config: Mapping[str, str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for key, value in config.items():
        name = key.strip().lower().replace("_", "-")
        if not _KEY.fullmatch(name) or any(mark in value for mark in "\r\n\0"):
            raise OptionError(
                f"server setting {key!r} = {value!r} is no option of a command line: write name and value."
            )
        if name in _OURS:
            raise OptionError(f"server setting {key!r} is made by the embedded MySQL itself: leave it out.")
        if name in given:
            raise OptionError(f"server setting {key!r} is given twice.")
        given[name] = value
    return given


def _is_off(value: str) -> bool:
    return value.strip().upper() in ("OFF", "0", "FALSE")
