"""Vectorized lookup in a GTID set, as sorted edges of its intervals."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from datasources.mysql.binlog.positions.gtid_set import GtidSet
from datasources.mysql.types.decoders.cells import Int64s

_NOTHING: Final = np.empty(0, np.int64)


class KnownTransactions:
    """A set of MySQL's transactions."""

    def __init__(self, gtids: GtidSet) -> None:
        # First numbers and last ones + 1, in turn: a number is in the set if an odd count of edges is at or before it.
        self._edges = {
            source: np.array([edge for first, last in intervals for edge in (first, last + 1)], np.int64)
            for source, intervals in gtids.sources
        }

    def lacks(self, names: list[str | None], source: Int64s, number: Int64s) -> NDArray[np.bool_]:
        """Return which transactions are not in the set; those without a GTID count as in it.

        ``source`` is the index of each transaction's source in ``names``; a name is None without a GTID.
        """
        is_outside = np.zeros(len(source), np.bool_)
        for index in np.unique(source).tolist():
            name = names[index]
            if name is not None:
                own = source == index
                edges = self._edges.get(name, _NOTHING)
                is_outside[own] = np.searchsorted(edges, number[own], side="right") % 2 == 0
        return is_outside
