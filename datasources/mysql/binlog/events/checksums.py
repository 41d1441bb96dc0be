"""The CRC32 at the end of each event, unless the server writes its binlog without.

Checked are the events from which values are taken: rows, table maps, statements, compressed transactions. In small
transactions the others (GTID, BEGIN, XID) are the larger part, and damage to them shows in their values.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from datasources.errors import RecordError
from datasources.mysql.binlog.events.blocks import EventBlock
from datasources.mysql.binlog.events.event_types import COMPRESSED_ROWS, IS_GTID, ROWS, EventType, type_mask
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.positions.transaction_errors import with_transaction
from datasources.mysql.types.decoders.cells import Bytes, Int64s, read_little
from datasources.native import native

_CHECKSUM_BYTES: Final = 4
_IS_CHECKED: Final = type_mask(
    [
        *ROWS,
        *COMPRESSED_ROWS,
        EventType.TABLE_MAP,
        EventType.QUERY,
        EventType.PARTIAL_UPDATE_ROWS,
        EventType.TRANSACTION_PAYLOAD,
    ],
)


def checked_pieces(
    events: EventBlock,
    here: Callable[[], BinlogPosition],
    begin: Callable[[], BinlogPosition],
    skip: AbstractSet[BinlogPosition],
) -> Iterator[EventBlock]:
    """Yield events whose checksums match: usually at once, else up to the damaged transaction.

    Args:
        events: with their checksums.
        here: returns the position of the next event; called when everything yielded was read.
        begin: returns where the transaction begins that was read last.
        skip: begins of transactions that are not checked.

    Raises:
        RecordError: one does not match; names the transaction.
    """
    try:
        check_events(events, here())
    except RecordError:
        edges = np.flatnonzero(IS_GTID[events.types]).tolist()
    else:
        yield events
        return
    for piece in events.cut(edges):
        _check_transaction(piece, here(), here() if IS_GTID[piece.types[0]] else begin(), skip)
        yield piece


def _check_transaction(
    events: EventBlock, near: BinlogPosition, begin: BinlogPosition, skip: AbstractSet[BinlogPosition]
) -> None:
    if begin in skip:
        return
    try:
        check_events(events, near)
    except RecordError as error:
        raise with_transaction(error, begin) from error


def check_events(events: EventBlock, near: BinlogPosition) -> None:
    """Check the checksums of events.

    Args:
        events: with their checksums.
        near: the position of the first, for the error.

    Raises:
        RecordError: one does not match.
    """
    checked = _IS_CHECKED[events.types]
    wrong = _first_wrong(events.data, events.starts[checked], events.ends[checked] - _CHECKSUM_BYTES)
    if wrong is not None:
        raise RecordError(
            f"an event of type {int(events.types[checked][wrong])} at or behind {near} does not match its checksum: "
            f"the server's file is damaged, or the transfer. Compare with mysqlbinlog --verify-binlog-checksum."
        )


def _first_wrong(data: Bytes, starts: Int64s, ends: Int64s) -> int | None:
    """Return the index of the first event whose checksum, which follows it, does not match; None = all match."""
    if (library := native()) is not None:
        return library.first_wrong_crc32(data, starts, ends)
    view, crc32 = data.data, zlib.crc32
    found = [crc32(view[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    wrong = np.flatnonzero(read_little(data, ends, _CHECKSUM_BYTES) != np.array(found, np.uint64))
    return int(wrong[0]) if len(wrong) else None
