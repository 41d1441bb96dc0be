"""XA transactions of tests."""

from __future__ import annotations

import time
from contextlib import closing

import pymysql

from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["commit_in_one_phase", "decide", "prepare"]

_TRIES = 100


def prepare(server: MySqlServer, database: str, name: str, *statements: str) -> None:
    """Prepare a transaction, whose session then ends."""
    with closing(server.connect(database=database)) as connection, connection.cursor() as cursor:
        for statement in (f"XA START '{name}'", *statements, f"XA END '{name}'", f"XA PREPARE '{name}'"):
            cursor.execute(statement)


def decide(server: MySqlServer, fate: str, name: str) -> None:
    """COMMIT or ROLLBACK a prepared transaction."""
    for attempt in range(_TRIES):
        try:
            server.execute(f"XA {fate} '{name}'")
        except pymysql.err.MySQLError:  # the session that prepared it is not gone yet
            assert attempt < _TRIES - 1
            time.sleep(0.05)  # noqa: TID251 - a server's session ends
        else:
            return


def commit_in_one_phase(server: MySqlServer, database: str, name: str, *statements: str) -> None:
    """Begin a transaction and commit it without preparing it."""
    server.execute(
        f"USE {database}", f"XA START '{name}'", *statements, f"XA END '{name}'", f"XA COMMIT '{name}' ONE PHASE"
    )
