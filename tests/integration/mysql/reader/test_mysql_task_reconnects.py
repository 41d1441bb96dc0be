"""A task that loses its connection after emitting rows continues after them: nothing twice, nothing missing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from datasources.embedded import MySqlVersion
from datasources.errors import SourceUnavailable
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.reader.reader_factory import MySqlReaderFactory
from datasources.mysql.scan.scan_settings import BINLOG, MySqlScanSettings
from datasources.mysql.snapshot import chunks
from datasources.mysql.source import MySqlSource
from datasources.mysql.state.mysql_state import MySqlState
from datasources.source.api.connector import SessionInfo
from datasources.source.api.reader import Chunk
from tests.support.forms import full
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_changes import identity, scan_settings_of
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_server
from tests.support.tcp_switch import tcp_switch

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]

ROWS = 60_000


def written(server: MySqlServer) -> tuple[str, BinlogPosition]:
    """Write many transactions; return the database and the position before them."""
    database = server.create_database("broken")
    server.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v VARCHAR(600))")
    start = position(server)
    for first in range(0, ROWS, 2_000):
        values = ", ".join(f"({number}, REPEAT('x', 500))" for number in range(first, first + 2_000))
        server.execute(f"INSERT INTO {database}.t VALUES {values}")
    return database, start


def rows_through(
    settings: MySqlScanSettings, state: MySqlState, split: Any, end: int, after_first: Callable[[], None]
) -> Iterator[Chunk]:
    with closing(MySqlReaderFactory(settings.for_batch(state.to_json())).open()) as reader:
        for number, chunk in enumerate(reader.read(split, 0, end)):
            yield chunk
            if number == 0:
                after_first()


def batch(settings: MySqlScanSettings, start: BinlogPosition, end: BinlogPosition) -> MySqlState:
    return MySqlState(reader="broken", server=identity(settings), position=start, to=end, prepared={})


def check(found: list[Chunk]) -> None:
    """All rows once, in order; positions and records are those of their own rows."""
    assert len(found) > 1
    ids = [number for chunk in found for number in chunk.columns.column("id").to_pylist()]
    assert ids == [*range(ROWS)]
    positions = [chunk.position(row) for chunk in found for row in range(chunk.columns.num_rows)]
    assert positions == sorted(positions)
    assert len(set(positions)) == ROWS // 2_000
    for chunk in found:
        last = chunk.columns.num_rows - 1
        assert (
            f"binlog event {chunk.columns.column('file')[last]}:{chunk.columns.column('pos')[last]}"
            in chunk.describe_row(last)
        )
        assert -1 <= chunk.record_start(0) <= 0


@every_server
def test_a_range_of_the_binlog_continues_after_the_emitted_rows(mysql: MySqlServer, caplog):
    database, start = written(mysql)
    with tcp_switch(mysql.reader.port) as switch:
        settings = scan_settings_of(mysql, database, "id INT", port=str(switch.port))
        state = batch(settings, start, position(mysql))
        check(list(rows_through(settings, state, BINLOG, 1 << 40, switch.hang_up)))
    assert "read_again" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("version", [MySqlVersion.NEWEST, *full(MySqlVersion.MARIADB)])
def test_a_server_that_is_down_for_seconds_does_not_fail_the_task(own_mysql: OpenMySql, version: MySqlVersion, caplog):
    server = own_mysql(version)
    database, start = written(server)
    settings = scan_settings_of(server, database, "id INT", connect__max_retries="6")  # a busy machine starts it late
    state, back = batch(settings, start, position(server)), threading.Timer(5.0, server.embedded.start)

    def restart() -> None:
        server.embedded.stop()
        back.start()

    try:
        check(list(rows_through(settings, state, BINLOG, 1 << 40, restart)))
    finally:
        back.join()
    assert "read_again" in caplog.text


@every_server
def test_emitted_chunks_are_not_read_again(mysql: MySqlServer, monkeypatch: pytest.MonkeyPatch, caplog):
    monkeypatch.setattr(chunks, "_GROUP_BYTES", 1)
    database, _ = written(mysql)
    login = mysql.reader
    with tcp_switch(login.port) as switch:
        options = {
            "hostname": login.host, "port": str(switch.port), "username": login.user, "password": login.password,
            "ssl.mode": "disabled", "database-name": database, "table-name": "t", "schema": "id INT",
            "scan.incremental.snapshot.chunk.size": "5000",
        }  # fmt: skip
        source = MySqlSource.create(options, SessionInfo())
        enumerator = source.enumerator(is_batch=True)
        with closing(enumerator):
            parts = list(enumerator.bounded_parts())
        ids = []
        for part in parts:
            state = MySqlState.from_json(part.state)
            found = list(rows_through(source.settings, state, part.split, part.end, switch.hang_up))
            ids += [number for chunk in found for number in chunk.columns.column("id").to_pylist()]
    assert len(parts) >= 2
    assert caplog.text.count("read_again") >= len(parts)
    assert sorted(ids) == [*range(ROWS)]


@every_server
def test_a_table_without_a_key_is_not_resumed(mysql: MySqlServer):
    """Its rows are emitted as they arrive, and arrive in another order."""
    database = mysql.create_database("broken")
    mysql.execute(f"CREATE TABLE {database}.t (id INT, v VARCHAR(200))")
    for _ in range(30):
        mysql.execute(f"INSERT INTO {database}.t VALUES " + ", ".join(["(1, REPEAT('x', 190))"] * 2_000))
    login = mysql.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    with tcp_switch(login.port) as switch:
        options = {
            "hostname": login.host, "port": str(switch.port), "username": login.user, "password": login.password,
            "ssl.mode": "disabled", "database-name": database, "table-name": "t", "schema": "id INT, v STRING",
            "scan.snapshot.no-key": "lock",
        }  # fmt: skip
        source = MySqlSource.create(options, SessionInfo())
        with closing(source.enumerator(is_batch=True)) as enumerator:
            (part,) = enumerator.bounded_parts()
        state = MySqlState.from_json(part.state)
        with pytest.raises(SourceUnavailable, match="broke|closed the connection"):
            list(rows_through(source.settings, state, part.split, part.end, switch.hang_up))
