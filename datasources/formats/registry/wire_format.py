"""Confluent's wire format: a byte 0, the id of a schema as four bytes, big-endian, and what the format wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

HEADER_BYTES: Final = 5
_MAGIC: Final = 0
_NOT_WRITTEN_SO: Final = "so it was not written with a schema registry"


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of a batch of payloads.

    Attributes:
        has_header: whether each payload begins with a header.
        ids: the id of each payload's schema; without meaning where there is no header.
        reasons: index -> why a payload that exists has no header.
    """

    has_header: npt.NDArray[np.bool_]
    ids: npt.NDArray[np.int64]
    reasons: dict[int, str]

    def by_id(self) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
        """Yield each id, and the indexes of the payloads that have it, ascending."""
        for each in np.unique(self.ids[self.has_header]).tolist():
            yield each, np.flatnonzero(self.has_header & (self.ids == each))


def headers_of(values: pa.Array) -> Headers:
    """Read the headers of payloads.

    Args:
        values: a `pa.binary()` array; null stands for a record without a value.
    """
    count = len(values)
    _, offsets, data = values.buffers()
    begins = np.frombuffer(offsets, np.int32, count + 1, values.offset * 4)
    content = np.frombuffer(data if data is not None and data.size >= HEADER_BYTES else bytes(HEADER_BYTES), np.uint8)
    lengths = np.diff(begins)
    has_value = np.asarray(values.is_valid())
    is_long = has_value & (lengths >= HEADER_BYTES)
    first = np.where(is_long, begins[:-1], 0)
    has_header = is_long & (content[first] == _MAGIC)
    ids = np.zeros(count, np.int64)
    for at in range(1, HEADER_BYTES):
        ids = ids << 8 | content[first + at]
    wrong = np.flatnonzero(has_value & ~has_header).tolist()
    reasons = {index: _reason(int(lengths[index]), int(content[first[index]])) for index in wrong}
    return Headers(has_header, ids, reasons)


def without_headers(values: pa.Array) -> pa.Array:
    """Return what the format wrote of payloads that all have headers.

    `binary_slice` of Arrow 26 reserves a buffer by the end that it is given, and fails without one.
    """
    end = pc.max(pc.binary_length(values)).as_py()
    return values if end is None else pc.binary_slice(values, HEADER_BYTES, end)


def _reason(length: int, first: int) -> str:
    if length < HEADER_BYTES:
        return f"it has {length} bytes and the id of a schema takes {HEADER_BYTES}, {_NOT_WRITTEN_SO}"
    return f"it begins with the byte {first} in place of {_MAGIC}, {_NOT_WRITTEN_SO}"
