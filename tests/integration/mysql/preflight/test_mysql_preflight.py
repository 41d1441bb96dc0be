"""The preflight against real servers, each with exactly one problem; the suggested fix is applied, and solves it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rich.console import Console
from typer.testing import CliRunner

from datasources.cli import app
from datasources.embedded import MySqlAddress, MySqlVersion
from datasources.errors import SourceUnavailable
from datasources.mysql.preflight.check import Preflight, run_preflight
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.report import render
from datasources.mysql.preflight.wanted import parse_wanted
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, each_server, every_mysql, every_server
from watermark.clock import ManualClock, SystemClock

pytestmark = pytest.mark.mysql

MINIMAL = "SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.*"


def options(login: MySqlAddress, **more: str) -> dict[str, str]:
    own = {"hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password}
    names = {"database-name": ".*", "table-name": ".*", "connect.max-retries": "0"}
    return {**own, **names, **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()}}


def look(server: MySqlServer, login: MySqlAddress | None = None, **more: str) -> Preflight:
    return run_preflight(parse_wanted(options(login or server.reader, **more)))


def problems_of(found: Preflight) -> list[Finding]:
    return [finding for finding in found.findings if finding.severity is not Severity.OK]


def only_problem(found: Preflight) -> Finding:
    [problem] = problems_of(found)
    return problem


def apply_fix(server: MySqlServer, problem: Finding) -> None:
    """Run the statements of a finding's fix, not its advice in words."""
    statements = [fix for fix in problem.fix if fix.endswith(";")]
    assert statements
    server.execute(*statements)


@pytest.fixture
def shop(mysql: MySqlServer) -> Iterator[str]:
    """A database with one good table."""
    name = mysql.create_database("shop")
    mysql.execute(
        f"CREATE TABLE {name}.orders (id BIGINT UNSIGNED PRIMARY KEY, note VARCHAR(20))",
        f"INSERT INTO {name}.orders VALUES (1, 'a'), (2, 'b')",
    )
    yield name
    mysql.execute(f"DROP DATABASE {name}")


@contextmanager
def kept(server: MySqlServer, *names: str) -> Iterator[None]:
    """Put global variables back to what they are, also if they were persisted."""
    before = {name: server.execute(f"SELECT @@GLOBAL.{name}")[0][0] for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            literal = f"'{value}'" if isinstance(value, str) else value
            server.execute(f"SET GLOBAL {name} = {literal}")
        if not server.is_mariadb:
            server.execute("DO 0", *(f"RESET PERSIST IF EXISTS {name}" for name in names))


@each_server
def test_a_server_with_all_that_is_needed_passes(mysql: MySqlServer, shop: str):
    found = look(mysql, database_name=shop)
    assert problems_of(found) == []
    assert not found.has_problem
    [table] = found.tables
    assert (table.name, table.engine, str(table.key)) == (
        f"{shop}.orders",
        "InnoDB",
        f"primary key (id bigint{'(20)' if mysql.is_mariadb else ''} unsigned)",
    )
    assert table.size_bytes > 0
    checks = {finding.check: finding.found for finding in found.findings}
    assert checks["binlog_row_image"] == "FULL"
    assert checks["time_zone"] == "+00:00"
    assert checks["retention"] == ("without limit" if mysql.is_mariadb else "720 h")
    assert {finding.subject for finding in found.findings if finding.check == "grant"} == {
        "REPLICATION SLAVE",
        "BINLOG MONITOR" if mysql.is_mariadb else "REPLICATION CLIENT",
    }


@every_server
@pytest.mark.parametrize(
    ("variable", "value"),
    [("binlog_format", "STATEMENT"), ("binlog_row_image", "MINIMAL"), ("binlog_row_metadata", "MINIMAL")],
)
def test_the_statement_of_a_binlog_finding_fixes_it(mysql: MySqlServer, shop: str, variable: str, value: str):
    with kept(mysql, variable):
        mysql.execute(f"SET GLOBAL {variable} = '{value}'")
        found = look(mysql, database_name=shop)
        problem = only_problem(found)
        assert (problem.check, problem.found, problem.severity) == (variable, value, Severity.PROBLEM)
        apply_fix(mysql, problem)
        assert problems_of(look(mysql, database_name=shop)) == []


@every_mysql
def test_commits_out_of_order_are_a_problem(mysql: MySqlServer, shop: str):
    with kept(mysql, "binlog_order_commits"):
        mysql.execute("SET GLOBAL binlog_order_commits = OFF")
        problem = only_problem(look(mysql, database_name=shop))
        assert (problem.check, problem.severity) == ("binlog_order_commits", Severity.PROBLEM)
        apply_fix(mysql, problem)
        assert problems_of(look(mysql, database_name=shop)) == []


def test_gtid_mode_is_switched_on_step_by_step(own_mysql: OpenMySql):
    server = own_mysql(MySqlVersion.V8_0, gtid_mode="OFF", enforce_gtid_consistency="OFF", log_bin="OFF")
    server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)")
    no_binlog, _gtids = problems_of(look(server))
    assert (no_binlog.check, no_binlog.found) == ("log_bin", "OFF")
    assert "log_bin = binlog" in no_binlog.fix[0]
    server.embedded.stop()
    server.embedded.reconfigure({"log_bin": "binlog"})
    server.embedded.start()
    problem = only_problem(look(server))
    assert (problem.check, problem.found, problem.severity) == ("gtid_mode", "OFF", Severity.PROBLEM)
    assert problem.fix[-1] == "or set the option 'scan.snapshot.locking' = 'minimal'"
    changes_only = look(server, scan__startup__mode="latest-offset")
    assert (only_problem(changes_only).severity, changes_only.has_problem) == (Severity.WARNING, False)
    locking = look(server, scan__snapshot__locking="minimal")
    assert [(each.check, each.severity) for each in problems_of(locking)] == [
        ("gtid_mode", Severity.WARNING),
        ("grant", Severity.PROBLEM),
    ]
    apply_fix(server, problems_of(locking)[1])
    assert not look(server, scan__snapshot__locking="minimal").has_problem
    apply_fix(server, problem)
    assert problems_of(look(server)) == []


