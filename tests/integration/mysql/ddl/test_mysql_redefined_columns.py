"""Columns that are read and get another definition: the query goes on only where the copy still equals the table."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pymysql
import pytest

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_types import type_text
from datasources.mysql.types import Kind, arrow_type, column_type_of, select_expression
from tests.support.forms import full_cases
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_changes import read_range, scan_settings_of
from tests.support.mysql.mysql_server import MySqlServer, every_server, newest_first

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(600)]

INTEGERS = [
    f"{name}{sign}" for name in ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT") for sign in ("", " UNSIGNED")
]
TEXTS = [
    "CHAR(4)", "CHAR(9)", "VARCHAR(4)", "VARCHAR(9)", "VARCHAR(70)", "VARCHAR(400)", "TINYTEXT", "TEXT", "LONGTEXT",
    "VARCHAR(9) CHARACTER SET latin1", "VARCHAR(9) CHARACTER SET utf8mb4", "VARCHAR(70) CHARSET utf8mb3",
    "VARCHAR(9) COLLATE utf8mb4_bin", "TEXT CHARACTER SET latin1", "TEXT CHARACTER SET utf8mb4", "VARCHAR(9) BINARY",
    "CHAR(9) CHARACTER SET latin1", "VARCHAR(9) CHARACTER SET sjis", "VARCHAR(9) CHARACTER SET binary",
]  # fmt: skip
BYTES = ["BINARY(3)", "BINARY(5)", "VARBINARY(3)", "VARBINARY(5)", "VARBINARY(400)", "TINYBLOB", "BLOB", "LONGBLOB"]
CHOICES = [
    "ENUM('a','b')", "ENUM('a','b','c')", "ENUM('b','a')", "ENUM('A','b')", "ENUM('a')", "ENUM('c','a','b')",
    "ENUM('a','b') CHARACTER SET latin1", "ENUM('a','b','it''s',\"x\"\"y\")", "ENUM('a','b','é')",
]  # fmt: skip
SETS = ["SET('a','b')", "SET('a','b','c')", "SET('b','a')", "SET('a','b','c','d','e','f','g','h','i')", "SET('a')"]
DECIMALS = [
    "DECIMAL(10,2)", "DECIMAL(12,2)", "DECIMAL(12,3)", "DECIMAL(10,1)", "DECIMAL(10,3)", "NUMERIC(9,2)", "DECIMAL",
    "DECIMAL(12,2) UNSIGNED", "DECIMAL(40,2)", "DECIMAL(41,3)", "DOUBLE", "FLOAT", "FLOAT(9,1)", "DOUBLE(9,2)", "REAL",
]  # fmt: skip
TIMES = ["DATETIME", "DATETIME(3)", "DATETIME(6)", "TIMESTAMP NULL", "TIMESTAMP(3) NULL", "DATE", "TIME", "TIME(6)"]
OTHERS = ["BIT(1)", "BIT(8)", "BIT(12)", "YEAR", "JSON"]
DATA = {
    "INT": ["0", "1", "-128", "127", "255", "-32768", "65535", "8388607", "-2147483648", "4294967295", "9223372036854775807"],
    "TEXT": ["''", "'a'", "'a  '", "'ä'", "'四字四字'", "'longer tx'", "'  x'", "'€'"],
    "BYTES": ["''", "X'00'", "X'0100'", "'abc'"],
    "CHOICE": ["'a'", "'b'", "'c'"],
    "SET": ["''", "'a'", "'a,b'", "'c'"],
    "DECIMAL": ["0", "1.25", "-1.255", "99999999.99", "0.1", "16777217"],
    "TIME": ["'2024-02-29 23:59:59.999999'", "'2024-10-27 00:30:00'", "'2024-10-27 01:30:00'", "'1999-12-31 00:00:00'"],
    "OTHER": ["0", "1", "b'101'", "2024", "'{\"a\": 1.50}'"],
}  # fmt: skip
FAMILIES = {
    "INT": INTEGERS, "TEXT": TEXTS, "BYTES": BYTES, "CHOICE": CHOICES, "SET": SETS, "DECIMAL": DECIMALS, "TIME": TIMES,
    "OTHER": OTHERS,
}  # fmt: skip
NULLS = ("", " NULL", " NOT NULL")
ADDITIONS = ("", " COMMENT 'now, (INT)'", " DEFAULT NULL", " FIRST", " AFTER other", " COMMENT 'UNSIGNED'")
MODES = ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "", "NO_ZERO_DATE,ANSI_QUOTES", "STRICT_TRANS_TABLES,ANSI_QUOTES")
DEFAULTS = ("utf8mb4", "latin1", "utf8mb3")
WIDEST = {"INT": "DECIMAL(20,0)", "DECIMAL": "DECIMAL(38,4)"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A column that is defined anew."""

    family: str
    old: str
    new: str
    addition: str
    mode: str
    session_mode: str
    charset: str
    table_charset: str


