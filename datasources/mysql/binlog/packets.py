"""Packets off a dump connection, many at a time, as blocks of events.

Theory of operation. A dump is a stream of packets: length (3 bytes), sequence number, then a status byte and one event.
Python's cost per packet is what limits small transactions, so packets are not read one by one: the socket fills a large
buffer with what there is, one pass notes where events begin, and everything else is done by numpy over the block. A
packet of 16 MB - 1 bytes is continued by the next one; such an event is put together in a buffer of its own. A block is
valid until the next one is asked for.
"""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from pymysql.connections import Connection
from pymysql.err import MySQLError, raise_mysql_exception

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog.blocks import EventBlock
from datasources.mysql.binlog.errors import explain_dump
from datasources.mysql.types.cells import PADDING, Bytes, Int64s

__all__ = ["PacketReader"]

_HEADER: Final = struct.Struct("<I")
_HEADER_BYTES: Final = 4
_LENGTH_MASK: Final = 0xFFFFFF
_OK: Final = 0
_ERROR: Final = 0xFF
_BLOCK_BYTES: Final = 4 << 20


class PacketReader:
    """Blocks of events from a connection on which a dump was asked for.

    Args:
        connection: PyMySQL's, which from now on serves for nothing else.
        block_bytes: the size of the buffer; larger events get one of their own.
    """

    def __init__(self, connection: Connection[Any], *, block_bytes: int = _BLOCK_BYTES) -> None:
        self._connection = connection
        self._socket: socket.socket = connection._sock  # noqa: SLF001 - no public name
        # PyMySQL sets its timeout with each of its own reads only.
        self._socket.settimeout(connection._read_timeout)  # noqa: SLF001 - as above
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self._data: Bytes = np.empty(block_bytes + PADDING, np.uint8)
        self._begin = 0
        self._end = 0
        self.bytes_received = 0

    def close(self) -> None:
        """Close the connection at once; the server notices with its next event or heartbeat."""
        self._connection._force_close()  # noqa: SLF001 - close() would send a command

    def blocks(self) -> Iterator[EventBlock]:
        """Yield blocks until the server ends the dump (NON_BLOCK) or closes the connection.

        Raises:
            SourceUnavailable: the connection broke, nothing came within its read timeout, or the server reported an
                error.
            DataLossError: the server no longer has the file.
        """
        while True:
            starts, ends = self._whole_packets()
            if not len(starts):
                self._receive()
                continue
            block, ending = self._block(starts, ends)
            if len(block):
                yield block
            if ending is not None:
                if ending[0] == _ERROR:
                    raise _server_error(ending)
                return

    def _whole_packets(self) -> tuple[Int64s, Int64s]:
        """Note where the events of complete packets begin and end."""
        unpack, view = _HEADER.unpack_from, self._data.data
        at, end = self._begin, self._end
        last = end - _HEADER_BYTES
        packets = [at]
        while at <= last:
            length = unpack(view, at)[0] & _LENGTH_MASK
            at += _HEADER_BYTES + length
            if at > end or length == _LENGTH_MASK:
                break
            packets.append(at)
        if len(packets) == 1 and at <= end and at != self._begin:
            return self._joined(self._begin)
        edges = np.array(packets, np.int64)
        self._begin = packets[-1]
        return edges[:-1] + _HEADER_BYTES, edges[1:]

    def _joined(self, at: int) -> tuple[Int64s, Int64s]:
        """Put one event together whose packets are as long as packets can be; more is received as needed."""
        begin = at + _HEADER_BYTES
        at = begin + _LENGTH_MASK
        while True:
            while self._end < at + _HEADER_BYTES:
                at, begin = self._make_room(at, begin)
                self._receive()
            length = _HEADER.unpack_from(self._data.data, at)[0] & _LENGTH_MASK
            while self._end < at + _HEADER_BYTES + length:
                at, begin = self._make_room(at, begin)
                self._receive()
            # Close the gap that the header leaves.
            self._data[at : self._end - _HEADER_BYTES] = self._data[at + _HEADER_BYTES : self._end].copy()
            self._end -= _HEADER_BYTES
            at += length
            if length < _LENGTH_MASK:
                self._begin = at
                return np.array([begin]), np.array([at])

    def _make_room(self, at: int, begin: int) -> tuple[int, int]:
        self._begin = begin - _HEADER_BYTES
        moved = self._begin
        self._compact()
        return at - moved, begin - moved

    def _compact(self) -> None:
        """Move what is unread to the front; double the buffer where that is not enough room."""
        unread = self._end - self._begin
        capacity = len(self._data) - PADDING
        target = np.empty(2 * capacity + PADDING, np.uint8) if unread > capacity // 2 else self._data
        target[:unread] = self._data[self._begin : self._end].copy()
        self._data, self._begin, self._end = target, 0, unread

    def _receive(self) -> None:
        """Wait for bytes, then take all that are there, as far as there is room."""
        if self._begin or self._end == len(self._data) - PADDING:
            self._compact()
        room = self._data.data[: len(self._data) - PADDING]
        try:
            count = self._socket.recv_into(room[self._end :])
            self._arrived(count)
            # A connection that is closed behind what has come is noticed when more is wanted.
            while count and self._end < len(room) and self._is_readable():
                count = self._socket.recv_into(room[self._end :])
                self._end += count
        except TimeoutError as error:
            raise SourceUnavailable(
                "the MySQL server sent nothing, not even a heartbeat, within the connection's read timeout: the "
                "network or the server hangs. The query can be restarted; it goes on where it stopped."
            ) from error
        except OSError as error:
            raise SourceUnavailable(f"the connection on which the binlog is read broke: {error}.") from error

    def _arrived(self, count: int) -> None:
        if count == 0:
            raise SourceUnavailable(
                "the MySQL server closed the connection on which the binlog is read (it was shut down, or the "
                "connection was killed). The query can be restarted; it goes on where it stopped."
            )
        self._end += count
        self.bytes_received += count

    def _is_readable(self) -> bool:
        pending = getattr(self._socket, "pending", None)
        return bool(pending and pending()) or bool(self._readable.poll(0))

    def _block(self, at: Int64s, end: Int64s) -> tuple[EventBlock, bytes | None]:
        others = np.flatnonzero(self._data[at] != _OK)
        ending = None
        if len(others):
            first = int(others[0])
            ending = self._data[at[first] : end[first]].tobytes()
            at, end = at[:first], end[:first]
        return EventBlock(data=self._data, starts=at + 1, ends=end), ending


def _server_error(packet: bytes) -> Exception:
    try:
        raise_mysql_exception(packet)
    except MySQLError as error:
        return explain_dump(error)
    return SourceUnavailable("the server ended the dump with an error that says nothing.")  # pragma: no cover
