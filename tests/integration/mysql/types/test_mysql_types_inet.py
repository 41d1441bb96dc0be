"""INET4 and INET6, which the binlog describes as BINARY: as the server prints them, wherever they are read."""

from __future__ import annotations

import random

import pytest

from datasources.errors import SchemaError
from datasources.mysql.config.mysql_options import NoKeyPolicy
from datasources.mysql.types import ColumnType, Kind
from tests.support.mysql.mysql_binlog import everything, position, read_changes, rows_of
from tests.support.mysql.mysql_changes import read_range, scan_settings_of
from tests.support.mysql.mysql_chunks import read, reader_settings, schema_of, whole
from tests.support.mysql.mysql_server import MySqlServer

pytestmark = [pytest.mark.mysql, pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)]

CATALOG = {"a": ColumnType(kind=Kind.INET4), "b": ColumnType(kind=Kind.INET6)}


def addresses(chance: random.Random) -> tuple[str, str]:
    words = [chance.choice(("0", "0", "0", "ffff", f"{chance.randrange(1 << 16):x}")) for _ in range(8)]
    return ".".join(str(chance.choice((0, 1, 255, chance.randrange(256)))) for _ in range(4)), ":".join(words)


def test_binlog_and_server_print_the_same_addresses(mysql: MySqlServer):
    database, chance = mysql.create_database("inet"), random.Random(7)
    start = position(mysql)
    values = ", ".join(f"({number}, '{a}', '{b}')" for number in range(2000) for a, b in [addresses(chance)])
    mysql.execute(
        f"USE {database}",
        "CREATE TABLE t (id INT PRIMARY KEY, a INET4, b INET6)",
        f"INSERT INTO t VALUES {values}, (2000, NULL, NULL)",
    )
    changes = rows_of(read_changes(mysql, start, everything(database, CATALOG)))
    rows = [row for batch in changes for row in batch.images.to_pylist()]
    printed = mysql.execute(f"SELECT id, CAST(a AS CHAR), CAST(b AS CHAR) FROM {database}.t ORDER BY id")
    assert [tuple(row.values()) for row in rows] == printed
    assert len({b for _, _, b in printed}) > 1500


@pytest.mark.parametrize("key", ["id INT PRIMARY KEY, ", "PRIMARY KEY (ip), ", ""])
def test_a_snapshot_with_later_changes_undone_has_the_addresses_of_its_position(mysql: MySqlServer, key: str):
    database = mysql.create_database("inet")
    columns = "ip" if "id" not in key else "id, ip"
    mysql.execute(f"USE {database}", f"CREATE TABLE t ({key}ip INET6 NOT NULL)")
    rows = ["::", "::1", "2001:db8::", "::ffff:1.2.3.4"]
    numbered = [f"({number}, '{ip}')" if "id" in key else f"('{ip}')" for number, ip in enumerate(rows)]
    mysql.execute(f"INSERT INTO {database}.t ({columns}) VALUES {', '.join(numbered)}")
    as_of = position(mysql)
    mysql.execute(
        f"USE {database}",
        "UPDATE t SET ip = 'fe80::7' WHERE ip = '::1'",
        "DELETE FROM t WHERE ip = '2001:db8::'",
        f"INSERT INTO t ({columns}) VALUES ({'9, ' if 'id' in key else ''}'fe80::9')",
    )
    login = mysql.create_login("SELECT, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
    found = read(
        reader_settings(mysql, "ip", no_key=NoKeyPolicy.LOCK, login=login), as_of, whole(schema_of(mysql, database))
    )
    assert found == sorted((ip,) for ip in rows)


def test_the_source_reads_addresses_and_stops_where_the_column_is_no_address(mysql: MySqlServer):
    database = mysql.create_database("inet")
    mysql.execute(f"USE {database}", "CREATE TABLE t (id INT PRIMARY KEY, ip INET6, raw BINARY(16))")
    start = position(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (1, '2001:DB8:0:0::1', x'20010db8000000000000000000000001')")
    settings = scan_settings_of(mysql, database, "id INT, ip STRING, raw BINARY")
    assert [(row["ip"], row["raw"].hex()) for row in read_range(mysql, settings, start)] == [
        ("2001:db8::1", "20010db8000000000000000000000001")
    ]
    mysql.execute(f"ALTER TABLE {database}.t MODIFY ip BINARY(16)")
    with pytest.raises(SchemaError, match=r"'ip' of table .*\.t holds BINARY from here on, and was declared as STRING"):
        read_range(mysql, settings, start)