def draw(chance: random.Random) -> Case:
    family = chance.choice([*FAMILIES, "INT", "TEXT", "TEXT", "DECIMAL", "CHOICE"])
    types = FAMILIES[family] if chance.random() < 0.95 else [t for each in FAMILIES.values() for t in each]
    old = chance.choice(FAMILIES[family])
    return Case(
        family=family,
        old=old + chance.choice(NULLS if "NULL" not in old else ("",)),
        new=chance.choice(types),
        addition=chance.choice(NULLS) + chance.choice(ADDITIONS),
        mode=chance.choice(MODES),
        session_mode=chance.choice(("", "STRICT_ALL_TABLES", "ALLOW_INVALID_DATES")),
        charset=chance.choice(DEFAULTS),
        table_charset=chance.choice(DEFAULTS),
    )


def column_expression(server: MySqlServer, database: str) -> tuple[str, Any]:
    ((kind, charset),) = server.execute(
        "SELECT column_type, character_set_name FROM information_schema.columns "
        f"WHERE table_schema = '{database}' AND table_name = 't' AND column_name = 'c'"
    )
    column = column_type_of(kind, charset, column="c")
    return select_expression(column, "c"), column


def rows(server: MySqlServer, database: str) -> list[tuple[Any, ...]]:
    expression, column = column_expression(server, database)
    is_time = column.kind in (Kind.DATETIME, Kind.TIME)
    with closing(server.connect(charset="utf8mb4", database=database)) as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute(f"SELECT id, {expression} FROM t ORDER BY id")
        return [(number, _instant(value) if is_time else value) for number, value in cursor.fetchall()]


