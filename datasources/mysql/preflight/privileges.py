"""The privileges of a login, from its grants, and the exact statements for missing ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from datasources.mysql.connection.quoting import quote_name, quote_text
from datasources.mysql.connection.server_dialect import ServerVersion
from datasources.mysql.preflight.finding import Finding, Severity

_GRANT: Final = re.compile(r"GRANT (?P<privileges>.+?) ON (?P<scope>\S+) TO ", re.IGNORECASE)
_COLUMN_LIST: Final = re.compile(r"\([^)]*(?:\)|\Z)")
_EVERYWHERE: Final = "*.*"
_ALL: Final = "ALL PRIVILEGES"
# The same privilege under the name that MariaDB 10.5 gave it.
_OTHER_NAMES: Final[Mapping[str, str]] = {"REPLICATION CLIENT": "BINLOG MONITOR"}
_REASONS: Final[Mapping[str, str]] = {
    "REPLICATION SLAVE": "the binlog is sent to logins with this privilege only",
    "REPLICATION CLIENT": "it is needed to query the end of the binlog",
    "LOCK TABLES": "a table is locked for milliseconds to fix the read position of a chunk",
}


@dataclass(frozen=True, slots=True)
class Login:
    """A login and its privileges.

    Attributes:
        user: Its name as the server knows it.
        host: The hosts from which it may come, as the server knows them.
        privileges: Privileges in upper case, by scope as SHOW GRANTS writes it: ``*.*``, `` `shop`.* ``.
    """

    user: str
    host: str
    privileges: Mapping[str, frozenset[str]]

    def __str__(self) -> str:
        return f"{quote_text(self.user)}@{quote_text(self.host)}"

    def may(self, privilege: str, database: str | None = None) -> bool:
        """Return whether it has a privilege globally, or else in one database."""
        scopes = [_EVERYWHERE] if database is None else [_EVERYWHERE, f"{quote_name(database)}.*"]
        names = {privilege, _OTHER_NAMES.get(privilege, privilege), _ALL}
        return any(names & self.privileges.get(scope, frozenset()) for scope in scopes)

    def grant(self, privilege: str, scope: str = _EVERYWHERE) -> str:
        """Return the statement that grants it a privilege."""
        return f"GRANT {privilege} ON {scope} TO {self};"


def read_login(connection: Any, version: ServerVersion) -> Login:
    """Query the grants of the connection's login, including its active roles."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_USER(), CURRENT_ROLE()")
        current, roles = cursor.fetchone()
        with_roles = not version.is_mariadb and roles not in (None, "NONE", "")
        # MariaDB shows the grants of the active role by itself.
        cursor.execute("SHOW GRANTS FOR CURRENT_USER()" + (f" USING {roles}" if with_roles else ""))
        lines = [str(row[0]) for row in cursor.fetchall()]
        if version.is_mariadb:
            cursor.execute("SHOW GRANTS")
            lines += [str(row[0]) for row in cursor.fetchall()]
    user, _, host = current.rpartition("@")
    return Login(user, host, _parse_grants(lines))


def check_privileges(login: Login, version: ServerVersion, *, locked: Iterable[str]) -> list[Finding]:
    """Check the privileges of every reader, and that to lock tables if some will be locked.

    Args:
        login: The login.
        version: The server, which names privileges in its own way.
        locked: Databases with tables that will be locked.
    """
    findings = [_check(login, version, privilege) for privilege in ("REPLICATION SLAVE", "REPLICATION CLIENT")]
    return findings + [_check(login, version, "LOCK TABLES", database) for database in sorted(set(locked))]


def _check(login: Login, version: ServerVersion, privilege: str, database: str | None = None) -> Finding:
    scope = _EVERYWHERE if database is None else f"{quote_name(database)}.*"
    name = version.end_privilege if privilege == "REPLICATION CLIENT" else privilege
    if login.may(privilege, database):
        return Finding(check="grant", subject=name, found=f"{login} has it on {scope}")
    return Finding(
        check="grant",
        subject=name,
        found=f"{login} lacks it on {scope}",
        severity=Severity.PROBLEM,
        why=_REASONS[privilege],
        fix=(login.grant(name, scope),),
    )


def _parse_grants(lines: Iterable[str]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in lines:
        match = _GRANT.match(line)
        if match is not None:
            names = _COLUMN_LIST.sub("", match["privileges"]).split(",")
            here = frozenset(name.strip().upper() for name in names)
            found[match["scope"]] = found.get(match["scope"], frozenset()) | here
    return found
