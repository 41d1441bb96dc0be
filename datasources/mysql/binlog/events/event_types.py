"""Binlog event types, and which of them end, begin or cannot occur in a transaction.

Source: MySQL's libbinlogevents (binlog_event.h) and MariaDB's log_event.h; MariaDB's own begin at 160.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

import numpy as np

from datasources.mysql.types.decoders.cells import Mask


class EventType(IntEnum):
    """The type of a binlog event."""

    QUERY = 2
    STOP = 3
    ROTATE = 4
    FORMAT_DESCRIPTION = 15
    XID = 16
    TABLE_MAP = 19
    WRITE_ROWS_V1 = 23
    UPDATE_ROWS_V1 = 24
    DELETE_ROWS_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    IGNORABLE = 28
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    GTID = 33
    ANONYMOUS_GTID = 34
    PREVIOUS_GTIDS = 35
    TRANSACTION_CONTEXT = 36
    VIEW_CHANGE = 37
    XA_PREPARE = 38
    PARTIAL_UPDATE_ROWS = 39
    TRANSACTION_PAYLOAD = 40
    HEARTBEAT_V2 = 41
    GTID_TAGGED = 42
    ANNOTATE_ROWS = 160
    BINLOG_CHECKPOINT = 161
    MARIADB_GTID = 162
    GTID_LIST = 163
    START_ENCRYPTION = 164
    QUERY_COMPRESSED = 165
    WRITE_ROWS_COMPRESSED_V1 = 166
    UPDATE_ROWS_COMPRESSED_V1 = 167
    DELETE_ROWS_COMPRESSED_V1 = 168
    WRITE_ROWS_COMPRESSED = 169
    UPDATE_ROWS_COMPRESSED = 170
    DELETE_ROWS_COMPRESSED = 171


_T: Final = EventType
ROWS: Final = frozenset(range(_T.WRITE_ROWS_V1, _T.INCIDENT)) | {_T.WRITE_ROWS, _T.UPDATE_ROWS, _T.DELETE_ROWS}
"""Row events whose rows all have one layout."""

COMPRESSED_ROWS: Final[dict[int, int]] = {
    _T.WRITE_ROWS_COMPRESSED_V1: _T.WRITE_ROWS_V1,
    _T.UPDATE_ROWS_COMPRESSED_V1: _T.UPDATE_ROWS_V1,
    _T.DELETE_ROWS_COMPRESSED_V1: _T.DELETE_ROWS_V1,
    _T.WRITE_ROWS_COMPRESSED: _T.WRITE_ROWS,
    _T.UPDATE_ROWS_COMPRESSED: _T.UPDATE_ROWS,
    _T.DELETE_ROWS_COMPRESSED: _T.DELETE_ROWS,
    _T.QUERY_COMPRESSED: _T.QUERY,
}
"""MariaDB's compressed events, and the type of each once unpacked."""

GTIDS: Final = frozenset({_T.GTID, _T.ANONYMOUS_GTID, _T.GTID_TAGGED, _T.MARIADB_GTID})
"""Events that begin a transaction."""

HEARTBEATS: Final = frozenset({_T.HEARTBEAT, _T.HEARTBEAT_V2})

BOUNDARIES: Final = (
    GTIDS
    | HEARTBEATS
    | {
        _T.ROTATE,
        _T.STOP,
        _T.FORMAT_DESCRIPTION,
        _T.PREVIOUS_GTIDS,
        _T.GTID_LIST,
        _T.BINLOG_CHECKPOINT,
        _T.START_ENCRYPTION,
    }
)
"""Events that never occur inside a transaction."""

IGNORED: Final = frozenset(
    {
        _T.STOP,
        _T.XID,
        _T.TABLE_MAP,
        _T.IGNORABLE,
        _T.ROWS_QUERY,
        _T.PREVIOUS_GTIDS,
        _T.TRANSACTION_CONTEXT,
        _T.VIEW_CHANGE,
        _T.ANNOTATE_ROWS,
        _T.BINLOG_CHECKPOINT,
        _T.GTID_LIST,
    }
)
"""Events that change no rows, and no reader state beyond what is looked up per block."""

UNREADABLE: Final[dict[int, str]] = {
    _T.INCIDENT: "the server lost changes here (an INCIDENT event: a write to its binlog failed); take a new snapshot",
    _T.START_ENCRYPTION: "the binlog arrives encrypted; read from the server that wrote it, which decrypts it",
}
"""Events after which reading must stop, and why."""

SKIPPABLE: Final = frozenset({*COMPRESSED_ROWS, *UNREADABLE, _T.PARTIAL_UPDATE_ROWS}) - {_T.QUERY_COMPRESSED}
"""Special events that are skipped in a transaction of `scan.skip-transactions`."""


def type_mask(types: Iterable[int]) -> Mask:
    """Return a lookup table: by event type, whether it is one of these types."""
    return np.isin(np.arange(256), list(types))


IS_BOUNDARY: Final = type_mask(BOUNDARIES)
IS_GTID: Final = type_mask(GTIDS)
IS_HEARTBEAT: Final = type_mask(HEARTBEATS)
