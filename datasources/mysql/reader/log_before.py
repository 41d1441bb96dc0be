"""The binlog before a position, file by file, the latest first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pymysql

from datasources.mysql.binlog import FIRST_POSITION, BinlogPosition
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.connection_errors import explain

_DOING = "looking at the binlog's files"


def ranges_before(
    settings: ConnectionSettings, position: BinlogPosition
) -> Iterator[tuple[BinlogPosition, BinlogPosition]]:
    """Yield start and end of each file's range before a position, backwards, without empty ranges.

    Raises:
        SourceUnavailable: the server does not answer.
    """
    end = position
    heads = {BinlogPosition(file, FIRST_POSITION) for file in (*_files(settings), position.file)}
    for head in sorted((head for head in heads if head <= position), reverse=True):
        if head < end:
            yield head, end
        end = head


def _files(settings: ConnectionSettings) -> list[str]:
    with closing(connect(settings, doing=_DOING)) as connection:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW BINARY LOGS")
                return [str(row[0]) for row in cursor.fetchall()]
        except pymysql.MySQLError as error:
            raise explain(error, doing=_DOING, server=str(settings)) from error