def test_problems_that_need_a_restart_name_the_configuration(own_mysql: OpenMySql):
    server = own_mysql(
        MySqlVersion.NEWEST, binlog_ignore_db="shop", innodb_native_foreign_keys="ON", log_replica_updates="OFF"
    )
    server.execute(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t (id INT PRIMARY KEY)",
        "CREATE DATABASE farm",
        "CREATE TABLE farm.p (id INT PRIMARY KEY)",
        "CREATE TABLE farm.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES farm.p (id) ON DELETE CASCADE)",
    )
    problem = only_problem(look(server, database_name="shop"))
    assert (problem.check, problem.subject, problem.severity) == ("binlog filter", "shop", Severity.PROBLEM)
    assert "binlog_ignore_db" in problem.fix[0]
    problem = only_problem(look(server, database_name="farm"))
    assert (problem.check, problem.subject) == ("foreign key", "farm.c")
    assert "innodb_native_foreign_keys = OFF" in problem.fix[0]
    server.execute("CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'elsewhere', SOURCE_USER = 'u'")
    problem = only_problem(look(server, database_name="farm", table_name="p"))
    assert (problem.check, problem.severity) == ("log_replica_updates", Severity.PROBLEM)
    assert "log_replica_updates = ON" in problem.fix[0]


@every_server
def test_a_short_retention_is_a_warning(mysql: MySqlServer, shop: str):
    with kept(mysql, "binlog_expire_logs_seconds"):
        mysql.execute("SET GLOBAL binlog_expire_logs_seconds = 3600")
        found = look(mysql, database_name=shop)
        problem = only_problem(found)
        assert (problem.check, problem.found, found.has_problem) == ("retention", "3600 s", False)
        apply_fix(mysql, problem)
        assert problems_of(look(mysql, database_name=shop)) == []


@pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)
def test_a_binlog_of_limited_size_is_a_warning(mysql: MySqlServer, shop: str):
    with kept(mysql, "max_binlog_total_size"):
        mysql.execute("SET GLOBAL max_binlog_total_size = 1000000000")
        problem = only_problem(look(mysql, database_name=shop))
        assert (problem.check, problem.severity) == ("max_binlog_total_size", Severity.WARNING)
        apply_fix(mysql, problem)
        assert problems_of(look(mysql, database_name=shop)) == []


@every_server
def test_small_packets_are_a_warning(mysql: MySqlServer, shop: str):
    with kept(mysql, "max_allowed_packet"):
        mysql.execute("SET GLOBAL max_allowed_packet = 1048576")
        problem = only_problem(look(mysql, database_name=shop))
        assert (problem.check, problem.severity) == ("max_allowed_packet", Severity.WARNING)
        apply_fix(mysql, problem)
        assert problems_of(look(mysql, database_name=shop)) == []


