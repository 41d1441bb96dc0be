"""The differences between servers: MySQL 8.0, 8.4 and 9, MariaDB from 10.11 on.

Sources: MySQL manual, "SHOW BINARY LOG STATUS" (8.2); release notes of 8.0.22 and 8.0.26 (replica, source) and of 9.6
(foreign keys above InnoDB); MariaDB Knowledge Base, "SHOW BINLOG STATUS" (10.5.2) and "GTID".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from datasources.errors import SourceUnavailable

_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
_OLDEST_MYSQL: Final = (8, 0, 0)
_OLDEST_MARIADB: Final = (10, 11, 0)
_BINARY_LOG_STATUS: Final = (8, 2, 0)
_FOREIGN_KEYS_ABOVE_INNODB: Final = (9, 6, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerVersion:
    """A server's product and version.

    Attributes:
        is_mariadb: MariaDB, else MySQL or a fork of it.
        numbers: The release, such as ``(8, 0, 31)``.
        text: The version as the server reports it.
    """

    is_mariadb: bool
    numbers: tuple[int, int, int]
    text: str

    def __str__(self) -> str:
        return self.text if self.is_mariadb else f"MySQL {self.text}"

    @property
    def is_supported(self) -> bool:
        """Whether the source supports it."""
        return self.numbers >= (_OLDEST_MARIADB if self.is_mariadb else _OLDEST_MYSQL)

    @property
    def name_expression(self) -> str:
        """Selects the server's name: MySQL's UUID; MariaDB has none, so ``mariadb-`` and its server_id."""
        return "CONCAT('mariadb-', @@GLOBAL.server_id)" if self.is_mariadb else "@@GLOBAL.server_uuid"

    @property
    def status_statement(self) -> str:
        """Returns the end of the binlog: file, position, two filters, and on MySQL the executed GTIDs."""
        if self.is_mariadb:
            return "SHOW BINLOG STATUS"
        return "SHOW BINARY LOG STATUS" if self.numbers >= _BINARY_LOG_STATUS else "SHOW MASTER STATUS"

    @property
    def end_privilege(self) -> str:
        """The privilege to query the end of the binlog."""
        return "BINLOG MONITOR" if self.is_mariadb else "REPLICATION CLIENT"

    @property
    def can_log_cascades(self) -> bool:
        """Whether changes of other tables by foreign keys can be in the binlog at all."""
        return not self.is_mariadb and self.numbers >= _FOREIGN_KEYS_ABOVE_INNODB

    def set_global(self, name: str, value: str) -> str:
        """Return the statement that sets a global variable, persistently if the server can."""
        return f"SET {'GLOBAL' if self.is_mariadb else 'PERSIST'} {name} = {value};"


def parse_version(text: str, comment: str = "") -> ServerVersion:
    """Parse a version text.

    Args:
        text: ``@@version``: ``8.0.31``, ``8.0.36-28``, ``11.4.5-MariaDB-log``.
        comment: ``@@version_comment``; some MariaDB packages have their name only there.

    Raises:
        SourceUnavailable: It is no version.
    """
    match = _VERSION.search(text.removeprefix("5.5.5-"))
    if match is None:
        raise SourceUnavailable(f"the server calls its version '{text}', in which there is no number: is it a MySQL?")
    numbers = (int(match[1]), int(match[2]), int(match[3] or 0))
    return ServerVersion(is_mariadb="mariadb" in f"{text} {comment}".lower(), numbers=numbers, text=text)


def server_version(connection: Any) -> ServerVersion:
    """Query a server's version.

    Raises:
        SourceUnavailable: The answer is no version.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@version, @@version_comment")
        text, comment = cursor.fetchone()
    return parse_version(text, comment)


def read_variables(connection: Any, names: Iterable[str]) -> Mapping[str, str]:
    """Return those of the named global variables that the server has, as text."""
    wanted = tuple(names)
    marks = ", ".join(["%s"] * len(wanted))
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({marks})", wanted)
        return {name.lower(): value for name, value in cursor.fetchall()}
