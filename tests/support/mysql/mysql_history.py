"""A stretch of binlog with everything in it at which a reader could stop wrongly."""

from __future__ import annotations

import random
import time
from contextlib import closing, suppress
from typing import Any

import pymysql

from datasources.mysql.binlog import BinlogPosition
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["write_history"]


def write_history(server: MySqlServer, database: str, *, steps: int, seed: int) -> list[BinlogPosition]:
    """Write transactions of many kinds to `t`, `u` and `not_captured`.

    Returns:
        Every place between two of them, the first before all.
    """
    chance = random.Random(seed)
    server.execute(
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(300))",
        f"CREATE TABLE {database}.u (id INT PRIMARY KEY AUTO_INCREMENT, j JSON)",
        f"CREATE TABLE {database}.not_captured (id INT PRIMARY KEY AUTO_INCREMENT)",
    )
    positions = [position(server)]
    with closing(server.connect(database=database, charset="utf8mb4")) as connection, connection.cursor() as cursor:
        for step in range(steps):
            kind = chance.choice(_KINDS if not server.is_mariadb else [k for k in _KINDS if k is not _compressed])
            kind(cursor, chance, step)
            positions.append(position(server))
    if server.is_mariadb:
        _wait_for_checkpoint(server, positions[-1].file)
    return positions


def _wait_for_checkpoint(server: MySqlServer, file: str) -> None:
    """MariaDB writes an event of its own some time after a file was begun: the log's end moves once more."""
    for _ in range(500):
        with suppress(pymysql.err.OperationalError):  # the event is there in part
            events = server.execute(f"SHOW BINLOG EVENTS IN '{file}'")
            if any(row[2] == "Binlog_checkpoint" and row[5] == file for row in events):
                return
        time.sleep(0.01)  # noqa: TID251 - a thread of the server's
    raise AssertionError(f"{file} got no checkpoint")


def _many(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute("BEGIN")
    for _ in range(chance.randrange(1, 6)):
        cursor.execute("INSERT INTO t (v) VALUES (REPEAT('x', %s)), ('y'), (NULL)", (chance.randrange(300),))
        cursor.execute("INSERT INTO not_captured VALUES ()")
        cursor.execute("UPDATE u SET j = JSON_SET(j, '$.a', %s) WHERE id %% 3 = 0", (step,))
    cursor.execute("COMMIT")


def _single(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute("INSERT INTO u (j) VALUES (%s)", (f'{{"a": {step}, "b": "{"z" * 40}"}}',))


def _other(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute("INSERT INTO not_captured VALUES (), ()")


def _compressed(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute("SET binlog_transaction_compression = ON")
    _many(cursor, chance, step)
    cursor.execute("SET binlog_transaction_compression = OFF")


def _xa(cursor: Any, chance: random.Random, step: int) -> None:
    name = f"'xa_{step}_{chance.randrange(10**9)}'"
    cursor.execute(f"XA START {name}")
    cursor.execute("INSERT INTO t (v) VALUES ('xa'), ('xa')")
    cursor.execute(f"XA END {name}")
    cursor.execute(f"XA COMMIT {name} ONE PHASE")


def _ddl(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute(f"ALTER TABLE t ADD COLUMN c{step} INT")


def _created(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute(f"CREATE TABLE made_{step} AS SELECT id, v FROM t LIMIT 4")


def _rotation(cursor: Any, chance: random.Random, step: int) -> None:
    cursor.execute("FLUSH BINARY LOGS")


_KINDS = [_many, _many, _many, _single, _single, _other, _compressed, _xa, _ddl, _created, _rotation]
