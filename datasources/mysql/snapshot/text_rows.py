"""Rows of a SELECT straight into Arrow: the result's packets off the socket, a column at a time.

Theory of operation. A row of the text protocol is one packet: per column a length and so many bytes of text, or one
byte for NULL. Packets come in bulk (packet_stream.py), and numpy walks all rows of a block at once, column after
column: read the lengths, note where the values are, go on behind them. What was noted becomes Arrow values
(types/snapshot.py). So the cost per row is that of a few array operations, and every type is exact, on the same
connection, session and snapshot that the rest of the reader has.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pymysql.constants import COMMAND
from pymysql.err import raise_mysql_exception

from datasources.errors import RecordError
from datasources.mysql.packet_stream import PacketStream
from datasources.mysql.types import ColumnType, ZeroDates, snapshot_column
from datasources.mysql.types.cells import Bytes, Cells, Int64s, read_little

__all__ = ["ResultColumn", "read_rows"]

_NULL: Final = 0xFB
_ERROR: Final = 0xFF
_EOF: Final = 0xFE
_EOF_BYTES: Final = 9
_LENGTH_BYTES: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_PATIENCE_MS: Final = 5


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result.

    Attributes:
        name: What it is called in the batches.
        type: What was selected, by its `select_expression`.
        label: What it is called in errors: ``db.table.column``.
    """

    name: str
    type: ColumnType
    label: str


def read_rows(
    connection: Any, statement: str, columns: Sequence[ResultColumn], *, zero_dates: ZeroDates = ZeroDates.FAIL
) -> Generator[pa.RecordBatch]:
    """Run a SELECT; yield its rows, one to several MB at a time.

    A generator that is closed before its end closes the connection too.

    Args:
        connection: PyMySQL's, open, in utf8mb4.
        statement: The SELECT.
        columns: What it selects.
        zero_dates: What becomes of dates that no calendar has.

    Raises:
        pymysql.MySQLError: The server refused the statement, or ended it.
        SourceUnavailable: The connection broke.
        RecordError: A value is no value of its type; names the column.
    """
    connection._execute_command(COMMAND.COM_QUERY, statement)  # noqa: SLF001 - no public name
    stream = PacketStream(connection, doing="a table", patience_ms=_PATIENCE_MS)
    is_whole, to_skip = False, -1
    try:
        while not is_whole:
            starts, ends = stream.next_packets()
            if to_skip < 0:
                to_skip = _head(stream.data, starts, ends)
            skipped = min(to_skip, len(starts))
            to_skip -= skipped
            starts, ends, ending = _rows(stream.data, starts[skipped:], ends[skipped:])
            if len(starts):
                yield _batch(stream.data, starts, ends, columns, zero_dates)
            if ending is not None:
                is_whole = True
                if ending[0] == _ERROR:
                    raise_mysql_exception(ending)
    finally:
        if not is_whole:
            stream.close()


def _head(data: Bytes, starts: Int64s, ends: Int64s) -> int:
    """Return how many packets stand before the first row: the count, each column, and a mark."""
    first = data[starts[0] : ends[0]].tobytes()
    if first[0] == _ERROR:
        return 0
    width = _LENGTH_BYTES.get(first[0])
    count = first[0] if width is None else int.from_bytes(first[1 : 1 + width], "little")
    return count + 2


def _rows(data: Bytes, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s, bytes | None]:
    """Return the rows among packets, and the one that ends the result if it is there."""
    first = data[starts]
    is_end = (first == _ERROR) | ((first == _EOF) & (ends - starts < _EOF_BYTES))
    found = np.flatnonzero(is_end)
    if not len(found):
        return starts, ends, None
    at = int(found[0])
    return starts[:at], ends[:at], data[starts[at] : ends[at]].tobytes()


def _batch(
    data: Bytes, starts: Int64s, ends: Int64s, columns: Sequence[ResultColumn], zero_dates: ZeroDates
) -> pa.RecordBatch:
    arrays, at = [], starts
    for column in columns:
        cells, at = _cells(data, at, column.label)
        arrays.append(snapshot_column(column.type, cells, zero_dates=zero_dates))
    if bool((at != ends).any()):
        raise RecordError(f"the server returned other columns than {', '.join(each.label for each in columns)}.")
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def _cells(data: Bytes, at: Int64s, label: str) -> tuple[Cells, Int64s]:
    """Return one column's values, and where the next column's begin."""
    first = data[at]
    lengths = first.astype(np.int64)
    at = at + 1
    if int(first.max()) < _NULL:
        return Cells(data=data, at=at, lengths=lengths, is_null=None, name=label), at + lengths
    is_null = first == _NULL
    lengths[is_null] = 0
    for mark, width in _LENGTH_BYTES.items():
        which = np.flatnonzero(first == mark)
        if len(which):
            lengths[which] = read_little(data, at[which], width).view(np.int64)
            at[which] += width
    cells = Cells(data=data, at=at, lengths=lengths, is_null=is_null if is_null.any() else None, name=label)
    return cells, at + lengths
