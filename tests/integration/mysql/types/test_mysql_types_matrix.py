"""Every type: the snapshot's value, the binlog's and the one that was written are equal."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from datasources.mysql.types import ColumnType, arrow_type
from tests.support.mysql.mysql_binlog import everything, position, read_changes, rows_of
from tests.support.mysql.mysql_server import MySqlServer, each_server
from tests.support.mysql_values.mysql_selects import declared_columns, selected_values
from tests.support.mysql_values.mysql_types_matrix import CASES, TypeCase

pytestmark = [pytest.mark.mysql, pytest.mark.usefixtures("native_first")]

_COLUMNS = 12
"""Columns of a table: several types side by side, with more than one byte of NULL flags."""
_DONE: dict[int, dict[str, tuple[ColumnType, pa.Array, pa.Array]]] = {}


def _run(server: MySqlServer) -> dict[str, tuple[ColumnType, pa.Array, pa.Array]]:
    """Write all cases once for a server; return by case the column, its snapshot, and what the binlog has."""
    if id(server) in _DONE:
        return _DONE[id(server)]
    database = server.create_database("types")
    cases = [case for case in CASES if server.version.value in case.servers]
    tables = {f"t{at}": cases[at : at + _COLUMNS] for at in range(0, len(cases), _COLUMNS)}
    start = position(server)
    with closing(server.connect(charset="utf8mb4", database=database, conv={}, use_unicode=False)) as connection:
        cursor = connection.cursor()
        cursor.execute("SET time_zone = '+00:00', sql_mode = ''")
        for name, members in tables.items():
            _write(cursor, name, members)
        declared = declared_columns(cursor, database)
        # Another zone than the one in which the values were written.
        cursor.execute("SET time_zone = '-07:30'")
        changes = rows_of(read_changes(server, start, everything(database, declared)))
        found = {}
        for name, members in tables.items():
            binlog = pa.Table.from_batches([batch.images for batch in changes if batch.table.table == name])
            for case in members:
                column = declared[case.name]
                found[case.name] = (column, selected_values(cursor, name, case.name, column), binlog.column(case.name))
    _DONE[id(server)] = found
    return found


def _write(cursor: Any, table: str, cases: list[TypeCase]) -> None:
    columns = ", ".join(f"`{case.name}` {case.ddl}" for case in cases)
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, {columns})")
    for number in range(_rows(cases)):
        literals = [case.values[number][0] if number < len(case.values) else "NULL" for case in cases]
        cursor.execute(f"INSERT INTO {table} VALUES ({number}, {', '.join(literals)})")


def _rows(cases: list[TypeCase]) -> int:
    return max(len(case.values) for case in cases) + 1


@each_server
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_snapshot_and_binlog_read_what_was_written(mysql: MySqlServer, case: TypeCase):
    if mysql.version.value not in case.servers:
        assert case.name not in _run(mysql)
        return
    column, snapshot, binlog = _run(mysql)[case.name]
    written = [value for _, value in case.values]
    expected = [*written, *[None] * (len(binlog) - len(written))]

    assert binlog.to_pylist() == expected
    assert snapshot.to_pylist() == expected
    assert None in expected
    assert snapshot.type == binlog.type == arrow_type(column)
