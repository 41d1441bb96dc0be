"""The moment between a transaction's flush to the binlog and its commit in the engine, held open for a second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from datasources.mysql.connection.server_dialect import server_version
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["commit_between_flush_and_engine", "rows", "status"]

DELAY_US = 1_000_000


def rows(connection: Any, table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return int(cursor.fetchone()[0])


def status(connection: Any, statement: str) -> tuple[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        file, position, *_ = cursor.fetchone()
        return file, position


def eventually(condition: Callable[[], bool]) -> bool:
    pause = threading.Event()
    for _ in range(2000):
        if condition():
            return True
        pause.wait(0.002)
    return False


@contextmanager
def commit_between_flush_and_engine(server: MySqlServer, table: str, reader: Any) -> Iterator[tuple[str, int]]:
    """While in the block, one INSERT is in the binlog and not yet visible; gives the status that includes it."""
    statement = server_version(reader).status_statement
    with server.settings(sync_binlog=1, binlog_group_commit_sync_delay=DELAY_US), closing(server.connect()) as writer:
        before = status(reader, statement)

        def insert() -> None:
            with writer.cursor() as cursor:
                cursor.execute(f"INSERT INTO {table} VALUES (1)")

        thread = threading.Thread(target=insert)
        thread.start()
        try:
            assert eventually(lambda: status(reader, statement) != before)
            yield status(reader, statement)
        finally:
            thread.join()
