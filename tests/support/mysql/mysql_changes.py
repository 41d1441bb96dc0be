"""What a source reads of a stretch of binlog, without Spark."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.reader.reader_factory import MySqlReaderFactory
from datasources.mysql.scan.scan_settings import BINLOG, MySqlScanSettings
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.source import MySqlSource
from datasources.mysql.state.mysql_state import MySqlState
from datasources.source.api.connector import SessionInfo
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["identity", "read_range", "scan_settings_of"]


def scan_settings_of(server: MySqlServer, database: str, schema: str, **options: str) -> MySqlScanSettings:
    """Return the settings of a scan of a database's tables; underlines in names of options are dots."""
    login = server.reader
    given = {
        "hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password,
        "ssl.mode": "disabled", "database-name": database, "table-name": "t.*", "schema": schema,
    }  # fmt: skip
    more = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    return MySqlSource.create({**given, **more}, SessionInfo()).settings


def identity(settings: MySqlScanSettings) -> str:
    """Return the identity of a source's server."""
    with closing(ServerView(settings.connection)) as view:
        return view.server()


def read_range(
    server: MySqlServer,
    settings: MySqlScanSettings,
    start: BinlogPosition,
    end: BinlogPosition | None = None,
    **state: Any,
) -> list[dict[str, Any]]:
    """Return the rows between two positions, by default up to the end of the log."""
    batch = MySqlState(
        reader="tests", server=identity(settings), position=start, to=end or position(server), prepared={}, **state
    )
    with closing(MySqlReaderFactory(settings.for_batch(batch.to_json())).open()) as reader:
        return [row for chunk in reader.read(BINLOG, 0, 1 << 40) for row in chunk.columns.to_pylist()]