@every_mysql
def test_a_server_without_an_id_is_a_problem(mysql: MySqlServer, shop: str):
    with kept(mysql, "server_id"):
        mysql.execute("SET GLOBAL server_id = 0")
        problem = only_problem(look(mysql, database_name=shop))
        assert (problem.check, problem.found, problem.severity) == ("server_id", "0", Severity.PROBLEM)
        apply_fix(mysql, problem)
        assert problems_of(look(mysql, database_name=shop)) == []


@every_server
def test_the_servers_own_id_cannot_be_a_readers(mysql: MySqlServer, shop: str):
    [(own,)] = mysql.execute("SELECT @@server_id")
    problem = only_problem(look(mysql, database_name=shop, server_id=f"{own - 1}-{own}"))
    assert (problem.check, problem.severity) == ("server_id", Severity.PROBLEM)
    assert problems_of(look(mysql, database_name=shop, server_id=f"{own + 1}")) == []


@every_mysql
def test_compressed_transactions_and_partial_json_are_reported_as_ok(mysql: MySqlServer, shop: str):
    with kept(mysql, "binlog_transaction_compression", "binlog_row_value_options"):
        mysql.execute(
            "SET GLOBAL binlog_transaction_compression = ON", "SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'"
        )
        found = look(mysql, database_name=shop)
    assert problems_of(found) == []
    checks = {finding.check: finding.found for finding in found.findings}
    assert checks["binlog_transaction_compression"].startswith("ON")
    assert checks["binlog_row_value_options"] == "PARTIAL_JSON"


def test_the_time_zone_is_reported(mysql: MySqlServer, shop: str):
    with mysql.settings(time_zone="SYSTEM"):
        found = look(mysql, database_name=shop)
    assert any(each.check == "time_zone" and each.found.startswith("SYSTEM (") for each in found.findings)


@pytest.mark.parametrize("ahead_s", [-60, 60])
def test_a_clock_that_is_wrong_is_a_warning(mysql: MySqlServer, shop: str, ahead_s: int):
    ours = ManualClock(now_us=SystemClock().now_us() - ahead_s * 1_000_000)
    found = run_preflight(parse_wanted(options(mysql.reader, database_name=shop)), clock=ours)
    problem = only_problem(found)
    assert (problem.check, problem.severity) == ("clock", Severity.WARNING)
    assert problem.found.startswith("-" if ahead_s < 0 else "+")


@every_server
@pytest.mark.parametrize("lacking", ["REPLICATION SLAVE", "REPLICATION CLIENT"])
def test_a_missing_privilege_is_named_with_its_grant(mysql: MySqlServer, shop: str, lacking: str):
    others = [each for each in ("SELECT", "REPLICATION SLAVE", "REPLICATION CLIENT") if each != lacking]
    login = mysql.create_login(f"{', '.join(others)} ON *.*")
    problem = only_problem(look(mysql, login, database_name=shop))
    name = "BINLOG MONITOR" if mysql.is_mariadb and lacking == "REPLICATION CLIENT" else lacking
    assert (problem.check, problem.subject, problem.severity) == ("grant", name, Severity.PROBLEM)
    assert problem.fix == (f"GRANT {name} ON *.* TO '{login.user}'@'%';",)
    apply_fix(mysql, problem)
    assert problems_of(look(mysql, login, database_name=shop)) == []


