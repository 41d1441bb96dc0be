"""Tables of the binlog against the declared columns: rows that do not fit fail the query, others are exact."""

from __future__ import annotations

import pytest

from datasources.errors import SchemaError
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_changes import read_range, scan_settings_of
from tests.support.mysql.mysql_server import MySqlServer, every_server

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]


@pytest.fixture
def database(mysql: MySqlServer) -> str:
    return mysql.create_database("fit")


def changed(mysql: MySqlServer, database: str, columns: str, *statements: str):
    """Create a table, note the position, run statements."""
    mysql.execute(f"USE {database}", f"CREATE TABLE t (id INT PRIMARY KEY, {columns}) CHARACTER SET utf8mb4")
    start = position(mysql)
    mysql.execute(f"USE {database}", *statements)
    return start


@every_server
def test_digits_that_are_removed_fail_the_query_at_their_row(mysql: MySqlServer, database: str):
    start = changed(
        mysql, database, "c DECIMAL(10,2)", "INSERT INTO t VALUES (1, 1.25)", "ALTER TABLE t MODIFY c DECIMAL(10,1)"
    )
    settings = scan_settings_of(mysql, database, "id INT, c DECIMAL(10,2)")
    with pytest.raises(SchemaError, match=r"holds DECIMAL\(10, 1\) with the statement at .*declare it as"):
        read_range(mysql, settings, start)
    wide = scan_settings_of(mysql, database, "id INT, c DECIMAL(12,2)")
    with pytest.raises(SchemaError, match="may change the type of column 'c'"):
        read_range(mysql, wide, start)
    # The digits before the point do not fit even if the statement is skipped.
    ignoring = scan_settings_of(mysql, database, "id INT, c DECIMAL(10,2)", on_rewrite_ddl="ignore")
    mysql.execute(f"INSERT INTO {database}.t VALUES (2, 123456789.5)")
    with pytest.raises(SchemaError, match=r"column 'c' of table .*\.t holds DECIMAL\(10, 1\) from here on"):
        read_range(mysql, ignoring, start)


@every_server
def test_a_read_column_with_another_name_ends_the_query(mysql: MySqlServer, database: str):
    start = changed(mysql, database, "c INT", "ALTER TABLE t RENAME COLUMN c TO d", "INSERT INTO t VALUES (1, 5)")
    with pytest.raises(SchemaError, match="renames column 'c' to 'd'"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c INT"), start)
    ignoring = scan_settings_of(mysql, database, "id INT, c INT", on_rewrite_ddl="ignore")
    with pytest.raises(SchemaError, match=r"has no column 'c' here, and does not get one later"):
        read_range(mysql, ignoring, start)


@every_server
def test_a_new_table_needs_the_declared_columns_with_types_that_fit(mysql: MySqlServer, database: str):
    start = changed(
        mysql, database, "c INT",
        "CREATE TABLE t2 (c SMALLINT, more TEXT, id INT PRIMARY KEY)", "INSERT INTO t2 VALUES (5, 'x', 1)",
        "INSERT INTO t VALUES (1, 6)",
    )  # fmt: skip
    settings = scan_settings_of(mysql, database, "id INT, c INT")
    found = read_range(mysql, settings, start)
    assert [(row["table_name"], row["id"], row["c"]) for row in found] == [("t2", 1, 5), ("t", 1, 6)]
    for columns, value, why in [
        ("c BIGINT", "5", r"'c' of table .*\.t3 holds BIGINT from here on, and was declared as INT"),
        ("c INT UNSIGNED", "5", "holds BIGINT from here on"),
        ("c VARCHAR(9)", "'5'", "holds STRING from here on"),
        ("d INT", "5", "has no column 'c' here"),
    ]:
        start = position(mysql)
        mysql.execute(
            f"CREATE TABLE {database}.t3 (id INT PRIMARY KEY, {columns})",
            f"INSERT INTO {database}.t3 VALUES (1, {value})",
        )
        with pytest.raises(SchemaError, match=why):
            read_range(mysql, settings, start)
        mysql.execute(f"DROP TABLE {database}.t3")


@every_server
def test_a_column_that_the_table_gets_later_is_null_before(mysql: MySqlServer, database: str):
    start = changed(
        mysql, database, "d INT",
        "INSERT INTO t VALUES (1, 5)", "ALTER TABLE t ADD c INT", "INSERT INTO t VALUES (2, 6, 7)",
    )  # fmt: skip
    found = read_range(mysql, scan_settings_of(mysql, database, "id INT, c INT"), start)
    assert [(row["id"], row["c"]) for row in found] == [(1, None), (2, 7)]


@every_server
def test_a_dropped_table_cannot_have_added_the_column(mysql: MySqlServer, database: str):
    start = changed(mysql, database, "d INT", "INSERT INTO t VALUES (1, 5)", "DROP TABLE t")
    with pytest.raises(SchemaError, match="has no column 'c' here, and does not get one later"):
        read_range(mysql, scan_settings_of(mysql, database, "id INT, c INT"), start)


@every_server
def test_members_signs_and_character_sets_are_those_of_each_row(mysql: MySqlServer, database: str):
    """With the policy that lets statements pass, each row is read by its own description."""
    start = changed(
        mysql, database, "e ENUM('a','b'), n SMALLINT, s VARCHAR(9) CHARACTER SET latin1",
        "INSERT INTO t VALUES (1, 'a', -1, 'x')",
        "ALTER TABLE t MODIFY e ENUM('b','c','a'), MODIFY n INT, MODIFY s VARCHAR(9) CHARACTER SET utf8mb4",
        "INSERT INTO t VALUES (2, 'a', 40000, 'y')",
        "DELETE FROM t", "ALTER TABLE t MODIFY n SMALLINT UNSIGNED, MODIFY s VARCHAR(9) CHARACTER SET utf16",
        "INSERT INTO t VALUES (3, 'c', 65535, 'z')",
    )  # fmt: skip
    settings = scan_settings_of(mysql, database, "id INT, e STRING, n INT, s STRING", on_rewrite_ddl="ignore")
    found = [(r["row_kind"], r["id"], r["e"], r["n"], r["s"]) for r in read_range(mysql, settings, start)]
    assert found == [
        ("+I", 1, "a", -1, "x"), ("+I", 2, "a", 40000, "y"), ("-D", 1, "a", -1, "x"), ("-D", 2, "a", 40000, "y"),
        ("+I", 3, "c", 65535, "z"),
    ]  # fmt: skip


@every_server
def test_a_masked_column_may_be_missing_or_of_any_type(mysql: MySqlServer, database: str):
    start = changed(
        mysql, database, "c VARCHAR(9)",
        "INSERT INTO t VALUES (1, 'x')", "ALTER TABLE t RENAME COLUMN c TO d", "INSERT INTO t VALUES (2, 'y')",
    )  # fmt: skip
    settings = scan_settings_of(mysql, database, "id INT, c INT", scan__masked_columns="c", on_rewrite_ddl="ignore")
    assert [(row["id"], row["c"]) for row in read_range(mysql, settings, start)] == [(1, None), (2, None)]
