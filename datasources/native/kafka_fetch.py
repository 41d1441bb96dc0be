"""`kafka_fetch.c` for Python: its structures, and its functions on numpy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from typing import Final

import numpy as np

from datasources.native.calls import address, function

_MAX_MESSAGES: Final = 512
_TEXT_BYTES: Final = 512


class FetchStop:
    """The stop reasons of a fetch, numbered as in `kafka_fetch.c`."""

    DRY: Final = 0
    ENOUGH: Final = 1
    AT_END: Final = 2
    NOTICE: Final = 3
    NO_ROOM: Final = 4
    FAILED: Final = 5


class FeedStruct(ctypes.Structure):
    """A queue of librdkafka, the functions that read it, and the records received from it."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("queue", "consume_batch", "destroy", "timestamp")),
        *((name, ctypes.c_void_p) for name in ("headers", "header", "leader_epoch", "text")),
        ("next", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("held", ctypes.c_void_p * _MAX_MESSAGES),
    )


class _Bytes(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("capacity", "bytes", "max_count", "count", "nulls")),
        *((name, ctypes.c_void_p) for name in ("ends", "data", "is_valid")),
    )


class _Batch(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("offsets", "timestamps", "kinds", "epochs", "header_ends")),
        ("has_headers", ctypes.c_void_p),
        *((name, _Bytes) for name in ("values", "keys", "names", "contents")),
        ("error", ctypes.c_int64),
        ("error_offset", ctypes.c_int64),
        ("text", ctypes.c_char * _TEXT_BYTES),
    )


class ByteColumn:
    """A buffer of byte strings, filled from the front.

    Args:
        struct: what C sees of it.
        max_count: the capacity in strings.
        capacity: in bytes, < 2^31.
    """

    def __init__(self, struct: _Bytes, max_count: int, capacity: int) -> None:
        self._struct = struct
        self.ends = np.zeros(max_count + 1, np.int32)
        self.data = np.empty(capacity, np.uint8)
        self.is_valid = np.empty(max_count, np.uint8)
        struct.max_count, struct.capacity = max_count, capacity
        struct.ends, struct.data, struct.is_valid = address(self.ends), address(self.data), address(self.is_valid)

    @property
    def count(self) -> int:
        """How many strings there are, nulls included."""
        return int(self._struct.count)

    @property
    def nulls(self) -> int:
        """How many of them are null."""
        return int(self._struct.nulls)


class FetchBuffers:
    """Buffers for records; a field that is not requested is None.

    Attributes:
        max_records: the capacity in records.
        offsets: int64.
        values, keys: byte strings or null.
        timestamps, kinds: int64 and int8; as `Records.timestamps_ms` and `timestamp_kinds`.
        epochs: int32, negative = unknown.
        header_ends, has_headers, names, contents: as `Headers`.

    Args:
        max_records: the capacity in records.
        capacity: in bytes, of values, of keys, and of names and contents of headers.
        wanted: any of `value`, `key`, `timestamp`, `leader_epoch`, `headers`.
    """

    def __init__(self, max_records: int, capacity: int, wanted: Collection[str]) -> None:
        self.max_records = max_records
        self.struct = struct = _Batch()
        self.offsets = np.empty(max_records, np.int64)
        self.values = ByteColumn(struct.values, max_records, capacity) if "value" in wanted else None
        self.keys = ByteColumn(struct.keys, max_records, capacity) if "key" in wanted else None
        self.timestamps = np.empty(max_records, np.int64) if "timestamp" in wanted else None
        self.kinds = np.empty(max_records, np.int8) if "timestamp" in wanted else None
        self.epochs = np.empty(max_records, np.int32) if "leader_epoch" in wanted else None
        self.header_ends = np.zeros(max_records + 1, np.int32) if "headers" in wanted else None
        self.has_headers = np.zeros(max_records, np.bool_) if "headers" in wanted else None
        self.names = ByteColumn(struct.names, capacity // 8, capacity) if "headers" in wanted else None
        self.contents = ByteColumn(struct.contents, capacity // 8, capacity) if "headers" in wanted else None
        struct.offsets = address(self.offsets)
        for name in ("timestamps", "kinds", "epochs", "header_ends", "has_headers"):
            setattr(struct, name, address(getattr(self, name)))

    @property
    def count(self) -> int:
        """How many records there are."""
        return int(self.struct.count)

    @property
    def notice(self) -> tuple[int, str, int]:
        """The code and the text of what the client reported instead of a record, and the offset that it names."""
        return int(self.struct.error), self.struct.text.decode("utf-8", "replace"), int(self.struct.error_offset)


class KafkaFetch:
    """The functions of `kafka_fetch.c`.

    Raises:
        AttributeError: it was built before the functions existed.
        OSError: it was built from other sources than these.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        library.tidemark_kafka_layout.restype = ctypes.c_int64
        if library.tidemark_kafka_layout() != ctypes.sizeof(FeedStruct) << 32 | ctypes.sizeof(_Batch):
            raise OSError("its structures are not those of kafka_fetch.py: build it again")
        self._fetch, self._drop = function(library, "tidemark_kafka_fetch", "ppiii"), library.tidemark_kafka_drop
        self._drop.argtypes, self._drop.restype = [ctypes.c_void_p], None

    def fetch(self, feed: FeedStruct, batch: FetchBuffers, max_records: int, end: int, wait_ms: int) -> int:
        """Add the available records before `end`, else wait for one; return why it stopped, as in `FetchStop`."""
        assert batch.count <= max_records <= batch.max_records
        return int(self._fetch(ctypes.addressof(feed), ctypes.addressof(batch.struct), max_records, end, wait_ms))

    def drop(self, feed: FeedStruct) -> None:
        """Drop records that were received and not returned."""
        self._drop(ctypes.addressof(feed))
