"""Which events of a dump are decoded in bulk."""

from __future__ import annotations

from typing import Final

import numpy as np

from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.events.event_types import GTIDS, HEARTBEATS, IGNORED, ROWS, EventType, type_mask
from datasources.mysql.types.decoders.cells import Mask, read_little

_ORDINARY: Final = type_mask(ROWS | IGNORED | HEARTBEATS | (GTIDS - {EventType.GTID_TAGGED}))
_BEGIN: Final = np.uint64(int.from_bytes(b"\0BEGIN", "little"))
_BEGIN_BYTES: Final = 6
_MARIADB_FLAGS_AT: Final = HEADER_BYTES + 12
_MARIADB_PREPARED_XA: Final = 0x40


def is_ordinary(block: EventBlock) -> Mask:
    """Return which events are decoded in bulk: most, BEGIN included; not MariaDB's GTIDs of XA transactions."""
    types = block.types
    found: Mask = _ORDINARY[types]
    gtids = np.flatnonzero(types == EventType.MARIADB_GTID)
    if len(gtids):
        found[gtids] = block.data[block.starts[gtids] + _MARIADB_FLAGS_AT] & _MARIADB_PREPARED_XA == 0
    queries = np.flatnonzero(types == EventType.QUERY)
    if len(queries):
        found[queries] = read_little(block.data, block.ends[queries] - _BEGIN_BYTES, _BEGIN_BYTES) == _BEGIN
    return found
