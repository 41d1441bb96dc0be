"""Statements in every form that a session can give them, and what they really did to a table."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import pymysql

from datasources.mysql.binlog import BinlogRows, Capture, Statement
from datasources.mysql.ddl import Action, classify, concerns
from tests.support.mysql.mysql_binlog import position, reader_at
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["CASES", "FORMS", "Case", "Outcome", "run_case"]

Rows = list[tuple[Any, ...]] | None

# {t} is the captured table, {o} one that is not, {d} the database, {D} another one.
FORMS: Final = (
    "DROP TABLE {t}",
    "DROP TABLES IF EXISTS {o}, {d}.{t}",
    "TRUNCATE {t}",
    "TRUNCATE TABLE {d}.{t}",
    "RENAME TABLE {t} TO moved",
    "RENAME TABLES {t} TO moved",
    "RENAME TABLE IF EXISTS {t} TO moved",
    "RENAME TABLES {o} TO o2, {t} TO moved, o2 TO {t}",
    "RENAME TABLE {t} WAIT 5 TO moved",
    "RENAME TABLE {t} NOWAIT TO {D}.moved",
    "RENAME /*!50000 TABLES */ {t} /* TO x */ TO moved",
    "RENAME TABLE /*M!100000 {t} TO moved, */ {o} TO o2",
    "RENAME TABLE /*!99999 {t} TO moved, */ {o} TO o2",
    "ALTER TABLE {t} RENAME moved",
    "ALTER TABLE {t} RENAME = moved",
    "ALTER TABLE {t} RENAME AS {D}.moved, ADD w INT",
    "ALTER IGNORE TABLE {t} ADD UNIQUE (twice)",
    "ALTER ONLINE TABLE {t} ADD w INT DEFAULT 5",
    "ALTER TABLE IF EXISTS {t} DROP COLUMN n",
    "ALTER TABLE {t} WAIT 5 DROP n, COMMENT 'x'",
    "ALTER TABLE {t} COMMENT 'a\\', DROP COLUMN n, COMMENT 'b'",
    "ALTER TABLE {t} COMMENT 'it''s /* ', DROP COLUMN n, COMMENT ' */'",
    'ALTER TABLE {t} COMMENT "x", DROP n',
    "ALTER TABLE {t} COMMENT 'x' /*! , DROP n */",
    "ALTER TABLE {t} COMMENT 'x' /*M! , DROP n */",
    "ALTER TABLE {t} COMMENT 'x' /*!50000, DROP n */ -- */",
    "ALTER TABLE {t} COMMENT 'x', # DROP m\n DROP n",
    "ALTER TABLE {t} MODIFY n SMALLINT",
    "ALTER TABLE {t} MODIFY n BIGINT",
    "ALTER TABLE {t} MODIFY n DECIMAL(10,1)",
    "ALTER TABLE {t} CHANGE price price DECIMAL(10,1)",
    "ALTER TABLE {t} MODIFY note VARCHAR(5)",
    "ALTER TABLE {t} MODIFY note VARCHAR(60)",
    "ALTER TABLE {t} MODIFY note CHAR(30)",
    "ALTER TABLE {t} MODIFY kind ENUM('b','a')",
    "ALTER TABLE {t} MODIFY kind ENUM('A','b','c')",
    "ALTER TABLE {t} MODIFY kind ENUM('a','b','c')",
    "ALTER TABLE {t} MODIFY at DATETIME",
    "ALTER TABLE {t} MODIFY gone INT NOT NULL",
    "ALTER TABLE {t} ADD w INT NOT NULL DEFAULT 7",
    "ALTER TABLE {t} RENAME COLUMN n TO m, RENAME COLUMN twice TO n",
    "ALTER TABLE {t} DROP PRIMARY KEY, ADD PRIMARY KEY (n)",
    "ALTER TABLE {t} CONVERT TO CHARACTER SET utf8mb4",
    "CREATE OR REPLACE TABLE {t} (id INT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS {t} (id INT PRIMARY KEY)",
    "CREATE INDEX i ON {t} (n)",
    "DROP DATABASE {d}",
    "CREATE OR REPLACE DATABASE {d}",
    "SET STATEMENT max_statement_time = 30 FOR ALTER TABLE {t} DROP n",
    "SET STATEMENT max_statement_time = 30 FOR RENAME TABLE {t} TO moved",
    "EXECUTE IMMEDIATE 'ALTER TABLE {d}.t DROP n'",
    "!DELETE FROM {t}",
    "!UPDATE {D}.view SET n = n + 1",
    "!INSERT INTO {D}.trig VALUES (77)",
    "!DO {D}.change()",
    "!CREATE TABLE IF NOT EXISTS t3 AS SELECT {D}.change() AS a",
    "DELETE FROM {t}",
    "UPDATE {D}.view SET n = n + 1",
    "INSERT INTO {D}.trig VALUES (77)",
)
"""A statement behind ``!`` is written with binlog_format = STATEMENT."""
NAMES: Final = {"utf8mb4": "größe表", "latin1": "größe", "sjis": "表", "gbk": "表格", "binary": "größe"}
MODES: Final = ("", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES")
READ: Final = ("id", "n", "price", "note", "kind", "at", "twice", "gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One statement of one session.

    Attributes:
        form: the statement, with placeholders for names.
        charset: of the client.
        sql_mode: of the session.
        quote: around names; empty = none.
    """

    form: str
    charset: str
    sql_mode: str
    quote: str

    def names(self, database: str) -> dict[str, str]:
        """Return the values of the form's placeholders."""
        quote = self.quote if self.quote != '"' or "ANSI_QUOTES" in self.sql_mode else "`"
        raw = {"t": NAMES[self.charset], "o": "other", "d": database, "D": f"{database}_2"}
        return {key: f"{quote}{name}{quote}" for key, name in raw.items()}


