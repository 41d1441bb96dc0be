"""The captured tables in the server's catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pymysql

from datasources.mysql.config.captured_tables import SYSTEM_DATABASES
from datasources.mysql.connection.quoting import table_name
from datasources.mysql.connection.server_dialect import ServerVersion, parse_version
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.tables.chunk_key import TableKey, choose_key
from datasources.mysql.tables.table_keys import TableCatalog, read_catalog

__all__ = ["Cascade", "CheckedTable", "read_tables", "server_is_replica", "visible_databases"]

_TABLES: Final = """
SELECT table_schema, table_name, engine, table_rows, data_length + index_length, table_type = 'SYSTEM VERSIONED'
FROM information_schema.tables WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1, 2"""
_ACTING: Final = """
SELECT DISTINCT constraint_schema, table_name FROM information_schema.referential_constraints
WHERE update_rule NOT IN ('NO ACTION', 'RESTRICT') OR delete_rule NOT IN ('NO ACTION', 'RESTRICT')"""
_AT_ONCE: Final = 100
_CASCADE: Final = re.compile(
    r"CONSTRAINT (?P<name>`(?:[^`]|``)+`) FOREIGN KEY (?P<columns>\(.+?`\)) REFERENCES (?P<parent>.+?`\)) ?"
    r"(?P<actions>(?:ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT|NO ACTION|RESTRICT) ?)+)"
)
_UNLOGGED: Final = re.compile(r"CASCADE|SET NULL|SET DEFAULT")
_DENIED: Final = frozenset({1142, 1143, 1044, 1045})

Name = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """A foreign key by which a change of one table changes another.

    Attributes:
        name: The constraint's name, in backticks.
        columns: Its columns, in parentheses.
        parent: The table that it refers to, with columns.
        actions: Such as ``ON DELETE CASCADE``.
    """

    name: str
    columns: str
    parent: str
    actions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTable:
    """One captured table.

    Attributes:
        database: Its database.
        table: Its name.
        engine: Its storage engine.
        rows: About how many rows it has.
        size_bytes: About how large it is, indexes included.
        key: Identifies its rows.
        cascades: Foreign keys by which other tables' changes change this one.
        is_readable: Whether the login may read all its columns.
        is_versioned: Whether it has MariaDB's SYSTEM VERSIONING.
    """

    database: str
    table: str
    engine: str
    rows: int
    size_bytes: int
    key: TableKey
    cascades: tuple[Cascade, ...]
    is_readable: bool
    is_versioned: bool = False

    @property
    def name(self) -> str:
        """``db.table``, for people."""
        return f"{self.database}.{self.table}"

    @property
    def quoted(self) -> str:
        """The name as SQL writes it."""
        return table_name(self.database, self.table)


def read_tables(connection: Any, wanted: Wanted) -> list[CheckedTable]:
    """Return the captured tables that the login can see, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        found = [row for row in cursor.fetchall() if wanted.captures(row[0], row[1])]
        parts = read_catalog(cursor, sorted({row[0] for row in found}))
        names = [(row[0], row[1]) for row in found]
        acting, unreadable = _with_cascades(cursor, names), _unreadable(cursor, names)
        return [
            CheckedTable(
                database=database,
                table=table,
                engine=engine or "unknown",
                rows=int(rows or 0),
                size_bytes=int(size or 0),
                key=_key(parts.get((database, table))),
                cascades=tuple(_cascades(cursor, database, table)) if (database, table) in acting else (),
                is_readable=(database, table) not in unreadable,
                is_versioned=bool(is_versioned),
            )
            for database, table, engine, rows, size, is_versioned in found
        ]


def visible_databases(connection: Any) -> list[str]:
    """Return the databases that the login can see, without the server's own."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW DATABASES")
        return [row[0] for row in cursor.fetchall() if row[0].lower() not in SYSTEM_DATABASES]


def _key(parts: TableCatalog | None) -> TableKey:
    return choose_key(() if parts is None else parts.indexes)


def _with_cascades(cursor: Any, names: Sequence[Name]) -> frozenset[Name]:
    """Return the tables that may have foreign keys with actions; from MySQL's catalog, which MariaDB restricts."""
    if parse_version(cursor.connection.get_server_info()).is_mariadb:
        return frozenset(names)
    cursor.execute(_ACTING)
    acting = {(database.lower(), table.lower()) for database, table in cursor.fetchall()}
    return frozenset(name for name in names if (name[0].lower(), name[1].lower()) in acting)


def _cascades(cursor: Any, database: str, table: str) -> Iterator[Cascade]:
    """Yield a table's foreign keys with actions.

    They are read from SHOW CREATE TABLE: MariaDB shows information_schema.referential_constraints only to logins
    with more than read privileges.
    """
    try:
        cursor.execute(f"SHOW CREATE TABLE {table_name(database, table)}")
    except pymysql.MySQLError as error:
        if error.args[0] in _DENIED:
            return
        raise
    for match in _CASCADE.finditer(cursor.fetchone()[1]):
        if _UNLOGGED.search(match["actions"]):
            yield Cascade(
                name=match["name"],
                columns=match["columns"],
                parent=match["parent"].strip(),
                actions=match["actions"].strip(),
            )


def _unreadable(cursor: Any, names: Sequence[Name]) -> frozenset[Name]:
    """Return the tables of which the login may not read all columns; many are checked by one statement."""
    found: set[Name] = set()
    for first in range(0, len(names), _AT_ONCE):
        some = names[first : first + _AT_ONCE]
        if not _are_readable(cursor, some):
            found |= {name for name in some if not _are_readable(cursor, [name])}
    return frozenset(found)


def _are_readable(cursor: Any, names: Sequence[Name]) -> bool:
    parts = (f"SELECT 1 FROM (SELECT * FROM {table_name(*name)} LIMIT 0) every_column" for name in names)  # noqa: S608 - quoted names
    try:
        cursor.execute(" UNION ALL ".join(parts))
    except pymysql.MySQLError as error:
        if error.args[0] in _DENIED:
            return False
        raise
    return True


def server_is_replica(connection: Any, version: ServerVersion) -> bool | None:
    """Return whether a server is a replica, or None if the login may not query it."""
    statement = "SHOW ALL REPLICAS STATUS" if version.is_mariadb else "SHOW REPLICA STATUS"
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
        except pymysql.MySQLError:
            return None
        return cursor.fetchone() is not None