@every_server
def test_privileges_of_a_role_count(mysql: MySqlServer, shop: str):
    login = mysql.create_login("SELECT ON *.*")
    role = f"r_{login.user}"
    mysql.execute(f"CREATE ROLE {role}", f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {role}")
    mysql.execute("DO 0", f"GRANT {role} TO '{login.user}'@'%'")
    assert len(problems_of(look(mysql, login, database_name=shop))) == 2
    default = f"SET DEFAULT ROLE {role} FOR" if mysql.is_mariadb else f"SET DEFAULT ROLE {role} TO"
    mysql.execute(f"{default} '{login.user}'@'%'")
    assert problems_of(look(mysql, login, database_name=shop)) == []


@every_server
def test_a_table_of_which_some_columns_cannot_be_read_is_named_with_its_grant(mysql: MySqlServer, shop: str):
    login = mysql.create_login("REPLICATION SLAVE, REPLICATION CLIENT ON *.*", f"SELECT (id) ON {shop}.orders")
    problem = only_problem(look(mysql, login, database_name=shop))
    assert (problem.check, problem.subject) == ("grant", f"{shop}.orders")
    assert problem.fix == (f"GRANT SELECT ON `{shop}`.`orders` TO '{login.user}'@'%';",)
    apply_fix(mysql, problem)
    assert problems_of(look(mysql, login, database_name=shop)) == []


@every_server
def test_an_invisible_table_is_named_with_the_visible_databases(mysql: MySqlServer, shop: str):
    login = mysql.create_login("REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    problem = only_problem(look(mysql, login, database_name=shop))
    assert (problem.check, problem.severity) == ("tables", Severity.PROBLEM)
    assert "databases that it sees: none" in problem.why
    apply_fix(mysql, problem)
    assert problems_of(look(mysql, login, database_name=shop)) == []
    wrong = only_problem(look(mysql, database_name=shop, table_name="order"))
    assert "'table-name' = 'order'" in wrong.found
    assert shop in wrong.why


@every_server
def test_a_table_without_a_key_is_a_problem_unless_it_may_be_locked(mysql: MySqlServer, shop: str):
    mysql.execute(f"CREATE TABLE {shop}.log (line TEXT, at DATETIME NULL UNIQUE)")
    problem = only_problem(look(mysql, database_name=shop))
    assert (problem.check, problem.subject, problem.severity) == ("key", f"{shop}.log", Severity.PROBLEM)
    login = mysql.create_login(MINIMAL)
    locked = look(mysql, login, database_name=shop, scan__snapshot__no_key="lock")
    assert [(each.check, each.severity) for each in problems_of(locked)] == [
        ("grant", Severity.PROBLEM),
        ("key", Severity.WARNING),
    ]
    assert problems_of(locked)[0].fix == (f"GRANT LOCK TABLES ON `{shop}`.* TO '{login.user}'@'%';",)
    apply_fix(mysql, problems_of(locked)[0])
    assert not look(mysql, login, database_name=shop, scan__snapshot__no_key="lock").has_problem
    apply_fix(mysql, problem)
    assert problems_of(look(mysql, database_name=shop)) == []


@every_server
def test_the_key_is_the_primary_one_else_a_unique_one_without_null(mysql: MySqlServer, shop: str):
    mysql.execute(
        f"CREATE TABLE {shop}.a (x INT NOT NULL, y INT NOT NULL, z VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        " NOT NULL, n INT, UNIQUE two (x, y), UNIQUE zed (z), UNIQUE one (y), UNIQUE nil (n))",
        f"CREATE TABLE {shop}.b (x VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, y INT, "
        "UNIQUE whole (x), UNIQUE part (x(2)))",
        f"CREATE TABLE {shop}.c (b INT, a INT, PRIMARY KEY (a, b))",
    )
    keys = {table.table: table.key for table in look(mysql, database_name=shop).tables}
    assert [column.name for column in keys["c"].columns] == ["a", "b"]
    assert (keys["a"].name, keys["b"].name) == ("one", "whole")
    assert str(keys["b"]) == "unique index (x varchar(9) utf8mb4_bin)"


@every_mysql
def test_a_generated_invisible_key_is_a_key(mysql: MySqlServer, shop: str):
    mysql.execute(
        "SET SESSION sql_generate_invisible_primary_key = ON", f"CREATE TABLE {shop}.hidden (line VARCHAR(9))"
    )
    found = look(mysql, database_name=shop)
    assert problems_of(found) == []
    assert str(found.tables[0].key) == "generated invisible primary key (my_row_id bigint unsigned)"


@every_server
def test_an_engine_without_consistent_reads_is_a_problem(mysql: MySqlServer, shop: str):
    mysql.execute(f"CREATE TABLE {shop}.old (id INT PRIMARY KEY) ENGINE = MyISAM")
    problem = only_problem(look(mysql, database_name=shop))
    assert (problem.check, problem.subject, problem.found) == ("engine", f"{shop}.old", "MyISAM")
    apply_fix(mysql, problem)
    assert problems_of(look(mysql, database_name=shop)) == []


@pytest.mark.parametrize("mysql", ["8.0", "mariadb"], indirect=True)
@pytest.mark.parametrize("action", ["ON DELETE CASCADE", "ON UPDATE CASCADE", "ON DELETE SET NULL"])
def test_a_foreign_key_with_an_action_is_a_problem_unless_tolerated(mysql: MySqlServer, shop: str, action: str):
    mysql.execute(
        f"CREATE TABLE {shop}.parent (id INT PRIMARY KEY, k INT NOT NULL UNIQUE)",
        f"CREATE TABLE {shop}.quiet (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES {shop}.parent (id))",
        f"CREATE TABLE {shop}.child (id INT PRIMARY KEY, `p,q)` INT, "
        f"FOREIGN KEY (`p,q)`) REFERENCES {shop}.parent (k) {action})",
    )
    problem = only_problem(look(mysql, database_name=shop))
    assert (problem.check, problem.subject, problem.severity) == ("foreign key", f"{shop}.child", Severity.PROBLEM)
    assert action in problem.found
    tolerated = look(mysql, database_name=shop, on_fk_cascade="warn")
    assert (only_problem(tolerated).severity, tolerated.has_problem) == (Severity.WARNING, False)
    apply_fix(mysql, problem)
    assert problems_of(look(mysql, database_name=shop)) == []


def test_a_foreign_key_above_the_engine_is_logged_and_no_problem(mysql: MySqlServer, shop: str):
    mysql.execute(
        f"CREATE TABLE {shop}.p (id INT PRIMARY KEY)",
        f"CREATE TABLE {shop}.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES {shop}.p (id) ON DELETE CASCADE)",
    )
    found = look(mysql, database_name=shop)
    assert problems_of(found) == []
    assert any(each.check == "foreign key" and "which is logged" in each.found for each in found.findings)


def test_checking_many_tables_takes_few_statements(own_mysql: OpenMySql):
    server = own_mysql()

    def statements_for(tables: int) -> int:
        name = server.create_database("many")
        server.execute(*(f"CREATE TABLE {name}.t{n} (id INT PRIMARY KEY)" for n in range(tables)))
        before = int(server.execute("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1])
        assert problems_of(look(server, database_name=name)) == []
        return int(server.execute("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1]) - before

    assert statements_for(150) <= statements_for(50) + 1


@every_server
def test_the_preflight_changes_nothing(mysql: MySqlServer, shop: str):
    def state() -> object:
        [(name, *_)] = mysql.execute("SHOW BINLOG STATUS" if mysql.is_mariadb else "SHOW BINARY LOGS")[-1:]
        globals_ = mysql.execute("SHOW GLOBAL VARIABLES")
        moving = ("gtid", "timestamp", "pseudo", "rand_seed", "innodb_buffer_pool_load")
        return name, [row for row in globals_ if not row[0].startswith(moving)]

    before = state()
    look(mysql, mysql.administrator, database_name=shop)
    assert state() == before


@every_mysql
def test_the_command_prints_the_findings_and_sets_the_exit_code(mysql: MySqlServer, shop: str):
    arguments = ["mysql", "check", "--hostname", mysql.reader.host, "--port", str(mysql.reader.port)]
    arguments += ["--username", mysql.reader.user, "--database-name", shop]
    secret = {"TIDEMARK_MYSQL_PASSWORD": mysql.reader.password, "COLUMNS": "160"}
    good = CliRunner().invoke(app, arguments, env=secret)
    assert good.exit_code == 0, good.output
    assert "Nothing is missing." in good.output
    mysql.execute(f"CREATE TABLE {shop}.log (line TEXT)")
    bad = CliRunner().invoke(app, [*arguments, "--json"], env=secret)
    assert bad.exit_code == 1
    reported = json.loads(bad.output)
    assert (reported["ok"], [table["table"] for table in reported["tables"]]) == (False, ["log", "orders"])
    assert [each["check"] for each in reported["findings"] if each["severity"] == "problem"] == ["key"]
    lenient = CliRunner().invoke(app, [*arguments, "-o", "scan.startup.mode=latest-offset"], env=secret)
    assert lenient.exit_code == 0, lenient.output
    assert f"ALTER TABLE `{shop}`.`log` ADD COLUMN row_id" in lenient.output


def test_fixes_are_in_lines_that_can_be_copied(mysql: MySqlServer, shop: str):
    mysql.execute(f"CREATE TABLE {shop}.old (id INT PRIMARY KEY) ENGINE = MyISAM")
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(render(look(mysql, database_name=shop)))
    lines = console.export_text().splitlines()
    assert f"    ALTER TABLE `{shop}`.`old` ENGINE = InnoDB;" in [line.rstrip() for line in lines]


def test_a_refused_login_is_an_error_and_no_finding(mysql: MySqlServer):
    with pytest.raises(SourceUnavailable, match=r"the server refused nobody@.* while checking the server"):
        look(mysql, mysql.login("nobody", "x"))


@every_mysql
def test_prepared_xa_transactions_are_reported(mysql: MySqlServer, shop: str):
    mysql.execute(
        "XA START 'waits'", f"INSERT INTO {shop}.orders VALUES (4711, 'x')", "XA END 'waits'", "XA PREPARE 'waits'"
    )
    try:
        problem = only_problem(look(mysql, mysql.administrator, database_name=shop))
        assert (problem.check, problem.severity) == ("xa", Severity.WARNING)
        assert problem.found.startswith("1 prepared")
    finally:
        mysql.execute("XA ROLLBACK 'waits'")
    assert problems_of(look(mysql, mysql.administrator, database_name=shop)) == []
