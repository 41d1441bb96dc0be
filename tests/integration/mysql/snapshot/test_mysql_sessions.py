"""A connection that breaks between the last row and the end of a read is lost, so that the range is read again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.connection.connection_errors import ConnectionLost
from datasources.mysql.snapshot.sessions import ReadSession
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_chunks import reader_settings
from tests.support.mysql.mysql_server import MySqlServer, each_server
from tests.support.tcp_switch import TcpSwitch, tcp_switch

pytestmark = pytest.mark.mysql


def open_session(server: MySqlServer, switch: TcpSwitch, at: BinlogPosition) -> ReadSession:
    login = server.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    return ReadSession(reader_settings(server, "id", login=replace(login, port=switch.port)), at)


@each_server
def test_a_connection_that_breaks_after_the_last_row_is_lost(mysql: MySqlServer):
    database = mysql.create_database()
    mysql.execute(f"CREATE TABLE {database}.t (id INT)", f"INSERT INTO {database}.t VALUES (1)")
    with tcp_switch(mysql.reader.port) as switch, closing(open_session(mysql, switch, position(mysql))) as session:
        session.begin_exact(database, "t")
        with session.connection.cursor() as cursor:
            cursor.execute(f"SELECT id FROM {database}.t")
            assert list(cursor) == [(1,)]
        switch.hang_up()
        with pytest.raises(ConnectionLost, match="broke after rows were read"):
            session.end()
        session.end()
