"""Requests to a snapshot: how to read, and which ranges of which tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from datasources.errors import SchemaError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.reading.opening import ReaderId
from datasources.mysql.config.mysql_options import NoKeyPolicy, SnapshotLocking
from datasources.mysql.connection.connection import ConnectionSettings
from datasources.mysql.scan.row_options import RewritePolicy
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.mysql.tables.table_schema import TableSchema, key_types, read_again_advice
from datasources.mysql.types import ColumnType, ZeroDates, arrow_type

_SELECT_TIMEOUT_MS: Final = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRequest:
    """A range of one table.

    A table without a key is read as the range without bounds.
    """

    schema: TableSchema
    wanted: KeyRange


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSettings:
    """How ranges are read.

    Attributes:
        connection: The server and the login.
        columns: Names of the columns of the result, in its order. One that a table does not have is NULL there.
        reader_id: The name of the reader of the binlog.
        zero_dates: How invalid dates are handled.
        locking: Whether a table may be locked for milliseconds where the server has no GTIDs.
        no_key: Whether a table without a key may be locked for milliseconds.
        max_rows_per_second: Rows that are read per second, at most.
        masked: Columns that are never read: NULL in the result. Key columns are read, but not returned.
        select_timeout_ms: The time limit of a SELECT of one range.
        skipped: Where transactions begin whose changes are not undone.
        on_rewrite: How statements are handled that change rows without row events.
    """

    connection: ConnectionSettings
    columns: tuple[str, ...]
    reader_id: ReaderId
    zero_dates: ZeroDates = ZeroDates.FAIL
    locking: SnapshotLocking = SnapshotLocking.NONE
    no_key: NoKeyPolicy = NoKeyPolicy.FAIL
    max_rows_per_second: float | None = None
    masked: frozenset[str] = frozenset()
    select_timeout_ms: int = _SELECT_TIMEOUT_MS
    skipped: frozenset[BinlogPosition] = frozenset()
    on_rewrite: RewritePolicy = RewritePolicy.FAIL


class Selection:
    """The columns of a table that are read, and those that are returned.

    Attributes:
        types: Types of the columns that are read, by name: those that are returned, and the key's.
        key: Names of the key's columns.
        arrow: The columns that are read, as an Arrow schema.
    """

    def __init__(self, schema: TableSchema, settings: SnapshotSettings) -> None:
        known = {column.name: column.type for column in schema.columns}
        keys = key_types(schema.key)
        read = [name for name in settings.columns if name in known and name not in settings.masked]
        self.types: dict[str, ColumnType] = {name: known[name] for name in read} | keys
        self.key = tuple(keys)
        self.arrow = pa.schema([(name, arrow_type(type_)) for name, type_ in self.types.items()])
        self._result = {name: name in read for name in settings.columns}
        self._null_types = {name: arrow_type(known[name]) if name in known else pa.null() for name in settings.columns}

    def result(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the result for rows that were read."""
        arrays = [
            batch.column(name) if is_read else pa.nulls(batch.num_rows, self._null_types[name])
            for name, is_read in self._result.items()
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._result))

    def images(self, batch: pa.RecordBatch, where: str) -> pa.RecordBatch:
        """Return images of the binlog in the columns that are read; a missing column is NULL.

        A column that had a smaller type is widened: the statement between an image and the table as it is now decides
        what becomes of the rows.

        Raises:
            SchemaError: A column has another type there.
        """
        return _as_read(batch, self.arrow, where)


def _as_read(batch: pa.RecordBatch, wanted: pa.Schema, where: str) -> pa.RecordBatch:
    arrays = []
    for field in wanted:
        at = batch.schema.get_field_index(field.name)
        values = pa.nulls(batch.num_rows, field.type) if at < 0 else batch.column(at)
        if _is_smaller(values.type, field.type):
            values = pc.cast(values, field.type, safe=True)
        if values.type != field.type:
            raise SchemaError(
                f"column '{field.name}' of {where} changed its type while the table was read: {field.type} became "
                f"{values.type} in Arrow's terms. {read_again_advice(where)}"
            )
        arrays.append(values)
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _is_smaller(own: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether every value of a type is one of the wanted type too."""
    if pa.types.is_decimal128(own) and pa.types.is_decimal128(wanted):
        digits = own.precision - own.scale
        return bool(wanted.scale >= own.scale and wanted.precision - wanted.scale >= digits)
    alike = (pa.types.is_signed_integer, pa.types.is_floating)
    return any(each(own) and each(wanted) for each in alike) and bool(own.bit_width < wanted.bit_width)
