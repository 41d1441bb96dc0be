"""The events of a dump, in blocks: each network packet is a status byte and one event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from pymysql.connections import Connection
from pymysql.err import MySQLError, raise_mysql_exception

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog.dump.dump_errors import explain_dump
from datasources.mysql.binlog.events.blocks import EventBlock
from datasources.mysql.connection.packet_stream import PacketStream
from datasources.mysql.types.decoders.cells import Int64s

_OK: Final = 0
_ERROR: Final = 0xFF


class DumpStream:
    """Blocks of events from a connection on which a dump was requested.

    Args:
        connection: PyMySQL's, not used for anything else from now on.
    """

    def __init__(self, connection: Connection[Any]) -> None:
        self._stream = PacketStream(connection, doing="the binlog", timeout_text="sent nothing, not even a heartbeat,")

    def close(self) -> None:
        """Close the connection at once; the server notices with its next event or heartbeat."""
        self._stream.close()

    def blocks(self) -> Iterator[EventBlock]:
        """Yield blocks until the server ends the dump (NON_BLOCK) or closes the connection.

        A block is valid until the next one is requested.

        Raises:
            SourceUnavailable: the connection broke, nothing came within its read timeout, or the server reported an
                error.
            DataLossError: the server no longer has the file.
        """
        while True:
            block, ending = self._block(*self._stream.next_packets())
            if len(block):
                yield block
            if ending is not None:
                if ending[0] == _ERROR:
                    raise _server_error(ending)
                return

    def _block(self, at: Int64s, end: Int64s) -> tuple[EventBlock, bytes | None]:
        data = self._stream.data
        others = np.flatnonzero(data[at] != _OK)
        ending = None
        if len(others):
            first = int(others[0])
            ending = data[at[first] : end[first]].tobytes()
            at, end = at[:first], end[:first]
        return EventBlock(data=data, starts=at + 1, ends=end), ending


def _server_error(packet: bytes) -> Exception:
    try:
        raise_mysql_exception(packet)
    except MySQLError as error:
        return explain_dump(error)
    return SourceUnavailable("the server ended the dump with an empty error.")  # pragma: no cover
