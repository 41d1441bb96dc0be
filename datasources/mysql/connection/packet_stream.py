"""Reads packets from a connection's socket, many at a time.

Theory of operation. A server sends a stream of packets: length (3 bytes), sequence number, content. Python's
cost per packet dominates for short ones, so they are not read one by one: the socket fills a large buffer with what
is available, one pass locates the contents, and everything else is done by numpy over the buffer. A packet of 16 MB -
1 bytes is continued by the next one; such a content is joined in a buffer of its own. Returned packets are valid
until the next ones are requested.
"""

from __future__ import annotations

import select
import socket
import struct
from typing import Any, Final

import numpy as np
from pymysql.connections import Connection

from datasources.mysql.connection.connection_errors import ConnectionLost
from datasources.mysql.connection.packet_walk import HEADER_BYTES, LENGTH_MASK, find_packets
from datasources.mysql.types.decoders.cells import PADDING, Bytes, Int64s
from datasources.native import native

_HEADER: Final = struct.Struct("<I")
_BLOCK_BYTES: Final = 4 << 20
_ENOUGH_BYTES: Final = 1 << 20
_EOF_LENGTH: Final = b"\x05\0\0"
_EOF_MARK: Final = b"\xfe"
_EOF_BYTES: Final = 9


class PacketStream:
    """The packets from a connection.

    Args:
        connection: PyMySQL's, not read otherwise meanwhile.
        doing: the content, for errors: "the binlog".
        timeout_text: describes a timeout in errors: "sent nothing, not even a heartbeat,".
        linger_ms: how long to wait for more if little has arrived: many short blocks cost more than a few long ones;
            not behind an apparent end of a result.
        block_bytes: the size of the buffer; it grows for larger contents.

    Attributes:
        data: the buffer.
    """

    def __init__(
        self,
        connection: Connection[Any],
        *,
        doing: str,
        timeout_text: str = "sent nothing",
        linger_ms: int = 0,
        block_bytes: int = _BLOCK_BYTES,
    ) -> None:
        self._connection = connection
        self._doing, self._timeout_text = doing, timeout_text
        self._linger_ms = linger_ms
        self._socket: socket.socket = connection._sock  # noqa: SLF001 - no public name
        # PyMySQL sets its timeout with each of its own reads only.
        self._socket.settimeout(connection._read_timeout)  # noqa: SLF001 - as above
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self.data: Bytes = np.empty(block_bytes + PADDING, np.uint8)
        self._begin = 0
        self._end = 0

    def close(self) -> None:
        """Close the connection at once; the server notices when it sends the next time."""
        self._connection._force_close()  # noqa: SLF001 - close() would send a command

    def next_packets(self) -> tuple[Int64s, Int64s]:
        """Wait for packets; return where the contents of one or more begin and end in `data`.

        Raises:
            SourceUnavailable: the connection broke, or nothing arrived within its read timeout.
        """
        while True:
            starts, ends = self._whole_packets()
            if len(starts):
                return starts, ends
            self._receive()

    def _whole_packets(self) -> tuple[Int64s, Int64s]:
        """Return where the contents of complete packets begin and end."""
        if (library := native()) is not None:
            edges = library.packets(self.data, self._begin, self._end)
            if len(edges) > 1:
                self._begin = int(edges[-1])
                return edges[:-1] + HEADER_BYTES, edges[1:]
        return self._walked()

    def _walked(self) -> tuple[Int64s, Int64s]:
        """Do the same in Python; joins contents of more than one packet."""
        unpack, view = _HEADER.unpack_from, self.data.data
        end = self._end
        last = end - HEADER_BYTES
        known = find_packets(self.data, self._begin, end)
        at = self._begin if known is None else int(known[-1])
        packets = [at]
        while at <= last:
            length = unpack(view, at)[0] & LENGTH_MASK
            at += HEADER_BYTES + length
            if at > end or length == LENGTH_MASK:
                break
            packets.append(at)
        if known is None and len(packets) == 1 and at <= end and at != self._begin:
            return self._joined(self._begin)
        edges = np.array(packets, np.int64)
        if known is not None:
            edges = np.concatenate([known[:-1], edges])
        self._begin = packets[-1]
        return edges[:-1] + HEADER_BYTES, edges[1:]

    def _joined(self, at: int) -> tuple[Int64s, Int64s]:
        """Join a content of several packets; receives more as needed."""
        begin = at + HEADER_BYTES
        at = begin + LENGTH_MASK
        while True:
            while self._end < at + HEADER_BYTES:
                at, begin = self._make_room(at, begin)
                self._receive()
            length = _HEADER.unpack_from(self.data.data, at)[0] & LENGTH_MASK
            while self._end < at + HEADER_BYTES + length:
                at, begin = self._make_room(at, begin)
                self._receive()
            # Close the gap that the header leaves.
            self.data[at : self._end - HEADER_BYTES] = self.data[at + HEADER_BYTES : self._end].copy()
            self._end -= HEADER_BYTES
            at += length
            if length < LENGTH_MASK:
                self._begin = at
                return np.array([begin]), np.array([at])

    def _make_room(self, at: int, begin: int) -> tuple[int, int]:
        self._begin = begin - HEADER_BYTES
        moved = self._begin
        self._compact()
        return at - moved, begin - moved

    def _compact(self) -> None:
        """Move unread bytes to the front; double the buffer if that is not enough room."""
        unread = self._end - self._begin
        capacity = len(self.data) - PADDING
        target = np.empty(2 * capacity + PADDING, np.uint8) if unread > capacity // 2 else self.data
        target[:unread] = self.data[self._begin : self._end].copy()
        self.data, self._begin, self._end = target, 0, unread

    def _receive(self) -> None:
        """Wait for bytes, then receive all that are available, as far as there is room."""
        if self._begin or self._end == len(self.data) - PADDING:
            self._compact()
        room = self.data.data[: len(self.data) - PADDING]
        try:
            count = self._socket.recv_into(room[self._end :])
            self._arrived(count)
            # If the connection was closed after these bytes, the next call detects it.
            while count and self._end < len(room) and self._is_readable():
                count = self._socket.recv_into(room[self._end :])
                self._end += count
        except TimeoutError as error:
            raise ConnectionLost(
                f"the MySQL server {self._timeout_text} for {self._socket.gettimeout():g} s while {self._doing} was "
                f"read: the network or the server hangs ('read.timeout' is how long that may last). The query can be "
                f"restarted; it goes on where it stopped."
            ) from error
        except OSError as error:
            raise ConnectionLost(f"the connection on which {self._doing} is read broke: {error}.") from error

    def _arrived(self, count: int) -> None:
        if count == 0:
            raise ConnectionLost(
                f"the MySQL server closed the connection on which {self._doing} is read (it was shut down, or the "
                f"connection was killed). The query can be restarted; it goes on where it stopped."
            )
        self._end += count

    def _is_readable(self) -> bool:
        pending = getattr(self._socket, "pending", None)
        if pending and pending():
            return True
        is_enough = self._end - self._begin >= _ENOUGH_BYTES or self._ends_like_a_result()
        return bool(self._readable.poll(0 if is_enough else self._linger_ms))

    def _ends_like_a_result(self) -> bool:
        tail = self.data[max(0, self._end - _EOF_BYTES) : self._end].tobytes()
        return tail[:3] == _EOF_LENGTH and tail[HEADER_BYTES:][:1] == _EOF_MARK
