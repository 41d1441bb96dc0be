"""JSON documents through `json_rows.c`."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from datasources.native.calls import address, function
from datasources.native.column_words import ColumnWord

__all__ = ["MAX_NAME_BYTES", "JsonRows", "NodeField"]

MAX_NAME_BYTES: Final = 1_000
"""Of a column's name, as in `json_rows.c`."""

Bytes = npt.NDArray[np.uint8]
Int64s = npt.NDArray[np.int64]
Texts = tuple[Bytes, npt.NDArray[np.int32], npt.NDArray[np.bool_]]
"""Valid UTF-8, the document offsets in it (one more than documents), and whether each document exists."""


Nodes = tuple[Int64s, Bytes]
"""One row of `NodeField` for each node, which C changes, and the nodes' names one after the other."""


class NodeField(IntEnum):
    """The words of `json_node` in `json_rows.c`, which documents them."""

    NAME_AT = 0
    NAME_BYTES = 1
    FORM = 2
    IS_NULLABLE = 3
    DETAIL = 4
    SCALE = 5
    FIRST = 6
    COUNT = 7
    REQUIRED = 8
    COLUMN = 9
    SEEN = 10


class JsonRows:
    """The function of `json_rows.c` on numpy arrays, which must be contiguous.

    Raises:
        AttributeError: It was built from other sources and does not have the function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._decode = function(library, "tidemark_json", "pppiippipp")

    def decode(self, texts: Texts, start: int, nodes: Nodes, columns: Int64s, is_done: npt.NDArray[np.bool_]) -> int:
        """Decode documents from one on.

        Args:
            texts: The documents.
            start: The first one that is decoded.
            nodes: What the documents consist of.
            columns: One row of `ColumnWord` for each node; it is changed.
            is_done: What receives for each document whether it is decoded.

        Returns:
            Their number, or the document for which a column that is full needs more room.
        """
        data, starts, is_given = texts
        table, names = nodes
        assert table.shape[1] == len(NodeField)
        assert columns.shape == (len(table), len(ColumnWord))
        return int(
            self._decode(
                address(data),
                address(starts),
                address(is_given),
                start,
                len(is_given),
                address(table),
                address(columns),
                len(table),
                address(names),
                address(is_done),
            )
        )
