"""What a worker process has read or written of states lately, so that the next micro-batch need not read it again.

Spark's worker asks the JVM for each value of a state, which copies and converts its bytes: half a millisecond for 100
kB. What is stored under a number is never replaced, and a number is drawn once in the life of a state, so what was read
once under a number is what is there.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Final

import pyarrow as pa

_CACHED_BYTES: Final = 64 << 20
_BITS: Final = 62
_FIRST_DRAWN: Final = 1 << 32
"""Numbers below were counted, by states of earlier versions, and stand for other tables in other states."""


def drawn_number() -> int:
    """Return a number that no other table has."""
    return _FIRST_DRAWN + secrets.randbits(_BITS)


class PageCache:
    """Stored tables by their number, the last ones that were used.

    Args:
        capacity_bytes: of the tables together.
    """

    def __init__(self, capacity_bytes: int = _CACHED_BYTES) -> None:
        self._capacity_bytes = capacity_bytes
        self._tables = OrderedDict[int, pa.Table]()
        self._bytes = 0

    def get(self, number: int) -> pa.Table | None:
        """Return a table; None if it is not there."""
        table = self._tables.get(number)
        if table is not None:
            self._tables.move_to_end(number)
        return table

    def add(self, number: int, table: pa.Table) -> None:
        """Add a table under a drawn number; those that were not used for longest go."""
        if number < _FIRST_DRAWN or number in self._tables or table.nbytes > self._capacity_bytes:
            return
        self._tables[number] = table
        self._bytes += table.nbytes
        while self._bytes > self._capacity_bytes:
            _, gone = self._tables.popitem(last=False)
            self._bytes -= gone.nbytes

    def drop(self, number: int) -> None:
        """Remove a table if it is there."""
        table = self._tables.pop(number, None)
        if table is not None:
            self._bytes -= table.nbytes


WORKER_CACHE: Final = PageCache()
"""That of this process."""
