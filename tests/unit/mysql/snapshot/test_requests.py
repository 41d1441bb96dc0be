"""Images of the binlog in the columns of a table as it is now."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.mysql.binlog.reading.opening import ReaderId
from datasources.mysql.connection.connection import ConnectionSettings
from datasources.mysql.snapshot.requests import Selection, SnapshotSettings
from datasources.mysql.tables.chunk_key import KeyKind, TableKey
from datasources.mysql.tables.table_schema import TableColumn, TableSchema
from datasources.mysql.types import ColumnType, Kind

INT, BIGINT = (ColumnType(kind=Kind.INTEGER, width=width) for width in (4, 8))
PRICE = ColumnType(kind=Kind.DECIMAL, precision=12, scale=3)


def selection(**columns: ColumnType) -> Selection:
    found = tuple(TableColumn(name, kind) for name, kind in columns.items())
    key = TableKey(kind=KeyKind.NONE)
    schema = TableSchema(database="d", table="t", key=key, rows=0, row_bytes=0, columns=found)
    server = ConnectionSettings(host="h", port=1, user="u", password="")
    name = ReaderId(server_id=1, replica_uuid="11111111-2222-3333-4444-555555555555")
    return Selection(schema, SnapshotSettings(connection=server, columns=tuple(columns), reader_id=name))


@pytest.mark.parametrize(
    ("now", "values"),
    [
        (BIGINT, pa.array([1, None, -(2**31)], pa.int32())),
        (PRICE, pa.array([Decimal("1.25"), None, Decimal("-9.99")], pa.decimal128(10, 2))),
    ],
)
def test_a_column_that_was_smaller_is_widened(now: ColumnType, values: pa.Array):
    found = selection(c=now).images(pa.record_batch([values], names=["c"]), "d.t")
    assert found.column(0).to_pylist() == values.to_pylist()
    assert found.schema == selection(c=now).arrow


@pytest.mark.parametrize(
    ("now", "values"),
    [
        (INT, pa.array([1], pa.int64())),
        (INT, pa.array(["1"], pa.string())),
        (BIGINT, pa.array([1.0], pa.float64())),
        (PRICE, pa.array([Decimal("1.25")], pa.decimal128(14, 2))),
    ],
)
def test_a_column_that_had_another_type_is_refused(now: ColumnType, values: pa.Array):
    with pytest.raises(SchemaError, match="column 'c' of d.t changed its type while the table was read"):
        selection(c=now).images(pa.record_batch([values], names=["c"]), "d.t")


def test_a_column_that_was_not_there_is_null():
    images = pa.record_batch([pa.array([1, 2], pa.int32())], names=["a"])
    assert selection(a=INT, b=BIGINT).images(images, "d.t").to_pydict() == {"a": [1, 2], "b": [None, None]}
