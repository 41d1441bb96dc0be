"""Tables as the catalog of a real server describes them."""

from __future__ import annotations

import pickle
from contextlib import closing

import pytest

from datasources.errors import SchemaError
from datasources.mysql.source import MySqlSource
from datasources.mysql.tables.chunk_key import KeyKind
from datasources.mysql.tables.table_schema import TableColumn, key_types, read_schema, read_schemas
from datasources.mysql.types import ColumnType, Kind
from datasources.source.api.connector import SessionInfo
from tests.support.mysql.mysql_server import MySqlServer, every_mysql, every_server

pytestmark = pytest.mark.mysql


@every_server
def test_captured_tables_come_by_name_with_columns_and_keys(mysql: MySqlServer):
    database = mysql.create_database()
    mysql.execute(
        f"CREATE TABLE {database}.b (id BIGINT UNSIGNED, v VARCHAR(9) CHARACTER SET latin1, w INT AS (id + 1), "
        "s INT AS (id + 2) STORED, UNIQUE (v), PRIMARY KEY (id))",
        f"CREATE TABLE {database}.a (d DECIMAL(9,2), t TIMESTAMP(3) NULL)",
        f"CREATE TABLE {database}.not_wanted (d INT)",
        f"CREATE VIEW {database}.v AS SELECT 1 AS one",
    )
    with closing(mysql.connect(mysql.reader)) as connection:
        found = read_schemas(connection, lambda name, table: name == database and table != "not_wanted")
        assert [schema.name for schema in found] == [f"{database}.a", f"{database}.b"]
        a, b = pickle.loads(pickle.dumps(found))
        assert read_schema(connection, database, "b") == b
    assert a.key.kind is KeyKind.NONE
    assert a.columns == (
        TableColumn("d", ColumnType(kind=Kind.DECIMAL, precision=9, scale=2)),
        TableColumn("t", ColumnType(kind=Kind.TIMESTAMP, scale=3)),
    )
    assert [column.name for column in b.columns] == ["id", "v", "w", "s"]
    assert b.columns[1].type == ColumnType(kind=Kind.TEXT, charset="latin1")
    assert str(b.key) == f"primary key (id {b.key.columns[0].column_type})"
    assert key_types(b.key) == {"id": ColumnType(kind=Kind.INTEGER, width=8, is_unsigned=True)}


@every_mysql
def test_a_generated_key_is_a_column_only_if_it_is_visible(mysql: MySqlServer):
    database = mysql.create_database()
    with closing(mysql.connect(database=database)) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_generate_invisible_primary_key = ON")
        cursor.execute("CREATE TABLE t (v INT, hidden INT INVISIBLE)")
        before = read_schema(connection, database, "t")
        cursor.execute("ALTER TABLE t ALTER COLUMN my_row_id SET VISIBLE")
        after = read_schema(connection, database, "t")
    assert (before.key.kind, key_types(before.key)["my_row_id"].width) == (KeyKind.INVISIBLE, 8)
    assert [column.name for column in before.columns] == ["v", "hidden"]
    assert [column.name for column in after.columns] == ["my_row_id", "v", "hidden"]


@every_mysql
def test_a_generated_key_that_the_server_hides_is_found(mysql: MySqlServer):
    database = mysql.create_database()
    with mysql.settings(show_gipk_in_create_table_and_information_schema=0):
        mysql.execute("SET sql_generate_invisible_primary_key = ON", f"CREATE TABLE {database}.t (v INT)")
        with closing(mysql.connect(mysql.reader)) as connection:
            assert read_schema(connection, database, "t").key.kind is KeyKind.INVISIBLE


@every_server
def test_an_index_that_cannot_be_walked_or_named_is_no_key(mysql: MySqlServer):
    database = mysql.create_database()
    hidden = "IGNORED" if mysql.is_mariadb else "INVISIBLE"
    long_text = "TEXT NOT NULL, UNIQUE (d)" if mysql.is_mariadb else "TEXT NOT NULL, UNIQUE (d(9))"
    mysql.execute(
        f"CREATE TABLE {database}.t (id DOUBLE PRIMARY KEY, a INT NOT NULL, b BIGINT NOT NULL, c INT NOT NULL, "
        f"UNIQUE a (a) {hidden}, UNIQUE b (b, c), d {long_text})"
    )
    with closing(mysql.connect(mysql.reader)) as connection:
        assert read_schema(connection, database, "t").key.name == "b"


@every_server
def test_without_a_matching_table_the_error_names_patterns_and_login(mysql: MySqlServer):
    login = mysql.create_login("SELECT ON nothing.*")
    options = {"hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password}
    options |= {"database-name": "shop_.*", "table-name": "orders", "ssl.mode": "disabled"}
    expected = f"no table that {login.user}@.* 'shop_[.][*]' and 'table-name' = 'orders'.*a login sees only what it may"
    with pytest.raises(SchemaError, match=expected):
        MySqlSource.create(options, SessionInfo(time_zone="UTC"))


@every_server
def test_a_missing_table_is_named(mysql: MySqlServer):
    with closing(mysql.connect(mysql.reader)) as connection:
        with pytest.raises(SchemaError, match=r"no table nowhere\.t"):
            read_schema(connection, "nowhere", "t")
        assert read_schemas(connection, lambda *_: False) == []


@pytest.mark.parametrize("mysql", ["mariadb"], indirect=True)
def test_columns_that_cannot_be_read_exactly_are_reported_and_left_out(mysql: MySqlServer):
    database = mysql.create_database()
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, u UUID)")
    with closing(mysql.connect(mysql.reader)) as connection:
        schema = read_schema(connection, database, "t")
    assert [column.name for column in schema.columns] == ["id"]
    assert [name for name, _ in schema.unreadable] == ["u"]