def _instant(text: str | None) -> str | None:
    """A time without the zeros at its end, of which a type with more digits shows more."""
    return text.rstrip("0").rstrip(".") if text and "." in text else text


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a case: whether the server took the statement, and whether the query went on."""

    ran: bool
    is_equal: bool = True
    goes_on: bool = False


def run(server: MySqlServer, case: Case) -> Outcome:
    database = server.create_database("redefined")
    try:
        return _run(server, case, database)
    finally:
        server.execute(f"DROP DATABASE {database}")


def _run(server: MySqlServer, case: Case, database: str) -> Outcome:
    with closing(server.connect(charset="utf8mb4", database=database)) as connection, connection.cursor() as cursor:

        def tried(statement: str) -> bool:
            try:
                cursor.execute(statement)
            except pymysql.MySQLError:
                return False
            return True

        cursor.execute(f"SET sql_mode = '{case.session_mode}'")
        if not tried(f"CREATE TABLE t (id INT PRIMARY KEY, c {case.old}, other INT) CHARACTER SET {case.charset}"):
            return Outcome(ran=False)
        cursor.execute(f"ALTER TABLE t DEFAULT CHARACTER SET {case.table_charset}")
        values = [*DATA[case.family], "NULL"]
        for number, value in enumerate(values):
            tried(f"INSERT INTO t VALUES ({number}, {value}, 1)")
        tried("INSERT INTO t (id) VALUES (100)")
        tried("UPDATE t SET other = 2")  # a row event precedes the statement, whatever was rejected
        before, start = rows(server, database), position(server)
        _, column = column_expression(server, database)
        schema = f"id INT, c {_declared(case.family, column)}"
        cursor.execute(f"SET sql_mode = '{case.mode}'")
        if not tried(f"ALTER TABLE t MODIFY c {case.new}{case.addition}"):
            return Outcome(ran=False)
        after = rows(server, database)
    try:
        read_range(server, scan_settings_of(server, database, schema), start)
    except SchemaError:
        return Outcome(ran=True, is_equal=before == after)
    return Outcome(ran=True, is_equal=before == after, goes_on=True)


def _declared(family: str, column: Any) -> str:
    own = type_text(arrow_type(column))
    return WIDEST.get(family, own) if own.startswith(("DECIMAL", "BIGINT", "INT", "SMALLINT", "TINYINT")) else own


def classified(server: MySqlServer, cases: list[Case]) -> None:
    outcomes = [(case, run(server, case)) for case in cases]
    assert [case for case, outcome in outcomes if outcome.goes_on and not outcome.is_equal] == []
    assert sum(outcome.goes_on for _, outcome in outcomes) > len(cases) // 20
    assert any(not outcome.is_equal for _, outcome in outcomes)


@pytest.mark.slow
@newest_first
def test_if_the_query_continues_the_copy_equals_the_table(mysql: MySqlServer):
    chance = random.Random(20)
    classified(mysql, [draw(chance) for _ in range(70)])


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@every_server
def test_if_any_of_many_queries_continues_the_copy_equals_the_table(mysql: MySqlServer, seed: int):
    chance = random.Random(1000 + seed)
    classified(mysql, [draw(chance) for _ in range(300)])


HARMLESS = [
    ("ENUM('new','paid')", "ENUM('new','paid','x')", "STRING", "'paid'"),
    ("ENUM('new','paid') NOT NULL", "ENUM('new','paid','x') NOT NULL COMMENT 'state'", "STRING", "'paid'"),
    ("SET('a','b')", "SET('a','b','c','d','e','f','g','h','i')", "STRING", "'a,b'"),
    ("VARCHAR(20)", "VARCHAR(60)", "STRING", "'ä  '"),
    ("VARCHAR(20) NOT NULL", "VARCHAR(300) NOT NULL DEFAULT 'x' COMMENT 'c'", "STRING", "'ä'"),
    ("VARCHAR(20)", "TEXT", "STRING", "'ä  '"),
    ("TEXT", "MEDIUMTEXT", "STRING", "'ä'"),
    ("CHAR(5)", "CHAR(7)", "STRING", "'ä'"),
    ("VARBINARY(5)", "VARBINARY(9)", "BINARY", "'x'"),
    ("INT", "BIGINT", "BIGINT", "-7"),
    ("SMALLINT", "INT", "BIGINT", "-7"),
    ("INT UNSIGNED", "BIGINT", "BIGINT", "4294967295"),
    ("INT UNSIGNED", "BIGINT UNSIGNED", "DECIMAL(20,0)", "4294967295"),
    ("DECIMAL(10,2)", "DECIMAL(12,2)", "DECIMAL(12,2)", "-1.25"),
    ("DECIMAL(10,2)", "DECIMAL(12,3)", "DECIMAL(14,4)", "-1.25"),
    ("FLOAT", "DOUBLE", "DOUBLE", "0.1"),
    ("DATETIME", "DATETIME(3)", "TIMESTAMP_NTZ", "'2024-01-01 10:00:00'"),
    ("TIME", "TIME(6)", "BIGINT", "'-10:00:00'"),
    ("INT NOT NULL", "INT NULL", "INT", "3"),
    ("INT NOT NULL DEFAULT 4", "INT NOT NULL DEFAULT 5 COMMENT 'x'", "INT", "3"),
    ("INT", "INT COMMENT 'only that' FIRST", "INT", "3"),
    ("TIMESTAMP NULL", "TIMESTAMP NULL DEFAULT NULL COMMENT 'x'", "TIMESTAMP", "'2024-01-01 10:00:00'"),
    ("DATETIME(6)", "DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)", "TIMESTAMP_NTZ",
     "'2024-01-01 10:00:00.5'"),
    ("VARCHAR(20) CHARACTER SET latin1", "VARCHAR(20) CHARACTER SET utf8mb4", "STRING", "'é'"),
    ("BIT(5)", "BIT(5) COMMENT 'x'", "BINARY", "b'101'"),
    ("DATE", "DATE COMMENT 'x'", "DATE", "'2024-01-01'"),
    ("YEAR", "YEAR COMMENT 'x'", "INT", "2024"),
]  # fmt: skip


def changed(mysql: MySqlServer, old: str, value: str, *statements: str) -> tuple[str, Any]:
    database = mysql.create_database("redefined")
    mysql.execute(
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, other INT, c {old}) CHARACTER SET utf8mb4",
        f"INSERT INTO {database}.t VALUES (1, 1, {value})",
    )
    start = position(mysql)
    mysql.execute(f"USE {database}", *statements)
    return database, start


@every_server
@pytest.mark.parametrize(
    ("verb", "then"),
    # The end of a file without changes is known by the next heartbeat only: a second for each of them.
    [("MODIFY c", ["CREATE TABLE other (id INT)"]), *full_cases(("CHANGE COLUMN c c", []))],
)
def test_a_statement_that_keeps_every_value_is_ignored(mysql: MySqlServer, verb: str, then: list[str]):
    for old, new, spark, value in HARMLESS:
        modify, update = f"ALTER TABLE t {verb} {new}", "UPDATE t SET other = 9, c = c"
        database, start = changed(mysql, old, value, modify, update, "FLUSH BINARY LOGS", *then)
        found = read_range(mysql, scan_settings_of(mysql, database, f"id INT, c {spark}"), start)
        assert [row["row_kind"] for row in found] == ["-U", "+U"], (old, new)
        assert found[0]["c"] == found[1]["c"], (old, new)


@every_server
def test_several_statements_in_a_row_and_files_between_are_understood(mysql: MySqlServer):
    database, start = changed(
        mysql, "VARCHAR(20)", "'x'",
        "FLUSH BINARY LOGS",
        "ALTER TABLE t MODIFY c VARCHAR(30), ADD INDEX (other), COMMENT 'now'",
        "FLUSH BINARY LOGS",
        "ALTER TABLE t ADD unread INT NOT NULL DEFAULT 5",
        "ALTER TABLE t MODIFY c VARCHAR(40)",
    )  # fmt: skip
    last = position(mysql)
    mysql.execute(f"USE {database}", "ALTER TABLE t MODIFY c VARCHAR(50)", "UPDATE t SET c = 'y'")
    settings = scan_settings_of(mysql, database, "id INT, c STRING")
    assert [row["c"] for row in read_range(mysql, settings, start)] == ["x", "y"]
    assert [row["c"] for row in read_range(mysql, settings, last)] == ["x", "y"]
    mysql.execute(f"USE {database}", "SET sql_mode = ''", "ALTER TABLE t MODIFY c VARCHAR(45)")
    with pytest.raises(SchemaError, match="may change the type of column 'c'"):
        read_range(mysql, settings, last)


@every_server
def test_a_reader_that_is_behind_uses_the_columns_of_its_position(mysql: MySqlServer):
    """The types are BIGINT now and were when the second statement came: INT would not have been."""
    database, start = changed(
        mysql, "INT", "7",
        "ALTER TABLE t MODIFY c BIGINT",
        "ALTER TABLE t MODIFY c INT",
        "ALTER TABLE t MODIFY c BIGINT",
    )  # fmt: skip
    with pytest.raises(SchemaError, match=r"may change the type of column 'c'.*MODIFY c INT'"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c BIGINT"), start)


@every_server
def test_after_a_skipped_statement_no_type_is_known(mysql: MySqlServer):
    database, start = changed(mysql, "INT", "7", "ALTER TABLE t MODIFY c TINYINT")
    start_of_statement = position(mysql)
    mysql.execute(f"ALTER TABLE {database}.t MODIFY c INT")
    with pytest.raises(SchemaError, match="may change the type of column 'c'"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c INT"), start_of_statement)
    skipping = scan_settings_of(mysql, database, "id INT, c INT", scan__skip_transactions=f"{start.file}:{start.pos}")
    with pytest.raises(SchemaError, match=r"may change the type of column 'c'.*c INT'"):
        read_range(mysql, skipping, start)


@every_server
def test_a_table_without_rows_in_the_log_is_not_known(mysql: MySqlServer):
    database = mysql.create_database("redefined")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, c VARCHAR(20))")
    start = position(mysql)
    mysql.execute(f"ALTER TABLE {database}.t MODIFY c VARCHAR(30)")
    with pytest.raises(SchemaError, match="'scan.snapshot.again'"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c STRING"), start)


@every_server
@pytest.mark.parametrize(
    ("old", "declared", "new", "wanted"),
    [("INT", "INT", "BIGINT", "BIGINT"), ("DECIMAL(10,2)", "DECIMAL(10,2)", "DECIMAL(12,2)", r"DECIMAL\(12, 2\)")],
)
def test_a_type_that_does_not_fit_fails_at_once_with_a_hint(
    mysql: MySqlServer, old: str, declared: str, new: str, wanted: str
):
    database, start = changed(mysql, old, "1", f"ALTER TABLE t MODIFY c {new}")
    with pytest.raises(SchemaError, match=f"with the statement at .*declare it as {wanted} .*new checkpoint"):
        read_range(mysql, scan_settings_of(mysql, database, f"id INT, c {declared}"), start)


@every_server
def test_a_generated_column_that_is_read_may_depend_on_the_type(mysql: MySqlServer):
    database, start = changed(mysql, "DATETIME", "'2024-01-01 00:00:00'", "ALTER TABLE t MODIFY c DATETIME(3)")
    mysql.execute(f"ALTER TABLE {database}.t ADD g VARCHAR(30) AS (CAST(c AS CHAR)) STORED")
    with pytest.raises(SchemaError, match="may change the type of column 'c'"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c TIMESTAMP_NTZ, g STRING"), start)


@every_server
@pytest.mark.parametrize("definition", ["MODIFY C INT", "CHANGE c C INT", "MODIFY COLUMN C BIGINT NOT NULL"])
def test_a_column_with_another_spelling_has_another_name(mysql: MySqlServer, definition: str):
    """The rows behind it are described with the new spelling, and the reader may be behind the one that takes it back."""
    database, start = changed(mysql, "INT NOT NULL", "7", f"ALTER TABLE t {definition}", "UPDATE t SET other = 2")
    between = position(mysql)
    mysql.execute(f"USE {database}", "UPDATE t SET other = 3", "ALTER TABLE t MODIFY c BIGINT NOT NULL")
    last = position(mysql)
    mysql.execute(f"UPDATE {database}.t SET other = 4")
    settings = scan_settings_of(mysql, database, "id INT, c BIGINT")
    with pytest.raises(SchemaError, match="renames column 'c' to 'C', and 'c' is read"):
        read_range(mysql, settings, start)
    with pytest.raises(SchemaError, match="column 'c' of table .* is written 'C' from here on"):
        read_range(mysql, settings, between)
    assert [row["c"] for row in read_range(mysql, settings, last)] == [7, 7]


@every_server
def test_columns_whose_names_have_capitals_are_understood(mysql: MySqlServer):
    database = mysql.create_database("redefined")
    mysql.execute(
        f"CREATE TABLE {database}.t (Id INT PRIMARY KEY, Total INT, Ünread INT)",
        f"INSERT INTO {database}.t VALUES (1, 2, 3)",
    )
    start = position(mysql)
    with closing(mysql.connect(database=database, charset="utf8mb4")) as connection, connection.cursor() as cursor:
        cursor.execute("ALTER TABLE t MODIFY Total BIGINT")
        cursor.execute("ALTER TABLE t CHANGE total Total BIGINT COMMENT 'x', MODIFY ünread BIGINT")
        cursor.execute("UPDATE t SET Total = 5")
    found = read_range(mysql, scan_settings_of(mysql, database, "Id INT, Total BIGINT"), start)
    assert [row["Total"] for row in found] == [2, 5]


@every_server
def test_a_generated_column_that_is_read_may_depend_on_one_that_is_not(mysql: MySqlServer):
    generated = "DATETIME, u INT, h VARCHAR(30) AS (CAST(c AS CHAR)) STORED, g VARCHAR(40) AS (CONCAT(h, 'x')) STORED"
    value = "'2024-01-01 00:00:00', 1, DEFAULT, DEFAULT"
    database, start = changed(mysql, generated, value, "ALTER TABLE t MODIFY u BIGINT, ADD v INT", "UPDATE t SET u = 2")
    before = position(mysql)
    mysql.execute(f"ALTER TABLE {database}.t MODIFY c DATETIME(3)")
    assert mysql.execute(f"SELECT g FROM {database}.t") == [("2024-01-01 00:00:00.000x",)]
    settings = scan_settings_of(mysql, database, "id INT, g STRING")
    assert len(read_range(mysql, settings, start, before)) == 2
    with pytest.raises(SchemaError, match="from which a generated column that is read may be computed"):
        read_range(mysql, settings, start)
    unread = read_range(mysql, scan_settings_of(mysql, database, "id INT, u BIGINT"), start)
    assert [row["u"] for row in unread] == [1, 2]


@every_server
def test_a_row_with_0_gets_a_number_where_a_column_becomes_auto_increment(mysql: MySqlServer):
    """Whether it had been AUTO_INCREMENT is not in the log, so it stops; with NO_AUTO_VALUE_ON_ZERO nothing is numbered."""
    database, start = changed(
        mysql, "INT NOT NULL, UNIQUE (c)", "0", "ALTER TABLE t MODIFY c INT NOT NULL AUTO_INCREMENT"
    )
    assert mysql.execute(f"SELECT c FROM {database}.t") == [(1,)]
    with pytest.raises(SchemaError, match="AUTO_INCREMENT: where it was not, a row with 0 gets a new number"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c INT"), start)
    database, start = changed(
        mysql, "INT NOT NULL, UNIQUE (c)", "0", "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
        "ALTER TABLE t MODIFY c BIGINT NOT NULL AUTO_INCREMENT", "UPDATE t SET other = 4",
    )  # fmt: skip
    found = read_range(mysql, scan_settings_of(mysql, database, "id INT, c BIGINT"), start)
    assert [row["c"] for row in found] == [0, 0]


def test_every_type_is_drawn_as_old_and_as_new():
    chance = random.Random(20)
    drawn = [draw(chance) for _ in range(4000)]
    for family, types in FAMILIES.items():
        own = [case for case in drawn if case.family == family]
        assert {case.new for case in own} >= {*types}
        assert {old for case in own for old in types if case.old.startswith(old)} == {*types}
