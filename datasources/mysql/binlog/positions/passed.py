"""The transactions that a reader read: collected as arrays, and periodically merged into intervals."""

from __future__ import annotations

from operator import itemgetter
from typing import Final

import numpy as np

from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet, Interval
from datasources.mysql.types.decoders.cells import Int64s

_FOLD_AT: Final = 1 << 16


class PassedTransactions:
    """Transactions by the index of their source and their number; index 0 = those without a GTID."""

    def __init__(self) -> None:
        self._pending: list[tuple[Int64s, Int64s]] = []
        self._waiting = 0
        self._intervals: dict[int, list[Interval]] = {}
        self._newest: dict[int, int] = {}

    def add(self, source: Int64s, number: Int64s) -> None:
        """Note transactions, in their order in the binlog."""
        self._pending.append((source, number))
        self._waiting += len(source)
        if self._waiting >= _FOLD_AT:
            self._fold()

    def gtids(self, names: list[str | None]) -> GtidSet | None:
        """Return the transactions as a GTID set; None if one has no GTID."""
        self._fold()
        if 0 in self._intervals:
            return None
        return GtidSet.of({str(names[source]): each for source, each in self._intervals.items()})

    def domain_positions(self, names: list[str | None]) -> DomainPositions:
        """Return the last one of each of MariaDB's domains.

        The names of the sources are ``domain-server``.
        """
        self._fold()
        found: dict[int, tuple[int, int]] = {}
        for source, number in self._newest.items():
            domain, server = str(names[source]).split("-")
            found[int(domain)] = int(server), number
        return DomainPositions.of(found)

    def _fold(self) -> None:
        if not self._pending:
            return
        source = np.concatenate([each for each, _ in self._pending])
        number = np.concatenate([each for _, each in self._pending])
        self._pending, self._waiting = [], 0
        different, behind = np.unique(source[::-1], return_index=True)
        for index, last in sorted(
            zip(different.tolist(), (len(source) - 1 - behind).tolist(), strict=True), key=itemgetter(1)
        ):
            own = number[source == index]
            self._intervals[index] = _joined(self._intervals.get(index, []), own)
            self._newest.pop(index, None)  # inserted again, so that the last transaction of a domain comes last
            self._newest[index] = int(number[last])


def _joined(intervals: list[Interval], numbers: Int64s) -> list[Interval]:
    ordered = np.unique(numbers)
    breaks = np.flatnonzero(np.diff(ordered) > 1)
    firsts = ordered[np.concatenate([[0], breaks + 1])].tolist()
    lasts = ordered[np.concatenate([breaks, [len(ordered) - 1]])].tolist()
    found = list(zip(firsts, lasts, strict=True))
    return [each for _, own in GtidSet.of({"": [*intervals, *found]}).sources for each in own]
