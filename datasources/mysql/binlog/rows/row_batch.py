"""Row changes of one table as Arrow columns, with the place in the binlog that each has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.formats.api.decoder import ROW_KINDS, RowKind
from datasources.mysql.binlog.rows.row_layout import ColumnPlaces
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.types.cells import Bytes, Cells, Int64s
from datasources.mysql.types.column import ZeroDates

__all__ = ["RowBatch", "RowKind", "TransactionIds", "decode_columns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionIds:
    """The transactions of the images of one batch.

    Per image ``source`` is the index in ``sources``, the names before the number: a server's UUID, with its tag if it
    has one, or MariaDB's domain and server; None for transactions without a GTID. Before the number stands ``:``,
    MariaDB ``-``.
    """

    sources: tuple[str | None, ...]
    separator: str
    source: npt.NDArray[np.int32]
    number: Int64s

    def texts(self) -> pa.Array:
        """Return the GTIDs as the server prints them; null for transactions without one."""
        names = pa.array(self.sources, pa.string()).take(pa.array(self.source))
        return pc.binary_join_element_wise(names, pa.array(self.number).cast(pa.string()), self.separator)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Images of rows of one table, in commit order.

    Shapes: one entry per image in all of them. An insert or delete is one image, an update two: before, then after.

    Attributes:
        table: the table as of these events.
        images: its columns' values; the columns that were asked for, in the table's order.
        row_kind: `RowKind` numbers.
        file: the binlog file.
        pos: where the event begins that holds the image; for a compressed transaction, where that begins.
        begin: where its transaction begins: the position of its GTID event, the same for all images of a transaction.
        row: the number of the row change in its event (in its compressed transaction: among the captured ones), from 0;
            both images of an update have the same.
        op_ts_us: commit time, µs since the epoch (MariaDB and servers before 8.0: whole seconds of the statement).
        source_ts_us: time of the statement, µs since the epoch, whole seconds.
        transactions: the images' GTIDs.
    """

    table: TableMap
    images: pa.RecordBatch
    row_kind: npt.NDArray[np.int8]
    file: str
    pos: Int64s
    begin: Int64s
    row: npt.NDArray[np.int32]
    op_ts_us: Int64s
    source_ts_us: Int64s
    transactions: TransactionIds

    def __len__(self) -> int:
        return len(self.row_kind)

    @property
    def changes(self) -> int:
        """How many rows were changed: an update counts once."""
        return len(self) - int((self.row_kind == RowKind.UPDATE_BEFORE).sum())

    def row_kinds(self) -> pa.Array:
        """Return the row kinds as texts: +I, -U, +U, -D."""
        return pa.array(ROW_KINDS).take(pa.array(self.row_kind))


def decode_columns(
    table: TableMap, data: Bytes, places: list[ColumnPlaces], *, wanted: frozenset[str] | None, zero_dates: ZeroDates
) -> pa.RecordBatch:
    """Return the columns of images.

    The images lie in ``data``; only the columns named in ``wanted`` are decoded, None = all.

    Raises:
        RecordError: a value cannot be decoded; the message names the column.
    """
    arrays, names = [], []
    for name, column, place in zip(table.names, table.columns, places, strict=True):
        if wanted is None or name in wanted:
            cells = Cells(data=data, at=place.at, lengths=place.lengths, is_null=place.is_null, name=f"{table}.{name}")
            arrays.append(column.decode(cells, column.type, zero_dates))
            names.append(name)
    return pa.RecordBatch.from_arrays(arrays, names=names)
