"""Rows of a SELECT straight into Arrow: the result's packets off the socket, a column at a time.

Theory of operation. The statement is prepared, because the results of prepared statements have binary numbers and
times, which are neither formatted nor parsed. A row is one packet: a bit per column for NULL, then the values, each of
its type's width or preceded by its length. Packets arrive in bulk (packet_stream.py), and numpy processes all rows of a
block together, column after column: it records where the values are and advances behind them. The recorded values
become Arrow values (types/result.py). The C library, if available, does both in one pass (native_rows.py). So the cost
per row is a few array operations, and every type is exact, on the connection, session and snapshot of the reader.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pymysql.constants import COMMAND
from pymysql.err import raise_mysql_exception

from datasources.errors import RecordError
from datasources.mysql.connection.packet_stream import PacketStream
from datasources.mysql.snapshot.native_rows import native_columns
from datasources.mysql.types import ColumnType, ZeroDates, result_column
from datasources.mysql.types.decoders.cells import Bytes, Cells, Int64s, Mask, read_little
from datasources.mysql.types.decoders.result_binary import TIMES, width_of
from datasources.native import native

_ERROR: Final = 0xFF
_EOF: Final = 0xFE
_EOF_BYTES: Final = 9
_SHORT_LENGTH: Final = 0xFB
_LENGTH_BYTES: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_FILL_WAIT_MS: Final = 5
_PREPARED: Final = struct.Struct("<BIHH")
_NO_CURSOR: Final = struct.pack("<BI", 0, 1)
_TYPE_AT: Final = -6
_FIRST_NULL_BIT: Final = 2


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result.

    Attributes:
        name: Its name in the batches.
        type: The type that was selected, by its `result_expression`.
        label: Its name in errors: ``db.table.column``.
    """

    name: str
    type: ColumnType
    label: str


def read_rows(
    connection: Any, statement: str, columns: Sequence[ResultColumn], *, zero_dates: ZeroDates = ZeroDates.FAIL
) -> Generator[pa.RecordBatch]:
    """Run a SELECT; yield its rows, one to several MB at a time.

    A generator that is closed before its end closes the connection too.

    The connection is PyMySQL's, open, in utf8mb4.

    Raises:
        pymysql.MySQLError: The server refused the statement, or ended it.
        SourceUnavailable: The connection was lost.
        RecordError: A value is invalid for its type; names the column.
    """
    is_whole = False
    try:
        connection._execute_command(COMMAND.COM_STMT_PREPARE, statement)  # noqa: SLF001 - no public name
        number = _prepared(PacketStream(connection, doing="a table"), len(columns))
        if isinstance(number, bytes):
            is_whole = True
            raise_mysql_exception(number)
        identity = struct.pack("<I", number)
        connection._execute_command(COMMAND.COM_STMT_EXECUTE, identity + _NO_CURSOR)  # noqa: SLF001 - as above
        result = _Result(PacketStream(connection, doing="a table", linger_ms=_FILL_WAIT_MS), columns, zero_dates)
        yield from result.batches()
        connection._execute_command(COMMAND.COM_STMT_CLOSE, identity)  # noqa: SLF001 - as above
        is_whole = True
        if result.error is not None:
            raise_mysql_exception(result.error)
    finally:
        if not is_whole:
            connection._force_close()  # noqa: SLF001 - close() would wait for the rest of the result


def _prepared(stream: PacketStream, columns: int) -> int | bytes:
    """Return a statement's number at the server, or the error packet."""
    packets = _Contents(stream)
    first = packets.next()
    if first[0] == _ERROR:
        return first
    _, number, described, _ = _PREPARED.unpack_from(first)
    assert described == columns, (described, columns)
    for _ in range(described + 1):
        packets.next()
    return int(number)


class _Contents:
    """The contents of packets, one by one where there are few."""

    def __init__(self, stream: PacketStream) -> None:
        self._stream = stream
        self._starts = self._ends = np.zeros(0, np.int64)

    def next(self) -> bytes:
        """Return the next packet's content."""
        if not len(self._starts):
            self._starts, self._ends = self._stream.next_packets()
        content = self._stream.data[self._starts[0] : self._ends[0]].tobytes()
        self._starts, self._ends = self._starts[1:], self._ends[1:]
        return content

    def rest(self) -> tuple[Int64s, Int64s]:
        """Return where the contents received with the last one are; waits for more if there are none."""
        starts, ends = self._starts, self._ends
        self._starts = self._ends = np.zeros(0, np.int64)
        return (starts, ends) if len(starts) else self._stream.next_packets()


