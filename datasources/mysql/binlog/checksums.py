"""The CRC32 that ends each event, unless the server writes its binlog without.

Checked are the events from which values are taken: rows, table maps, statements, compressed transactions. In small
transactions the others (GTID, BEGIN, XID) are the larger part, and a damaged one of them shows in what it says.
"""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np

from datasources.errors import RecordError
from datasources.mysql.binlog.blocks import EventBlock
from datasources.mysql.binlog.event_types import COMPRESSED_ROWS, ROWS, EventType
from datasources.mysql.binlog.positions import BinlogPosition
from datasources.mysql.types.cells import read_little

__all__ = ["check_events"]

_CHECKSUM_BYTES: Final = 4
_IS_CHECKED: Final = np.isin(
    np.arange(256),
    [
        *ROWS,
        *COMPRESSED_ROWS,
        EventType.TABLE_MAP,
        EventType.QUERY,
        EventType.PARTIAL_UPDATE_ROWS,
        EventType.TRANSACTION_PAYLOAD,
    ],
)


def check_events(events: EventBlock, near: BinlogPosition) -> None:
    """Check the checksums of events.

    Args:
        events: with their checksums.
        near: where the first stands, for the error.

    Raises:
        RecordError: one is wrong.
    """
    view, crc32 = events.data.data, zlib.crc32
    checked = _IS_CHECKED[events.types]
    starts, ends = events.starts[checked], events.ends[checked] - _CHECKSUM_BYTES
    found = [crc32(view[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    wrong = np.flatnonzero(read_little(events.data, ends, _CHECKSUM_BYTES) != np.array(found, np.uint64))
    if len(wrong):
        raise RecordError(
            f"an event of type {int(events.types[checked][wrong[0]])} at or behind {near} does not match its checksum: "
            f"the server's file or the way from there is damaged. Compare with mysqlbinlog --verify-binlog-checksum."
        )
