"""Keys of row images: the same texts and the same order as at the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import OffsetError, RecordError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.tables.chunk_key import KeyColumn, KeyKind, TableKey
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.mysql.tables.table_schema import key_types, read_schema
from tests.support.mysql.mysql_binlog import everything, position, read_changes, rows_of
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql_values.mysql_keys import MAKE_ROWS, WHERE, Table, case_of

pytestmark = pytest.mark.mysql


def connect(server: MySqlServer) -> Any:
    return server.connect(server.reader, charset="utf8mb4", init_command="SET time_zone = '+00:00'")


@pytest.fixture
def session(mysql: MySqlServer) -> Iterator[Any]:
    with closing(connect(mysql)) as connection:
        yield connection


def images_since(server: MySqlServer, start: BinlogPosition, database: str) -> pa.RecordBatch:
    batches = [batch.images for batch in rows_of(read_changes(server, start, everything(database)))]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def texts_of(keys: ImageKeys, images: pa.RecordBatch) -> list[tuple[str, ...]]:
    columns = [keys._texts(at, values) for at, values in enumerate(keys.columns(images))]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(("mysql", "name"), WHERE, indirect=["mysql"])
def test_images_have_the_texts_and_ranges_of_the_server(mysql: MySqlServer, session: Any, name: str):
    start = position(mysql)
    table = Table(mysql, session, case_of(name, is_mariadb=mysql.is_mariadb))
    images = images_since(mysql, start, table.database)
    schema = read_schema(session, table.database, "t")
    with closing(ImageKeys(lambda: connect(mysql), schema.key, key_types(schema.key))) as keys:
        texts = texts_of(keys, images)
        assert sorted(texts) == sorted(table.keys())
        seen = np.zeros(len(texts), np.int64)
        for wanted in table.ranges():
            inside = keys.within(images, wanted)
            assert {text for text, is_in in zip(texts, inside, strict=True) if is_in} == set(table.keys(wanted))
            seen += inside
    assert seen.tolist() == [1] * len(texts)


@pytest.mark.parametrize("charset", ["sjis", "koi8r", "ucs2", "gb18030"])
def test_texts_of_any_character_set_come_back_as_its_bytes(mysql: MySqlServer, session: Any, charset: str):
    database = mysql.create_database()
    start = position(mysql)
    mysql.execute(
        f"CREATE TABLE {database}.t (k VARCHAR(9) CHARACTER SET {charset} PRIMARY KEY)",
        MAKE_ROWS.format(table=f"{database}.t", rows="('b'), (''), ('Z'), (_utf8mb4 x'D0B9')"),
    )
    images = images_since(mysql, start, database)
    schema = read_schema(session, database, "t")
    with session.cursor() as cursor, closing(ImageKeys(lambda: connect(mysql), schema.key, key_types(schema.key))) as k:
        cursor.execute(f"SELECT HEX(k) FROM {database}.t ORDER BY k")
        found = [row[0] for row in cursor.fetchall()]
        assert {text for (text,) in texts_of(k, images)} == set(found)
        assert k.within(images, KeyRange(upper=(found[1],))).sum() == 2


def test_integers_need_no_server_and_no_python_per_row():
    column = KeyColumn(name="k", data_type="int", column_type="int")
    key = TableKey(kind=KeyKind.PRIMARY, name="PRIMARY", columns=(column,))

    def refuse() -> Any:
        raise AssertionError("integers are compared here")

    keys = ImageKeys(refuse, key, key_types(key))
    images = pa.RecordBatch.from_pydict({"k": pa.array(range(1_000_000), pa.int32())})
    assert keys.within(images, KeyRange(lower=("9",), upper=("-1",))).sum() == 0
    inside = keys.within(images, KeyRange(lower=("9",), upper=("999999999999",)))
    assert inside.sum() == 999_990
    assert not inside[:10].any()
    keys.close()


def test_invalid_bounds_and_invalid_dates_are_rejected():
    column = KeyColumn(name="k", data_type="date", column_type="date")
    key = TableKey(kind=KeyKind.PRIMARY, name="PRIMARY", columns=(column,))
    keys = ImageKeys(AssertionError, key, key_types(key))
    images = pa.RecordBatch.from_pydict({"k": pa.array([None], pa.date32())})
    with pytest.raises(RecordError, match="key column 'k' holds an invalid date"):
        keys.within(images, KeyRange(upper=("2024-01-01",)))
    with pytest.raises(OffsetError, match="no valid value"):
        keys.within(pa.RecordBatch.from_pydict({"k": pa.array([1], pa.date32())}), KeyRange(upper=("x",)))
