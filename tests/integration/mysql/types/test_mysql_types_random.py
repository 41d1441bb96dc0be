"""Random tables: what the binlog has of every column is what the server selects.

A TABLE_MAP describes columns in lists that count only some of them (signs, character sets, members). A type that is
counted wrongly shifts all columns behind it, so types are tried beside each other, in any order.
"""

from __future__ import annotations

from contextlib import closing

import pyarrow as pa
import pytest

from tests.support.mysql.mysql_binlog import everything, position, read_changes, rows_of
from tests.support.mysql.mysql_server import MySqlServer, every_server
from tests.support.mysql_values.mysql_random_tables import random_table
from tests.support.mysql_values.mysql_selects import declared_columns, selected_values

pytestmark = pytest.mark.mysql


def _check(server: MySqlServer, seeds: range) -> None:
    database = server.create_database("random")
    tables = {f"t{seed}": random_table(f"t{seed}", seed=seed, version=server.version.value) for seed in seeds}
    start = position(server)
    with closing(server.connect(charset="utf8mb4", database=database, conv={}, use_unicode=False)) as connection:
        cursor = connection.cursor()
        cursor.execute("SET time_zone = '+00:00', sql_mode = ''")
        for table in tables.values():
            for statement in (table.create, *table.inserts):
                cursor.execute(statement)
        batches = rows_of(read_changes(server, start, everything(database)))
        for name, table in tables.items():
            images = pa.Table.from_batches([batch.images for batch in batches if batch.table.table == name])
            declared = declared_columns(cursor, database, name)
            assert images.column_names == list(table.columns), table.create
            for column in table.columns:
                expected = selected_values(cursor, name, column, declared[column], order="k")
                found = images.column(column).combine_chunks()
                assert found.to_pylist() == expected.to_pylist(), (column, table.create)
                assert found.type == expected.type, (column, table.create)


@every_server
def test_random_tables_read_as_the_server_selects_them(mysql: MySqlServer):
    _check(mysql, range(40))


@pytest.mark.full
@every_server
def test_many_random_tables_read_as_the_server_selects_them(mysql: MySqlServer):
    _check(mysql, range(1_000, 2_000))
