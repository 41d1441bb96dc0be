"""The native path: flat documents of plain values, in one pass by the C library.

It handles schemas whose columns all have supported types; `json_rows.c` defines which documents it accepts. Per type it
accepts a subset of the texts that `value_patterns` allows, so the guarantees given there hold here as well. Without the
library, or with another schema, nothing is decoded here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.formats.json.partial_rows import PartialRows
from datasources.grammar.zones import FixedOffset, Zone
from datasources.native import NativeLibrary
from datasources.native.json_rows import MAX_NAME_BYTES, SPARE_BYTES

_NOT_PLAIN: Final = re.compile(rb'[\x00-\x1f"\\]')
_Buffer = tuple[npt.NDArray[Any] | None, npt.NDArray[np.int32] | None]


class _Form(IntEnum):
    """How C converts a value (json_rows.c)."""

    BOOLEAN = 0
    INTEGER = 1
    DOUBLE = 2
    STRING = 3
    DATE = 4
    LOCAL = 5
    INSTANT = 6


_FORMS: Final[Mapping[pa.DataType, _Form]] = {
    pa.bool_(): _Form.BOOLEAN,
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), _Form.INTEGER),
    pa.float64(): _Form.DOUBLE,
    pa.string(): _Form.STRING,
    pa.date32(): _Form.DATE,
    NTZ: _Form.LOCAL,
    TIMESTAMP: _Form.INSTANT,
}


class NativeDecoder:
    """Decodes documents by the C library.

    `can_decode` must hold for the schema, which validates documents; without a zone timestamps without a zone are not
    decoded here.
    """

    def __init__(self, library: NativeLibrary, schema: pa.Schema, wanted: Sequence[str], zone: Zone | None) -> None:
        self._library = library
        self._types = [field.type for field in schema]
        self._column_indexes = [schema.get_field_index(name) for name in wanted]
        encoded = [field.name.encode() for field in schema]
        self._names = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
        begins = np.cumsum([0, *map(len, encoded)])
        is_utc = int(zone == FixedOffset(0))
        self._columns = np.array(
            [
                (begins[at], _name_bytes(encoded[at]), _FORMS[field.type], field.nullable, _detail(field.type, is_utc))
                for at, field in enumerate(schema)
            ],
            np.int64,
        )

    @staticmethod
    def can_decode(schema: pa.Schema) -> bool:
        """Return whether the types of all columns are supported."""
        return len(schema) > 0 and all(field.type in _FORMS for field in schema)

    def decode(self, texts: pa.Array) -> PartialRows:
        """Decode the plain documents.

        Args:
            texts: a `pa.string()` array of valid UTF-8; null where there is nothing to decode.
        """
        count = len(texts)
        _, starts, data = texts.buffers()
        begins = np.frombuffer(starts, np.int32, count + 1, texts.offset * 4)
        size = int(begins[-1] - begins[0])
        wanted = set(self._column_indexes)
        buffers = [
            _buffer(arrow, count, size) if at in wanted else (None, None) for at, arrow in enumerate(self._types)
        ]
        content = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
        is_given = np.ascontiguousarray(np.asarray(texts.is_valid()))
        is_done, is_valid = self._library.json.decode((content, begins, is_given), self._columns, self._names, buffers)
        columns = [_array(self._types[at], buffers[at], is_valid[at]) for at in self._column_indexes]
        return PartialRows(columns, is_done)


def _name_bytes(name: bytes) -> int:
    """Return the length of a name in bytes; -1 if C does not support it."""
    return -1 if _NOT_PLAIN.search(name) or len(name) > MAX_NAME_BYTES else len(name)


def _detail(arrow: pa.DataType, is_utc: int) -> int:
    return arrow.bit_width // 8 if _FORMS[arrow] is _Form.INTEGER else is_utc


def _buffer(arrow: pa.DataType, rows: int, size: int) -> _Buffer:
    if arrow == pa.string():
        return np.empty(size + SPARE_BYTES, np.uint8), np.zeros(rows + 1, np.int32)
    return np.empty(rows * max(1, arrow.bit_width // 8), np.uint8), None


def _array(arrow: pa.DataType, output: _Buffer, is_valid: npt.NDArray[np.bool_]) -> pa.Array:
    values, offsets = output
    assert values is not None
    mask = None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    if offsets is not None:
        buffers = [mask, pa.py_buffer(offsets), pa.py_buffer(values[: offsets[-1]])]
    else:
        bits = arrow == pa.bool_()
        buffers = [mask, pa.py_buffer(np.packbits(values & is_valid, bitorder="little") if bits else values)]
    return pa.Array.from_buffers(arrow, len(is_valid), buffers)
