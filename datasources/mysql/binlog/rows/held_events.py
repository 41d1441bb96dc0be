"""The rows of an XA transaction that is not decided yet, as they stand in the binlog, in memory.

Most XA transactions are decided soon, many at once (in one phase), and to open a second dump for each of them would
cost a connection each. So a reader keeps the events that it passes over, if they are not too large, and they are
decoded when the transaction turns out to be committed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from datasources.mysql.binlog.events.blocks import EventBlock, padded
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.rows.transaction_log import TransactionLog

__all__ = ["HeldEvents"]

_MOST_BYTES: Final = 4 << 20


@dataclass(slots=True)
class HeldEvents:
    """Events of one transaction, behind the one that said that it is an XA transaction.

    The blocks are without checksums, each with its place in the file. Unless ``is_whole``, the server has to be asked
    again.
    """

    place: BinlogPosition
    log: TransactionLog
    is_mariadb: bool
    blocks: list[tuple[int, EventBlock]] = field(default_factory=list)
    nbytes: int = 0
    tables: set[tuple[str, str]] = field(default_factory=set)
    is_whole: bool = True

    def add(self, events: EventBlock, pos: int) -> None:
        """Keep a copy of events that follow, unless they are too large."""
        first, last = int(events.starts[0]), int(events.ends[-1])
        self.nbytes += last - first
        if self.nbytes > _MOST_BYTES:
            self.give_up()
        elif self.is_whole:
            data = padded(events.data[first:last].tobytes())
            self.blocks.append((pos, EventBlock(data=data, starts=events.starts - first, ends=events.ends - first)))

    def give_up(self) -> None:
        """Keep nothing of the transaction."""
        self.blocks, self.is_whole = [], False
