"""A connection on which nothing arrives ends with a timeout error, in every operation."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog.reading.opening import ReaderId, reader_opener
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.snapshot.chunks import read_as_of
from datasources.mysql.tables.table_schema import read_schema
from tests.support.mysql.mysql_binlog import everything, position
from tests.support.mysql.mysql_chunks import reader_settings, schema_of, whole
from tests.support.mysql.mysql_server import MySqlServer, every_server
from tests.support.tcp_switch import TcpSwitch, tcp_switch

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(60)]

_ROWS = 60
_HANGS = "the network or the server hangs"


@pytest.fixture
def way(mysql: MySqlServer) -> Iterator[TcpSwitch]:
    """A way to the server that can go dead."""
    with tcp_switch(mysql.administrator.port) as switch:
        yield switch


def _through(way: TcpSwitch, settings: ConnectionSettings) -> ConnectionSettings:
    return replace(settings, port=way.port, read_timeout_ms=1000, connect_timeout_ms=1000, retries=0)


@every_server
def test_a_read_of_a_table_times_out_on_a_dead_network(mysql: MySqlServer, way: TcpSwitch):
    database = mysql.create_database("dead")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v LONGTEXT)")
    for number in range(_ROWS):
        mysql.execute(f"INSERT INTO {database}.t VALUES ({number}, REPEAT('x', 40000))")
    settings = reader_settings(mysql, "id", "v")
    settings = replace(settings, connection=_through(way, settings.connection))
    way.swallow(after_bytes=_ROWS * 20_000)
    with pytest.raises(SourceUnavailable, match=_HANGS) as caught:
        list(read_as_of(settings, position(mysql), [whole(schema_of(mysql, database))], {}))
    assert "read.timeout" in caught.value.message


@every_server
def test_a_binlog_reader_times_out_without_heartbeats(mysql: MySqlServer, way: TcpSwitch):
    settings = _through(way, reader_settings(mysql).connection)
    settings = replace(settings, read_timeout_ms=2500)
    reader_id = ReaderId(server_id=3_900_000 + uuid.uuid4().int % 10_000, replica_uuid=str(uuid.uuid4()))
    open_reader = reader_opener(settings, everything("none"), reader_id, is_bounded=False)
    with closing(open_reader(position(mysql), None, frozenset())) as reader:
        changes = iter(reader)
        next(changes)  # a heartbeat
        way.swallow()
        with pytest.raises(SourceUnavailable, match=_HANGS):
            list(changes)


@every_server
def test_a_login_and_a_query_time_out_on_a_dead_network(mysql: MySqlServer, way: TcpSwitch):
    settings = _through(way, reader_settings(mysql).connection)
    database = mysql.create_database("dead")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    with closing(connect(settings)) as connection:
        way.swallow()
        with pytest.raises(SourceUnavailable, match=_HANGS):
            read_schema(connection, database, "t")
    with pytest.raises(SourceUnavailable, match=_HANGS):
        connect(settings)
