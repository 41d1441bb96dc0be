"""Tables of MySQL as sinks, for tests."""

from __future__ import annotations

from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["jdbc_table"]


def jdbc_table(server: MySqlServer, database: str, name: str, columns: str, **changes: str) -> str:
    """Return CREATE TABLE of a sink; `a__b_c` in an option's name stands for `a.b-c`."""
    login = server.administrator
    given = {
        "connector": "jdbc",
        "url": f"jdbc:mysql://{login.host}:{login.port}/{database}",
        "table_name": name,
        "username": login.user,
        "password": login.password,
        **changes,
    }
    listed = ", ".join(f"'{key.replace('__', '.').replace('_', '-')}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({listed})"
