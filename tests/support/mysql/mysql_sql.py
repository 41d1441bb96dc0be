"""MySQL tables as SQL declares them, for tests."""

from __future__ import annotations

from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["ROWS", "make_table", "mysql_table"]

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
    login = server.reader
    given = {
        "connector": "mysql-cdc",
        "hostname": login.host,
        "port": str(login.port),
        "username": login.user,
        "password": login.password,
        "database_name": database,
        "table_name": "t",
        "scan__incremental__snapshot__chunk__size": "5",
        "scan__snapshot__parallelism": "2",
        **changes,
    }
    listed = ", ".join(f"'{key.replace('__', '.').replace('_', '-')}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE t ({columns}) WITH ({listed})"
