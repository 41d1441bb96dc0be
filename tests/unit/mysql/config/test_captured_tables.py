"""Which tables are captured: whole names, never those of the server's own databases."""

from __future__ import annotations

import pytest

from datasources.mysql.config.captured_tables import SYSTEM_DATABASES, CapturedTables
from datasources.mysql.preflight.wanted import parse_wanted


@pytest.mark.parametrize(
    ("database", "table", "is_captured"),
    [
        ("shop", "orders", True),
        ("shop", "orders_old", False),
        ("shops", "orders", False),
        *(("shop", name, False) for name in SYSTEM_DATABASES),
    ],
)
def test_names_are_matched_as_a_whole(database, table, is_captured):
    assert CapturedTables("shop", "orders")(database, table) is is_captured


@pytest.mark.parametrize("name", SYSTEM_DATABASES)
def test_a_users_table_may_have_the_name_of_a_database_of_the_server(name):
    assert CapturedTables("shop", ".*")("shop", name)
    assert not CapturedTables(".*", ".*")(name, "orders")
    assert not CapturedTables(".*", ".*")(name.upper(), "orders")
    assert not CapturedTables(".*", ".*").names(name)


@pytest.mark.parametrize("table", ["orders", "sys", "mysql", "other"])
@pytest.mark.parametrize("database", ["shop", "sys", "SYS"])
def test_the_check_captures_the_tables_that_the_source_captures(database, table):
    options = {
        "hostname": "h",
        "username": "u",
        "password": "p",
        "database-name": "shop|SYS",
        "table-name": "orders|sys",
    }
    assert parse_wanted(options).captures(database, table) is CapturedTables("shop|SYS", "orders|sys")(database, table)
