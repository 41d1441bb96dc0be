"""Avro's binary encoding through `avro_rows.c`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from datasources.native.calls import address, function
from datasources.native.column_words import ColumnWord

__all__ = ["AvroNodes", "AvroRows", "NodeWord"]

Int64s = npt.NDArray[np.int64]
Records = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.bool_], int]
"""Bytes, the record offsets in them (one more than records), whether each record exists, and how many bytes at the head
of each are not its values."""


class NodeWord(IntEnum):
    """The words of `avro_node` in `avro_rows.c`."""

    FORM = 0
    COLUMN = 1
    FIRST = 2
    COUNT = 3
    SIZE = 4
    NUMBER = 5
    FACTOR = 6
    SCALE = 7
    AT = 8


@dataclass(frozen=True, slots=True, eq=False)
class AvroNodes:
    """What the records consist of.

    Attributes:
        table: one row of `NodeWord` for each node, the record's first.
        symbols: rows of two: where the text of an enum's symbol is, and how long it is in bytes; -1 = it has none.
        texts: of the symbols, and the encoded defaults; `SPARE_BYTES` follow the last one.
    """

    table: Int64s
    symbols: Int64s
    texts: npt.NDArray[np.uint8]


class AvroRows:
    """The function of `avro_rows.c` on numpy arrays, which must be contiguous.

    Raises:
        AttributeError: It was built from other sources and does not have the function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._decode = function(library, "tidemark_avro", "pppiiippippp")

    def decode(
        self, records: Records, start: int, nodes: AvroNodes, columns: Int64s, is_done: npt.NDArray[np.bool_]
    ) -> int:
        """Decode records from one on.

        Args:
            records: The records.
            start: The first one that is decoded.
            nodes: What they consist of.
            columns: One row of `ColumnWord` for each column; it is changed.
            is_done: What receives for each record whether it is decoded.

        Returns:
            Their number, or the record for which a column that is full needs more room.
        """
        data, starts, is_given, skip = records
        assert nodes.table.shape[1] == len(NodeWord)
        assert columns.shape[1] == len(ColumnWord)
        return int(
            self._decode(
                address(data),
                address(starts),
                address(is_given),
                start,
                len(is_given),
                skip,
                address(nodes.table),
                address(columns),
                len(columns),
                address(nodes.symbols),
                address(nodes.texts),
                address(is_done),
            )
        )
