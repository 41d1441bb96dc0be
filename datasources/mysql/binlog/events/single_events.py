"""Events that a reader decodes one by one: format, rotation, GTID and XA."""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass
from typing import Final

from datasources.errors import RecordError
from datasources.mysql.binlog.events.blocks import HEADER_BYTES
from datasources.mysql.binlog.events.cursor import ByteCursor
from datasources.mysql.binlog.positions.positions import BinlogPosition

_CHECKSUM_BYTES: Final = 4
_VERSION_END: Final = HEADER_BYTES + 2 + 50
_CRC32: Final = 1
_UUID_BYTES: Final = 16
_IMMEDIATE_BITS: Final = (1 << 55) - 1
_UUID_FIELD: Final = 1
_GNO_FIELD: Final = 2
_TAG_FIELD: Final = 3
_TIME_FIELD: Final = 6


@dataclass(frozen=True, slots=True)
class TaggedGtid:
    """A GTID_TAGGED event: source (``uuid:tag``), number, commit time in µs since the epoch."""

    source: str
    number: int
    commit_us: int


@dataclass(frozen=True, slots=True)
class XaPrepare:
    """An XA_PREPARE event: the transaction's xid as XA statements write it, and whether it is committed already."""

    xid: str
    is_one_phase: bool


def checksum_bytes(event: bytes) -> int:
    """Return the size of the checksum of the events behind a FORMAT_DESCRIPTION, itself included, in bytes."""
    return _CHECKSUM_BYTES if event[-_CHECKSUM_BYTES - 1] == _CRC32 else 0


def is_mariadbs(event: bytes) -> bool:
    """Return whether MariaDB wrote a FORMAT_DESCRIPTION."""
    return b"MariaDB" in event[:_VERSION_END]


def parse_first_rotate(event: bytes) -> BinlogPosition:
    """Return the position of a ROTATE before the first format, which may or may not end with a checksum."""
    has_checksum = zlib.crc32(event[:-_CHECKSUM_BYTES]) == int.from_bytes(event[-_CHECKSUM_BYTES:], "little")
    return parse_rotate(event[HEADER_BYTES : -_CHECKSUM_BYTES if has_checksum else None])


def parse_rotate(body: bytes) -> BinlogPosition:
    """Return the position at which the events behind a ROTATE begin."""
    return BinlogPosition(body[8:].decode(), int.from_bytes(body[:8], "little"))


def parse_xa_prepare(body: bytes) -> XaPrepare:
    """Return the decoded XA_PREPARE event."""
    cursor = ByteCursor(body)
    is_one_phase = cursor.number(1) != 0
    form, global_length, branch_length = cursor.number(4), cursor.number(4), cursor.number(4)
    global_id, branch = cursor.take(global_length), cursor.take(branch_length)
    return XaPrepare(f"X'{global_id.hex()}',X'{branch.hex()}',{form}", is_one_phase)


def parse_tagged_gtid(body: bytes) -> TaggedGtid:
    """Return a tagged GTID.

    The event is in MySQL's own serialization: version, size and last needed field, then fields, each with its number
    before it. A number takes as many bytes as its first byte has low bits set, plus one.

    Raises:
        RecordError: the fields are unknown.
    """
    cursor = ByteCursor(body)
    for _ in range(3):
        _varint(cursor)
    fields: dict[int, int] = {}
    source, tag = b"", ""
    while cursor.has_more:
        field = _varint(cursor)
        if field == _UUID_FIELD:
            source = bytes(_varint(cursor) for _ in range(_UUID_BYTES))
        elif field == _TAG_FIELD:
            tag = cursor.take(_varint(cursor)).decode()
        else:
            fields[field] = _varint(cursor)
        if field >= _TIME_FIELD:
            break
    if len(source) != _UUID_BYTES or _GNO_FIELD not in fields:
        raise RecordError("a GTID_TAGGED event of the binlog has a form that is not known here.")
    return TaggedGtid(
        f"{uuid.UUID(bytes=source)}:{tag}", _signed(fields[_GNO_FIELD]), fields.get(_TIME_FIELD, 0) & _IMMEDIATE_BITS
    )


def _varint(cursor: ByteCursor) -> int:
    first = cursor.number(1)
    extra_bytes = 0
    while first >> extra_bytes & 1:
        extra_bytes += 1
    if extra_bytes == 8:  # noqa: PLR2004 - all bits of the first byte are marks
        return cursor.number(8)
    value = first >> (extra_bytes + 1)
    return value | cursor.number(extra_bytes) << (7 - extra_bytes) if extra_bytes else value


def _signed(number: int) -> int:
    return -(number >> 1) - 1 if number & 1 else number >> 1
