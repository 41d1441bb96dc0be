"""Requirements of captured tables, with the statements that meet them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from datasources.mysql.config.mysql_options import CascadePolicy, NoKeyPolicy
from datasources.mysql.connection.quoting import quote_name
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.privileges import Login
from datasources.mysql.preflight.settings import ServerInfo
from datasources.mysql.preflight.tables import Cascade, CheckedTable
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.tables.chunk_key import KeyKind
from datasources.mysql.tables.table_keys import HISTORY_IN_BINLOG

_NEW_KEY: Final = "row_id BIGINT UNSIGNED NOT NULL INVISIBLE AUTO_INCREMENT PRIMARY KEY"
_PLAIN: Final = re.compile(r"[A-Za-z0-9_$]+")


def check_tables(tables: Sequence[CheckedTable], info: ServerInfo, wanted: Wanted, login: Login) -> list[Finding]:
    """Return the findings about each captured table."""
    findings: list[Finding] = []
    for table in tables:
        for check in (_readable(login), _engine, _history, _key(wanted), _cascades(info, wanted)):
            findings.extend(check(table))
    return findings


def check_found(
    tables: Sequence[CheckedTable], databases: Sequence[str], wanted: Wanted, login: Login
) -> list[Finding]:
    """Check that the configured names match a table that the login can see."""
    database, table = wanted.tables.database_name, wanted.tables.table_name
    if tables:
        return [Finding(check="tables", found=f"{len(tables)} match '{database}' . '{table}'")]
    seen = ", ".join(databases) or "none"
    scope = f"{quote_name(database)}.*" if _PLAIN.fullmatch(database) else "*.*"
    return [
        Finding(
            check="tables",
            found=f"none match 'database-name' = '{database}' and 'table-name' = '{table}'",
            severity=Severity.PROBLEM,
            why=f"a login sees only what it may read; databases that it sees: {seen}",
            fix=("correct the names", login.grant("SELECT", scope)),
        )
    ]


def check_filters(tables: Sequence[CheckedTable], logged: Sequence[str], ignored: Sequence[str]) -> list[Finding]:
    """Check that the captured databases are in the binlog.

    ``logged`` are the databases that the server logs, none = all; ``ignored`` are those that it does not log.
    """
    return [
        Finding(
            check="binlog filter",
            subject=database,
            found="the binlog leaves this database out",
            severity=Severity.PROBLEM,
            why="its changes cannot be read",
            fix=("take binlog_do_db and binlog_ignore_db out of the server's configuration file and restart it",),
        )
        for database in sorted({table.database for table in tables})
        if (logged and database not in logged) or database in ignored
    ]


def _readable(login: Login) -> Callable[[CheckedTable], Iterator[Finding]]:
    def check(table: CheckedTable) -> Iterator[Finding]:
        if not table.is_readable:
            yield Finding(
                check="grant",
                subject=table.name,
                found=f"{login} cannot read all its columns",
                severity=Severity.PROBLEM,
                why="snapshots read whole rows",
                fix=(login.grant("SELECT", table.quoted),),
            )

    return check


def _engine(table: CheckedTable) -> Iterator[Finding]:
    is_supported = table.engine == "InnoDB"
    yield Finding(
        check="engine",
        subject=table.name,
        found=table.engine,
        severity=Severity.OK if is_supported else Severity.PROBLEM,
        why="" if is_supported else "only InnoDB has consistent reads",
        fix=() if is_supported else (f"ALTER TABLE {table.quoted} ENGINE = InnoDB;",),
    )


def _history(table: CheckedTable) -> Iterator[Finding]:
    if table.is_versioned:
        yield Finding(
            check="history",
            subject=table.name,
            found="SYSTEM VERSIONING",
            severity=Severity.PROBLEM,
            why=HISTORY_IN_BINLOG,
            fix=(
                "leave it out with the option 'table-name'",
                f"or ALTER TABLE {table.quoted} DROP SYSTEM VERSIONING; which deletes its history",
            ),
        )


def _key(wanted: Wanted) -> Callable[[CheckedTable], Iterator[Finding]]:
    is_locked = wanted.snapshot.no_key is NoKeyPolicy.LOCK

    def check(table: CheckedTable) -> Iterator[Finding]:
        if table.key.kind is not KeyKind.NONE:
            yield Finding(check="key", subject=table.name, found=str(table.key))
            return
        yield Finding(
            check="key",
            subject=table.name,
            found="no primary key, and no unique index without NULL",
            severity=Severity.WARNING if is_locked or not wanted.has_snapshot else Severity.PROBLEM,
            why="it is read as one chunk, by one task, under a short lock, and not resumed inside"
            if is_locked
            else "its rows cannot be identified",
            fix=(
                f"ALTER TABLE {table.quoted} ADD COLUMN {_NEW_KEY};",
                *(() if is_locked else ("or set the option 'scan.snapshot.no-key' = 'lock'",)),
            ),
        )

    return check


def _cascades(info: ServerInfo, wanted: Wanted) -> Callable[[CheckedTable], Iterator[Finding]]:
    version = info.version
    is_logged = version.can_log_cascades and not info.has("innodb_native_foreign_keys", "ON")
    is_tolerated = wanted.binlog.on_fk_cascade is CascadePolicy.WARN

    def check(table: CheckedTable) -> Iterator[Finding]:
        for cascade in table.cascades:
            if is_logged:
                yield Finding(check="foreign key", subject=table.name, found=f"{cascade.actions}, which is logged")
                continue
            native = (
                ("put 'innodb_native_foreign_keys = OFF' into the server's configuration file and restart it",)
                if version.can_log_cascades
                else ()
            )
            yield Finding(
                check="foreign key",
                subject=table.name,
                found=f"{cascade.name} {cascade.actions}",
                severity=Severity.WARNING if is_tolerated else Severity.PROBLEM,
                why="the foreign key's changes of this table are not in the binlog",
                fix=(
                    *native,
                    *_without_action(table, cascade),
                    *(() if is_tolerated else ("or set the option 'on-fk-cascade' = 'warn'",)),
                ),
            )

    return check


def _without_action(table: CheckedTable, cascade: Cascade) -> tuple[str, ...]:
    """Return the statements that replace a foreign key by one without action; MySQL 8.0 refuses them as one."""
    name = cascade.name
    again = f"ADD CONSTRAINT {name} FOREIGN KEY {cascade.columns} REFERENCES {cascade.parent}"
    return (f"ALTER TABLE {table.quoted} DROP FOREIGN KEY {name};", f"ALTER TABLE {table.quoted} {again};")
