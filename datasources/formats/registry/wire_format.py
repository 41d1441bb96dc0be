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
_ID: Final = np.dtype(">u4")
_ID_AT: Final = 1
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
    ids: npt.NDArray[np.uint32]
    reasons: dict[int, str]

    def single_id(self) -> int | None:
        """Return the id that all payloads have; None if there are several, or payloads without a header."""
        found = self.ids[self.has_header]
        return int(found[0]) if len(found) and not self.reasons and bool((found == found[0]).all()) else None

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
    words = np.ndarray(len(content) - _ID.itemsize + 1, _ID, content, strides=(1,))
    lengths = np.diff(begins)
    has_value = np.asarray(values.is_valid())
    is_long = has_value & (lengths >= HEADER_BYTES)
    first = begins[:-1] if is_long.all() else np.where(is_long, begins[:-1], 0)
    has_header = is_long & (content[first] == _MAGIC)
    ids = words[first + _ID_AT].astype(np.uint32)
    wrong = np.flatnonzero(has_value & ~has_header).tolist()
    reasons = {index: _reason(int(lengths[index]), int(content[first[index]])) for index in wrong}
    return Headers(has_header, ids, reasons)


def without_headers(values: pa.Array) -> pa.Array:
    """Return what the format wrote of payloads that all have headers.

    `binary_slice` of Arrow 26 reserves a buffer by the end that it is given, and fails without one.
    """
    end = pc.max(pc.binary_length(values)).as_py()
    return values if end is None else pc.binary_slice(values, HEADER_BYTES, end)


def taken(values: pa.Array, rows: npt.NDArray[np.intp]) -> pa.Array:
    """Return some payloads; if they are all, without a copy."""
    return values if len(rows) == len(values) else values.take(pa.array(rows))


def _reason(length: int, first: int) -> str:
    if length < HEADER_BYTES:
        return f"it has {length} bytes and the id of a schema takes {HEADER_BYTES}, {_NOT_WRITTEN_SO}"
    return f"it begins with the byte {first} in place of {_MAGIC}, {_NOT_WRITTEN_SO}"
