"""Row changes of one table as Arrow columns, with each one's position in the binlog."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.formats.api.decoder import ROW_KINDS, RowKind
from datasources.mysql.binlog.rows.row_layout import ColumnSpans
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.types.column import ZeroDates
from datasources.mysql.types.decoders.cells import Bytes, Cells, Int64s

__all__ = ["BinlogRows", "RowKind", "TransactionIds", "decode_columns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionIds:
    """The transactions of the images of one batch.

    Attributes:
        sources: names before the number: a server's UUID, with its tag if it has one; MariaDB: domain and server;
            None for transactions without a GTID.
        separator: between source and number: ``:``, MariaDB ``-``.
        source: per image, the index in `sources`.
        number: per image, the transaction's number.
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
class BinlogRows:
    """Row images of one table, in commit order.

    Shapes: one entry per image in all of them. An insert or delete is one image, an update two: before, then after.

    Attributes:
        table: the table as of these events.
        images: the values of the requested columns, in the table's order.
        row_kind: `RowKind` numbers.
        file: the binlog file.
        pos: begin of the image's event; for a compressed transaction, begin of its payload event.
        begin: begin of its transaction: the position of the GTID event, the same for all images of a transaction.
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
    table: TableMap, data: Bytes, spans: list[ColumnSpans], *, wanted: frozenset[str] | None, zero_dates: ZeroDates
) -> pa.RecordBatch:
    """Return the columns of images.

    Args:
        table: the table.
        data: the buffer with the images.
        spans: per column the spans of its values.
        wanted: names of columns to decode; None = all.
        zero_dates: how invalid dates are read.

    Raises:
        RecordError: a value cannot be decoded; the message names the column.
    """
    arrays, names = [], []
    for name, column, span in zip(table.names, table.columns, spans, strict=True):
        if wanted is None or name in wanted:
            cells = Cells(data=data, at=span.at, lengths=span.lengths, is_null=span.is_null, name=f"{table}.{name}")
            arrays.append(column.decode(cells, column.type, zero_dates))
            names.append(name)
    return pa.RecordBatch.from_arrays(arrays, names=names)
