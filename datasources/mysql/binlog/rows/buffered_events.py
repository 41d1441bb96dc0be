"""The row events of an XA transaction that is not decided yet, in memory.

Most XA transactions are decided soon, many at once (in one phase), and a second dump for each of them would
cost a connection each. So a reader buffers the events that it skips, if they are not too large, and they are
decoded when the transaction is committed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from datasources.mysql.binlog.events.blocks import EventBlock, padded
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.rows.transaction_log import TransactionLog

_MAX_BYTES: Final = 4 << 20


@dataclass(slots=True)
class BufferedEvents:
    """Events of one transaction, behind the one that marks it as an XA transaction.

    Attributes:
        position: of the first of them.
        log: the GTID of the transaction.
        is_mariadb: whether MariaDB wrote them.
        blocks: the events, without checksums, and the position of each block in the file.
        nbytes: bytes of memory that they take.
        tables: database and name of the tables that it changes.
        is_whole: whether these are all of them; else they must be read again from the server.
    """

    position: BinlogPosition
    log: TransactionLog
    is_mariadb: bool
    blocks: list[tuple[int, EventBlock]] = field(default_factory=list)
    nbytes: int = 0
    tables: set[tuple[str, str]] = field(default_factory=set)
    is_whole: bool = True

    def add(self, events: EventBlock, pos: int) -> None:
        """Append a copy of events, unless they are too large."""
        first, last = int(events.starts[0]), int(events.ends[-1])
        self.nbytes += last - first
        if self.nbytes > _MAX_BYTES:
            self.give_up()
        elif self.is_whole:
            data = padded(events.data[first:last].tobytes())
            self.blocks.append((pos, EventBlock(data=data, starts=events.starts - first, ends=events.ends - first)))

    def give_up(self) -> None:
        """Discard the events."""
        self.blocks, self.is_whole = [], False
