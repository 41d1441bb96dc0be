"""Statements in every form, on real servers: one that changed a captured table without row events must not pass."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from datasources.embedded import MySqlVersion
from datasources.errors import RecordError
from datasources.mysql.binlog import Capture, Statement
from datasources.mysql.binlog.reading.opening import ReaderId, reader_opener
from datasources.mysql.config.mysql_options import MySqlConnectionOptions
from datasources.mysql.connection.connection import connection_settings
from datasources.mysql.ddl import Action, classify, concerns
from datasources.options import parse_group
from tests.support.mysql.mysql_binlog import everything, images, position, read_changes
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_server
from tests.support.mysql_values.mysql_statements import CASES, FORMS, Case, run_case

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(600)]


def _sample() -> list[Case]:
    """Every form once, with a session drawn for it."""
    chance = random.Random(17)
    return [chance.choice([case for case in CASES if case.form == form]) for form in FORMS]


def _lost(mysql: MySqlServer, cases: list[Case]) -> list[str]:
    outcomes = [(case, run_case(mysql, case)) for case in cases]
    assert sum(outcome.error is None for _, outcome in outcomes) > len(cases) // 3
    return [f"{case}: {outcome}" for case, outcome in outcomes if outcome.is_lost]


@pytest.mark.slow
@every_server
def test_no_form_of_a_statement_changes_a_captured_table_and_passes(mysql: MySqlServer):
    assert _lost(mysql, _sample()) == []


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@every_server
def test_no_statement_of_any_session_changes_a_captured_table_and_passes(mysql: MySqlServer, part: int):
    cases = [*CASES]
    random.Random(part).shuffle(cases)
    assert _lost(mysql, cases[:400]) == []


@every_server
def test_rows_behind_a_rolled_back_savepoint_are_never_emitted(mysql: MySqlServer):
    """A dropped temporary table prevents MariaDB from removing them."""
    database = mysql.create_database("saved")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"CREATE TABLE {database}.u (id INT PRIMARY KEY)")
    for inner, is_refused in (("u", False), ("t", mysql.is_mariadb)):
        start = position(mysql)
        mysql.execute(
            f"DELETE FROM {database}.t",
            f"CREATE TEMPORARY TABLE {database}.scratch (a INT)",
            "BEGIN",
            f"INSERT INTO {database}.t VALUES (1)",
            "SAVEPOINT `A b`",
            f"INSERT INTO {database}.{inner} VALUES (2)",
            f"DROP TEMPORARY TABLE {database}.scratch",
            "ROLLBACK TO SAVEPOINT `a B`",
            f"INSERT INTO {database}.t VALUES (3)",
            "COMMIT",
        )
        capture = everything(database)

        def only_t(*name: str, capture: object = capture) -> object:
            return capture(*name) if name[1] == "t" else None  # type: ignore[operator]

        if is_refused:
            with pytest.raises(RecordError, match="rolled back to its savepoint.*'scan.skip-transactions' = "):
                read_changes(mysql, start, only_t)
        else:
            found = [row["id"] for kind, row in images(read_changes(mysql, start, only_t)) if kind == "+I"]
            assert found == [1, 3]


def test_names_in_any_case_match_with_lower_case_table_names(own_mysql: OpenMySql):
    server = own_mysql(MySqlVersion.MARIADB, lower_case_table_names="1")
    database = server.create_database("folded")
    login = server.reader
    given = {"hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password}
    settings = connection_settings(parse_group(MySqlConnectionOptions, given))
    server.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    start = position(server)
    server.execute(f"USE {database}", "DROP TABLE T")
    name = ReaderId(server_id=91, replica_uuid="0" * 8 + "-0000-0000-0000-" + "0" * 12)
    with closing(reader_opener(settings, everything(database), name)(start, None, frozenset())) as reader:
        (statement,) = [change for change in reader if isinstance(change, Statement)]
    assert statement.tables == ((database, "t"),)
    assert concerns(statement, database.__eq__, lambda *name: name == (database, "t"))
    assert classify(statement, {}, lambda *name: name == (database, "t")).action is Action.STOP


@every_server
def test_a_statement_with_a_character_set_is_parsed(mysql: MySqlServer):
    """MariaDB writes one more variable of the session into such a statement's event."""
    database = mysql.create_database("charset")
    collations = (
        "SET character_set_collations = 'utf8mb3=utf8mb3_bin,utf8mb4=utf8mb4_bin'" if mysql.is_mariadb else "DO 0"
    )
    for setting in ("DO 0", collations):
        start = position(mysql)
        mysql.execute(
            setting, f"CREATE TABLE {database}.other (c TEXT) CHARACTER SET utf8mb4", f"DROP TABLE {database}.other"
        )
        found = read_changes(mysql, start, lambda _, table: Capture() if table == "t" else None)
        assert [change for change in found if isinstance(change, Statement)] == []
