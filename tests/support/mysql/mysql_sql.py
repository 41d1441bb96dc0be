"""MySQL tables as SQL declares them, for tests."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["ROWS", "cdc_table", "make_table", "mysql_table"]

ROWS = 30


def make_table(server: MySqlServer) -> str:
    """Make a table `t` of 30 rows; return the name of its database."""
    name = server.create_database("sql")
    rows = ", ".join(f"({n}, {n * n}, 'secret {n}')" for n in range(1, ROWS + 1))
    server.execute(
        f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v INT, note VARCHAR(20))", f"INSERT INTO {name}.t VALUES {rows}"
    )
    return name


def mysql_table(server: MySqlServer, database: str, columns: str, /, **changes: str) -> str:
    """Return CREATE TABLE t; `a__b_c` in an option's name stands for `a.b-c`."""
    defaults = {"table_name": "t", "scan__incremental__snapshot__chunk__size": "5", "scan__snapshot__parallelism": "2"}
    return cdc_table(server, database, "t", columns, defaults | changes)


def cdc_table(server: MySqlServer, database: str, name: str, columns: str, options: Mapping[str, str]) -> str:
    """Return CREATE TABLE of a mysql-cdc table; `a__b_c` in an option's name stands for `a.b-c`."""
    login = server.reader
    given = {
        "connector": "mysql-cdc",
        "hostname": login.host,
        "port": str(login.port),
        "username": login.user,
        "password": login.password,
        "database_name": database,
        **options,
    }
    listed = ", ".join(f"'{key.replace('__', '.').replace('_', '-')}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({listed})"
