"""Which tables of the binlog match the declared columns, with a server that has the current columns only."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.errors import SchemaError
from datasources.mysql.binlog.rows.column_codes import storage_of
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.reader import table_compatibility as table_fit
from datasources.mysql.reader.table_compatibility import TableCompatibility
from datasources.mysql.source import MySqlSource
from datasources.mysql.types.column import ColumnCode
from datasources.source.api.connector import SessionInfo

C = ColumnCode
OPTIONS = {"hostname": "db", "username": "u", "password": "p", "database-name": "shop", "table-name": "t"}
Stored = tuple[ColumnCode, bytes, bool, tuple[str, ...]]
INT: Stored = (C.LONG, b"", False, ())
UINT: Stored = (C.LONG, b"", True, ())
BIGINT: Stored = (C.LONGLONG, b"", False, ())
TEXT: Stored = (C.VARCHAR, b"\x50\0", False, ())


@dataclass
class Server:
    """The columns that the table has now; None = there is no such table."""

    columns: tuple[str, ...] | None = ()
    asked: list[tuple[str, str]] = field(default_factory=list)

    def read_schema(self, _connection: object, database: str, table: str) -> Any:
        self.asked.append((database, table))
        if self.columns is None:
            raise SchemaError(f"no table {table}")
        return SimpleNamespace(columns=[SimpleNamespace(name=name, type=None) for name in self.columns])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    closing = SimpleNamespace(close=nullcontext().__enter__)
    monkeypatch.setattr(table_fit, "connect", lambda _settings, *, doing: closing if doing else None)
    monkeypatch.setattr(table_fit, "read_schema", server.read_schema)
    return server


def fit(schema: str, *columns: str) -> TableCompatibility:
    settings = MySqlSource.create({**OPTIONS, "schema": schema}, SessionInfo()).settings
    return TableCompatibility(settings, frozenset(columns or settings.data.names))


def table(name: str = "t", **columns: Stored) -> TableMap:
    stored = tuple(
        storage_of(code, numbers, is_unsigned=is_unsigned, charset="utf8mb4", members=members)
        for code, numbers, is_unsigned, members in columns.values()
    )
    return TableMap(
        database="shop", table=name, names=tuple(columns), columns=stored, primary_key=(), nullable=frozenset(),
        declared=tuple(each[:2] for each in columns.values()), unsigned=frozenset(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        ("INT", INT),
        ("BIGINT", INT),
        ("BIGINT", UINT),
        ("BIGINT", (C.LONGLONG, b"", True, ())),
        ("BOOLEAN", (C.TINY, b"", False, ())),
        ("STRING", TEXT),
        ("DECIMAL(12,3)", (C.NEWDECIMAL, b"\x0a\x02", False, ())),
        ("DOUBLE", (C.FLOAT, b"\x04", False, ())),
        ("STRING", (C.ENUM, b"\x01\0", False, ("a", "b"))),
    ],
)
def test_a_type_that_the_declared_one_can_represent_fits(server: Server, declared: str, stored: Stored):
    fit(f"c {declared}").require(table(c=stored))
    assert server.asked == []


@pytest.mark.parametrize(
    ("declared", "stored", "own"),
    [
        ("INT", UINT, "BIGINT"),
        ("INT", BIGINT, "BIGINT"),
        ("INT", TEXT, "STRING"),
        ("DECIMAL(10,2)", (C.NEWDECIMAL, b"\x0a\x01", False, ()), r"DECIMAL\(10, 1\)"),
        ("DECIMAL(10,2)", (C.NEWDECIMAL, b"\x0c\x02", False, ()), r"DECIMAL\(12, 2\)"),
        ("FLOAT", (C.DOUBLE, b"\x08", False, ()), "DOUBLE"),
        ("TIMESTAMP_NTZ", (C.TIMESTAMP2, b"\0", False, ()), "TIMESTAMP"),
    ],
)
def test_a_type_that_does_not_fit_names_column_table_and_hint(server: Server, declared: str, stored: Stored, own: str):
    checked, found = fit(f"c {declared}, id INT"), table(id=INT, c=stored)
    way_on = f"declare it as {own} in option 'schema' and start with a new checkpoint"
    with pytest.raises(SchemaError, match=rf"column 'c' of table shop.t holds {own} from here on, .*{way_on}"):
        checked.require(found)
    assert server.asked == []


def test_each_description_is_checked_once_and_again_when_it_changes(server: Server):
    server.columns = ("id", "c")
    checked = fit("id INT, c INT")
    for _ in range(3):
        checked.require(table(id=INT))
    assert len(server.asked) == 1
    checked.require(table(id=INT, c=INT))
    checked.require(table(id=INT))
    assert server.asked == [("shop", "t")] * 2
    with pytest.raises(SchemaError, match="holds BIGINT"):
        checked.require(table(id=INT, c=BIGINT))
    with pytest.raises(SchemaError, match="holds BIGINT"):  # what did not fit is not taken for known
        checked.require(table(id=INT, c=BIGINT))


def test_a_changed_length_or_member_is_another_description_and_fits(server: Server):
    checked, before = fit("c STRING"), table(c=TEXT)
    checked.require(before)
    checked.require(replace(before, declared=((C.VARCHAR, b"\x60\0"),)))
    checked.require(table(c=(C.ENUM, b"\x01\0", False, ("a", "b"))))
    checked.require(table(c=(C.ENUM, b"\x01\0", False, ("b", "a"))))
    assert server.asked == []


def test_two_tables_are_distinguished(server: Server):
    server.columns = ("id", "c")
    checked = fit("id INT, c INT")
    checked.require(table("t", id=INT))
    checked.require(table("u", id=INT))
    assert server.asked == [("shop", "t"), ("shop", "u")]


@pytest.mark.parametrize("columns", [("id", "d"), (), None])
def test_a_column_that_the_table_never_gets_ends_the_query(server: Server, columns: tuple[str, ...] | None):
    server.columns = columns
    with pytest.raises(SchemaError, match=r"table shop.t has no column 'c' here.*leave the table out \('table-name'\)"):
        fit("id INT, c INT").require(table(id=INT, d=INT))


def test_only_columns_that_are_read_are_checked(server: Server):
    fit("id INT, c INT, d INT", "id").require(table(id=INT, c=TEXT))
    assert server.asked == []


def strict(schema: str) -> TableCompatibility:
    options = {**OPTIONS, "schema": schema, "schema.change.behavior": "exception"}
    settings = MySqlSource.create(options, SessionInfo()).settings
    return TableCompatibility(settings, frozenset(settings.data.names))


def test_a_column_that_is_not_read_is_ignored_or_stops_the_query(server: Server):
    server.columns = ("id", "c", "d")
    found = table(id=INT, c=INT, d=INT)
    fit("id INT").require(found)
    assert server.asked == []
    with pytest.raises(
        SchemaError, match="table shop.t has the columns 'c' and 'd' from here on, .*add it to the option"
    ):
        strict("id INT").require(found)
    strict("id INT, c INT, d INT").require(found)


def test_a_column_that_is_gone_again_is_ignored(server: Server):
    server.columns = ("id",)
    strict("id INT").require(table(id=INT, c=INT))
    assert server.asked == [("shop", "t")]


def test_the_servers_own_key_column_is_ignored(server: Server):
    server.columns = ("id",)
    strict("id INT").require(table(my_row_id=INT, id=INT))
    assert server.asked == []
