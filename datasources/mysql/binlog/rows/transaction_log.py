"""The transaction of each event: the GTID events of a run, decoded in bulk, and the transactions that were read."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.events.event_types import EventType
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.positions.known_transactions import KnownTransactions
from datasources.mysql.binlog.positions.passed import PassedTransactions
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.rows.row_batch import TransactionIds
from datasources.mysql.types.decoders.cells import Int64s, read_little

_SOURCE_AT: Final = HEADER_BYTES + 1
_NUMBER_AT: Final = _SOURCE_AT + 16
_TIME_AT: Final = _NUMBER_AT + 8 + 1 + 16
_TIME_BYTES: Final = 7
_TIME_MASK: Final = (1 << 55) - 1


@dataclass(frozen=True, slots=True)
class Transactions:
    """The transactions of a run of events; the first is the one that was open before it.

    Attributes:
        source: index of the source's name in the log's list.
        number: the number.
        commit_us: commit time, µs since the epoch; 0 = use the statement's time.
        begin: position of the GTID event.
    """

    source: Int64s
    number: Int64s
    commit_us: Int64s
    begin: Int64s

    def first(self, count: int) -> Transactions:
        """Return the first ones."""
        return Transactions(self.source[:count], self.number[:count], self.commit_us[:count], self.begin[:count])


class TransactionLog:
    """The names of sources so far, the open transaction, and those before it.

    Attributes:
        begin: begin of the transaction that is open, or was last; at first where reading began.
        first_gtid: the GTID of the first transaction; None before it, or if it has none.
    """

    def __init__(self, start: BinlogPosition) -> None:
        self._names: list[str | None] = [None]
        self._index: dict[bytes, int] = {}
        self._open = (0, 0, 0)
        self._has_open = False
        self._separator = ":"
        self._passed = PassedTransactions()
        self.begin = start
        self.first_gtid: str | None = None

    @property
    def gtid(self) -> str | None:
        """The GTID of the transaction that began last; None if it has none."""
        return self._text(self._open[0], self._open[1])

    @property
    def commit_us(self) -> int:
        """When the transaction that began last was committed; 0 if its GTID event does not state it."""
        return self._open[2]

    def open_only(self) -> TransactionLog:
        """Return a log of the open transaction, without those before it."""
        own = TransactionLog(self.begin)
        own._names, own._index, own._separator = list(self._names), dict(self._index), self._separator
        own._open, own._has_open = self._open, True
        return own

    def tagged_transaction(self, name: str, number: int, commit_us: int, begin: BinlogPosition) -> Transactions:
        """Return the open transaction and the one that a GTID_TAGGED event begins, without recording it."""
        values = (self._named(name.encode(), name), number, commit_us, begin.pos)
        rows = np.array([[*self._open, self.begin.pos], values], np.int64)
        return Transactions(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3])

    def transactions_in(self, block: EventBlock, gtids: Int64s, begins: Int64s) -> Transactions:
        """Return the open transaction and those that begin in a run, without recording them.

        ``gtids`` are the indices of its GTID, ANONYMOUS_GTID and MariaDB GTID events.
        """
        rows = np.empty((len(gtids) + 1, 3), np.int64)
        rows[0] = self._open
        if len(gtids):
            is_mariadb = block.types[gtids[0]] == EventType.MARIADB_GTID
            rows[1:] = self._mariadb(block, gtids) if is_mariadb else self._mysql(block, gtids)
        own_begins = np.concatenate([[self.begin.pos], begins[gtids]])
        return Transactions(rows[:, 0], rows[:, 1], rows[:, 2], own_begins)

    def record(self, transactions: Transactions, file: str) -> None:
        """Record the transactions of a run: the last one is open now, those before it were read.

        Args:
            transactions: from `transactions_in`.
            file: their file.
        """
        last = len(transactions.source) - 1
        if last == 0:
            return
        if not self._has_open:
            self.first_gtid = self._text(int(transactions.source[1]), int(transactions.number[1]))
        first = 0 if self._has_open else 1
        if last > first:
            self._passed.add(transactions.source[first:last].copy(), transactions.number[first:last].copy())
        self._open = (int(transactions.source[-1]), int(transactions.number[-1]), int(transactions.commit_us[-1]))
        self._has_open, self.begin = True, BinlogPosition(file, int(transactions.begin[-1]))

    def is_open(self, boundary: BinlogPosition) -> bool:
        """Return whether the last transaction continues behind the last transaction boundary."""
        return self._has_open and boundary <= self.begin

    def passed(self, boundary: BinlogPosition) -> GtidSet | DomainPositions | None:
        """Return the transactions between the start and a position; None if one of them has no GTID.

        Args:
            boundary: the last transaction boundary: whether the open one is before it.
        """
        if self._has_open and not self.is_open(boundary):
            source, number = np.array([self._open[:2]], np.int64).T
            self._passed.add(source, number)  # recorded again when the next one begins, which does not change a set
        if self._separator == "-":
            return self._passed.domain_positions(self._names)
        return self._passed.gtids(self._names)

    def lacking(self, transactions: Transactions, known: KnownTransactions) -> NDArray[np.bool_]:
        """Return which transactions are not in a set."""
        return known.lacks(self._names, transactions.source, transactions.number)

    def ids(self, transactions: Transactions, of_image: Int64s) -> TransactionIds:
        """Return the GTIDs of images, from their indices in the transactions."""
        return TransactionIds(
            sources=tuple(self._names),
            separator=self._separator,
            source=per_image(transactions.source, of_image).astype(np.int32),
            number=per_image(transactions.number, of_image),
        )

    def _mysql(self, block: EventBlock, gtids: Int64s) -> Int64s:
        begins = block.starts[gtids]
        raw = block.data[begins[:, None] + np.arange(_SOURCE_AT, _NUMBER_AT)]
        if bool((raw == raw[0]).all()):  # usually one server wrote them all
            different, which = raw[:1], np.zeros(len(raw), np.int64)
        else:
            different, which = np.unique(raw, axis=0, return_inverse=True)
        indices = np.array([self._named(each.tobytes(), str(uuid.UUID(bytes=each.tobytes()))) for each in different])
        source = indices[which.reshape(-1)]
        source[block.types[gtids] == EventType.ANONYMOUS_GTID] = 0
        has_time = block.ends[gtids] - begins >= _TIME_AT + _TIME_BYTES
        at = np.where(has_time, begins + _TIME_AT, begins)
        commit_us = np.where(has_time, read_little(block.data, at, _TIME_BYTES).view(np.int64) & _TIME_MASK, 0)
        return np.stack([source, read_little(block.data, begins + _NUMBER_AT, 8).view(np.int64), commit_us], axis=1)

    def _mariadb(self, block: EventBlock, gtids: Int64s) -> Int64s:
        self._separator = "-"
        begins = block.starts[gtids]
        number = read_little(block.data, begins + HEADER_BYTES, 8).view(np.int64)
        domain = read_little(block.data, begins + HEADER_BYTES + 8, 4)
        server = read_little(block.data, begins + 5, 4)
        keys = domain << np.uint64(32) | server
        different, which = np.unique(keys, return_inverse=True)
        names = [f"{key >> 32}-{key & 0xFFFFFFFF}" for key in different.tolist()]
        indices = np.array([self._named(name.encode(), name) for name in names])
        return np.stack([indices[which], number, np.zeros(len(gtids), np.int64)], axis=1)

    def _text(self, source: int, number: int) -> str | None:
        name = self._names[source]
        return None if name is None else f"{name}{self._separator}{number}"

    def _named(self, key: bytes, name: str) -> int:
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self._names)
            self._names.append(name)
        return index


def per_image(values: Int64s, of_image: Int64s) -> Int64s:
    """Return a value of transactions for each image, by its transaction's index; indices never decrease."""
    if len(of_image) and of_image[0] == of_image[-1]:  # large transactions
        return np.full(len(of_image), values[of_image[0]])
    return values[of_image]