class _Result:
    """One result.

    ``error`` is the packet with which the server ended it, if that was an error.
    """

    def __init__(self, stream: PacketStream, columns: Sequence[ResultColumn], zero_dates: ZeroDates) -> None:
        self._stream, self._columns, self._zero_dates = stream, columns, zero_dates
        self._wires: list[int] = []
        self.error: bytes | None = None

    def batches(self) -> Generator[pa.RecordBatch]:
        """Yield its rows."""
        packets = _Contents(self._stream)
        first = packets.next()
        if first[0] == _ERROR:
            self.error = first
            return
        self._wires = [packets.next()[_TYPE_AT] for _ in self._columns]
        packets.next()
        while True:
            starts, ends = packets.rest()
            starts, ends, ending = _rows(self._stream.data, starts, ends)
            if len(starts):
                yield self._batch(starts, ends)
            if ending is not None:
                self.error = ending if ending[0] == _ERROR else None
                return

    def _batch(self, starts: Int64s, ends: Int64s) -> pa.RecordBatch:
        types = [column.type for column in self._columns]
        names, labels = zip(*((column.name, column.label) for column in self._columns), strict=True)
        found = self._found((starts, ends), labels)
        if found is None:
            raise RecordError(f"the server returned rows that do not have the columns {', '.join(labels)}.")
        arrays = [
            values if isinstance(values, pa.Array) else result_column(column, wire, values, zero_dates=self._zero_dates)
            for column, wire, values in zip(types, self._wires, found, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(names))

    def _found(self, rows: tuple[Int64s, Int64s], labels: Sequence[str]) -> Sequence[Cells | pa.Array] | None:
        """Return each column's values, or where they are; None if rows have other columns."""
        if (library := native()) is not None:
            types = [column.type for column in self._columns]
            found = native_columns(library, self._stream.data, rows, list(zip(types, self._wires, labels, strict=True)))
            if found is not None:
                return found
        return _numpy_cells(self._stream.data, rows, self._wires, labels)


def _numpy_cells(
    data: Bytes, rows: tuple[Int64s, Int64s], wires: Sequence[int], labels: Sequence[str]
) -> list[Cells] | None:
    starts, ends = rows
    at, found = starts + 1 + (len(wires) + _FIRST_NULL_BIT + 7) // 8, []
    for index, (wire, label) in enumerate(zip(wires, labels, strict=True)):
        byte, bit = divmod(index + _FIRST_NULL_BIT, 8)
        is_null = data[starts + 1 + byte] >> bit & 1 == 1
        cells, at = _cells(data, at, wire, is_null if is_null.any() else None, label)
        found.append(cells)
    return None if bool((at != ends).any()) else found


def _rows(data: Bytes, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s, bytes | None]:
    """Return the rows among packets, and the packet that ends the result, if any."""
    first = data[starts]
    found = np.flatnonzero((first == _ERROR) | ((first == _EOF) & (ends - starts < _EOF_BYTES)))
    if not len(found):
        return starts, ends, None
    at = int(found[0])
    return starts[:at], ends[:at], data[starts[at] : ends[at]].tobytes()


def _cells(data: Bytes, at: Int64s, wire: int, is_null: Mask | None, label: str) -> tuple[Cells, Int64s]:
    """Return one column's values, and where the next column's begin."""
    if width := width_of(wire):
        behind = at + width if is_null is None else at + np.where(is_null, 0, width)
        return Cells(data=data, at=at, lengths=None, is_null=is_null, name=label), behind
    first = data[at]
    lengths = first.astype(np.int64)
    at = at + 1
    if is_null is not None:
        lengths[is_null] = 0
        at[is_null] -= 1
    if wire not in TIMES and int(first.max()) >= _SHORT_LENGTH:
        for prefix, width in _LENGTH_BYTES.items():
            which = np.flatnonzero(first == prefix if is_null is None else (first == prefix) & ~is_null)
            if len(which):
                lengths[which] = read_little(data, at[which], width).view(np.int64)
                at[which] += width
    return Cells(data=data, at=at, lengths=lengths, is_null=is_null, name=label), at + lengths
