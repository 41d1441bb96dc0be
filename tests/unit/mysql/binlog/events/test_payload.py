"""Compressed events unpack to what they announced and to no more; JSON documents have no more than their bytes."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import RecordError
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, MAX_EVENT_BYTES, EventBlock, padded
from datasources.mysql.binlog.events.event_types import EventType
from datasources.mysql.binlog.events.payload import payload_blocks, unpack_event
from datasources.mysql.types.decoders.json.json_binary import parse_json

_MEGABYTE = 1 << 20


def _event(kind: int, body: bytes) -> bytes:
    return struct.pack("<IBIIIH", 0, kind, 1, HEADER_BYTES + len(body), 0, 0) + body


def _counted(number: int) -> bytes:
    return b"\xfe" + number.to_bytes(8, "little")


def _payload(content: bytes, announced: int) -> memoryview:
    packed = pa.Codec("zstd").compress(content, asbytes=True)
    fields = b"\x02\x01\x00" + b"\x03\x09" + _counted(announced) + b"\x00"
    return memoryview(fields + packed)


def _mariadb(content: bytes, announced: int) -> EventBlock:
    body = bytes(8) + b"\x01\x01" + b"\x84" + announced.to_bytes(4, "big") + zlib.compress(content)
    event = _event(EventType.WRITE_ROWS_COMPRESSED_V1, body)
    return EventBlock(data=padded(event), starts=np.array([0]), ends=np.array([len(event)]))


def _peak_bytes(content: memoryview, max_event_bytes: int) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(RecordError):
            list(payload_blocks(content, max_event_bytes=max_event_bytes))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_compressed_transaction_unpacks_to_what_it_announced():
    events = _event(EventType.XID, bytes(8)) * 3
    [block] = payload_blocks(_payload(events, len(events)), max_event_bytes=MAX_EVENT_BYTES)
    assert len(block) == 3


def test_more_than_was_announced_is_refused_before_it_is_unpacked():
    bomb = _payload(_event(EventType.XID, bytes(_MEGABYTE)) * 60, 1000)
    assert len(bomb) < 100_000
    assert _peak_bytes(bomb, MAX_EVENT_BYTES) < 20 * _MEGABYTE


def test_an_event_beyond_the_largest_is_refused_whatever_was_announced():
    one = _event(EventType.ROWS_QUERY, bytes(100 * _MEGABYTE))
    assert _peak_bytes(_payload(one, len(one)), 10 * _MEGABYTE) < 20 * _MEGABYTE


def test_the_error_names_the_option():
    one = _event(EventType.ROWS_QUERY, bytes(2 * _MEGABYTE))
    with pytest.raises(RecordError, match="'max-allowed-packet'"):
        list(payload_blocks(_payload(one, len(one)), max_event_bytes=_MEGABYTE))


def test_an_announced_size_alone_takes_no_memory():
    events = _event(EventType.XID, bytes(8))
    tracemalloc.start()
    try:
        [block] = payload_blocks(_payload(events, 1 << 62), max_event_bytes=MAX_EVENT_BYTES)
        assert tracemalloc.get_traced_memory()[1] < 20 * _MEGABYTE
    finally:
        tracemalloc.stop()
    assert len(block) == 1


def test_mariadbs_compressed_events_are_bounded_by_what_they_announced():
    assert len(unpack_event(_mariadb(bytes(1000), 1000), 0, max_event_bytes=_MEGABYTE)) == 1
    tracemalloc.start()
    try:
        with pytest.raises(RecordError, match="does not unpack to the 1000 bytes"):
            unpack_event(_mariadb(bytes(100 * _MEGABYTE), 1000), 0, max_event_bytes=_MEGABYTE)
        with pytest.raises(RecordError, match="'max-allowed-packet'"):
            unpack_event(_mariadb(b"x", 2 * _MEGABYTE), 0, max_event_bytes=_MEGABYTE)
    finally:
        tracemalloc.stop()


def _nested(levels: int) -> bytes:
    document = struct.pack("<HH", 0, 4)
    for _ in range(levels - 1):
        document = struct.pack("<HHBH", 1, 7 + len(document), 2, 7) + document
    return b"\x02" + document


def test_json_is_read_to_the_depth_that_servers_store():
    tree, depth = parse_json(_nested(100)), 1
    while isinstance(tree, list) and tree:
        tree, depth = tree[0], depth + 1
    assert depth == 100
    with pytest.raises(RecordError, match="more than 100 levels"):
        parse_json(_nested(101))
    with pytest.raises(RecordError, match="more than 100 levels"):
        parse_json(_nested(9000))


def test_a_document_with_overlapping_values_is_refused():
    """Each level is an array of two entries that both point to the next level: 2^90 values in 900 bytes."""
    levels = b"".join(struct.pack("<HHBHBH", 2, 10, 2, 10, 2, 10) for _ in range(90))
    with pytest.raises(RecordError, match="larger than the whole"):
        parse_json(b"\x02" + levels + struct.pack("<HH", 0, 4))


@pytest.mark.parametrize(
    "document",
    [
        b"\x0c\xff\xff\xff\xff\xff\xff\x01",  # a length without an end
        b"\x0c\x7fabc",  # a text beyond the end
        b"\x02\xff\xff\x00\x00",
        b"\x00\x01\x00\xff\x00",
        b"\x0f",
        b"\x04\x09",
        b"\x63\x00",
    ],
)
def test_documents_that_end_too_early_are_refused(document: bytes):
    with pytest.raises(RecordError, match="no binary JSON"):
        parse_json(document)
