"""Which events of a dump are decoded together, many at a time."""

from __future__ import annotations

from typing import Final

import numpy as np

from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.events.event_types import HEARTBEATS, IGNORED, ROWS, EventType
from datasources.mysql.types.cells import Mask, read_little

__all__ = ["is_ordinary"]

_GTIDS: Final = (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.MARIADB_GTID)
_ORDINARY: Final = np.isin(np.arange(256), [*ROWS, *IGNORED, *HEARTBEATS, *_GTIDS])
_BEGIN: Final = np.uint64(int.from_bytes(b"\0BEGIN", "little"))
_BEGIN_BYTES: Final = 6
_MARIADB_FLAGS_AT: Final = HEADER_BYTES + 12
_MARIADB_PREPARED_XA: Final = 0x40


def is_ordinary(block: EventBlock) -> Mask:
    """Return which events are ordinary: most, and statements that are BEGIN; not MariaDB's GTIDs of XA transactions."""
    types = block.types
    found: Mask = _ORDINARY[types]
    gtids = np.flatnonzero(types == EventType.MARIADB_GTID)
    if len(gtids):
        found[gtids] = block.data[block.starts[gtids] + _MARIADB_FLAGS_AT] & _MARIADB_PREPARED_XA == 0
    queries = np.flatnonzero(types == EventType.QUERY)
    if len(queries):
        found[queries] = read_little(block.data, block.ends[queries] - _BEGIN_BYTES, _BEGIN_BYTES) == _BEGIN
    return found