CASES: Final = tuple(
    Case(form=form, charset=charset, sql_mode=mode, quote=quote)
    for form, charset, mode, quote in product(FORMS, NAMES, MODES, ("", "`", '"'))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a statement did, and what the reader of the binlog made of it.

    Attributes:
        error: why the server refused it; None if it ran.
        before, after: the rows of the captured table; None = there is none.
        actions: what statements of the binlog were judged to mean.
        has_rows: whether row events of the table came.
    """

    error: str | None
    before: Rows
    after: Rows
    actions: list[Action]
    has_rows: bool

    @property
    def is_lost(self) -> bool:
        """Whether the table's rows changed, and the reader skipped that."""
        return self.before != self.after and not self.has_rows and set(self.actions) <= {Action.PASS}


def run_case(server: MySqlServer, case: Case) -> Outcome:
    """Run a statement on tables of its own, and read its changes from the binlog."""
    database = server.create_database("form")
    table = NAMES[case.charset]
    _prepare(server, database, table)
    start = position(server)
    before, error = _rows(server, database, table), None
    with closing(server.connect(charset="utf8mb4", database=database)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SET sql_mode = '{case.sql_mode}'")
        if case.form.startswith("!"):
            cursor.execute("SET binlog_format = 'STATEMENT'")
        cursor.execute(f"SET NAMES {case.charset}")
        text = case.form.removeprefix("!").format(**case.names(database))
        connection.encoding = {"gbk": "gbk", "sjis": "cp932", "latin1": "cp1252"}.get(case.charset, "utf-8")
        try:
            cursor.execute(text)
        except pymysql.MySQLError as refused:
            error = str(refused)
    after = _rows(server, database, table)
    actions, has_rows = _read(server, database, table, start)
    server.execute(f"DROP DATABASE IF EXISTS {database}", f"DROP DATABASE IF EXISTS {database}_2")
    return Outcome(error=error, before=before, after=after, actions=actions, has_rows=has_rows)


def _prepare(server: MySqlServer, database: str, table: str) -> None:
    columns = (
        "id INT PRIMARY KEY, n INT, price DECIMAL(10,2), note VARCHAR(20), kind ENUM('a','b'), at DATETIME(6), "
        "twice INT, gone INT"
    )
    other = f"{database}_2"
    server.execute(
        f"CREATE DATABASE {other}",
        f"CREATE TABLE {database}.`{table}` ({columns})",
        f"CREATE TABLE {database}.other ({columns})",
        f"INSERT INTO {database}.`{table}` VALUES "
        f"(1, 70000, 1.25, 'a text that is long', 'a', '2024-01-01 00:00:00.6', 4, NULL), (2, 2, 2.5, 'x ', 'b', NULL, 4, 1)",
        f"CREATE VIEW {other}.view AS SELECT * FROM {database}.`{table}`",
        f"CREATE TABLE {other}.trig (id INT PRIMARY KEY)",
        f"CREATE TRIGGER {other}.t1 AFTER INSERT ON {other}.trig FOR EACH ROW DELETE FROM {database}.`{table}`",
        "SET GLOBAL log_bin_trust_function_creators = 1",
        f"CREATE FUNCTION {other}.`change`() RETURNS INT MODIFIES SQL DATA "
        f"BEGIN DELETE FROM {database}.`{table}` WHERE id = 1; RETURN 1; END",
    )


def _rows(server: MySqlServer, database: str, table: str) -> Rows:
    try:
        return server.execute(f"SELECT {', '.join(READ)} FROM {database}.`{table}` ORDER BY 1, 2")
    except pymysql.MySQLError:
        return None


def _read(server: MySqlServer, database: str, table: str, start: Any) -> tuple[list[Action], bool]:
    def captures(*name: str) -> bool:
        return name == (database, table)

    actions, has_rows = [], False
    with closing(reader_at(server, start, lambda *name: Capture() if captures(*name) else None)) as reader:
        for change in reader:
            has_rows |= isinstance(change, BinlogRows)
            if isinstance(change, Statement) and concerns(change, database.__eq__, captures):
                declared = {(database, table): dict.fromkeys(READ)}
                actions.append(classify(change, declared, captures, logs_cascades=lambda: False).action)
    return actions, has_rows
