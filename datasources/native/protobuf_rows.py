"""Protobuf's binary encoding through `protobuf_rows.c`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from datasources.native.calls import address, function
from datasources.native.column_words import ColumnWord

__all__ = ["NodeWord", "ProtobufNodes", "ProtobufRows"]

Int64s = npt.NDArray[np.int64]
Records = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.bool_]]
"""Bytes, the record offsets in them (one more than records), and whether each record exists."""


class NodeWord(IntEnum):
    """The words of `protobuf_node` in `protobuf_rows.c`; `Step` documents what they mean."""

    FORM = 0
    TARGET = 1
    COLUMN = 2
    LIST = 3
    IS_REPEATED = 4
    FIRST = 5
    COUNT = 6
    TAG = 7
    PACKED_TAG = 8
    ABSENT = 9
    VALUE = 10
    AT = 11
    SIZE = 12
    ONEOF = 13
    IS_CLOSED = 14
    SCALE = 15
    SEEN = 16
    CHOSEN_IN = 17
    CHOSEN = 18


@dataclass(frozen=True, slots=True, eq=False)
class ProtobufNodes:
    """What the records consist of.

    Attributes:
        table: one row of `NodeWord` for each node, the record's first; C changes it.
        symbols: rows of three, those of an enum by their numbers: the number, where the text is, and its bytes.
        texts: of the symbols, and the values of absent fields; `SPARE_BYTES` follow the last one.
    """

    table: Int64s
    symbols: Int64s
    texts: npt.NDArray[np.uint8]


class ProtobufRows:
    """The function of `protobuf_rows.c` on numpy arrays, which must be contiguous.

    Raises:
        AttributeError: It was built from other sources and does not have the function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._decode = function(library, "tidemark_protobuf", "pppiippippp")

    def decode(
        self, records: Records, start: int, nodes: ProtobufNodes, columns: Int64s, is_done: npt.NDArray[np.bool_]
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
        data, starts, is_given = records
        assert nodes.table.shape[1] == len(NodeWord)
        assert columns.shape[1] == len(ColumnWord)
        return int(
            self._decode(
                address(data),
                address(starts),
                address(is_given),
                start,
                len(is_given),
                address(nodes.table),
                address(columns),
                len(columns),
                address(nodes.symbols),
                address(nodes.texts),
                address(is_done),
            )
        )
