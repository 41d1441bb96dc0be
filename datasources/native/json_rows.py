"""JSON documents through `json_rows.c`."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from datasources.native.calls import address, function

__all__ = ["MAX_NAME_BYTES", "SPARE_BYTES", "JsonRows", "NodeField"]

SPARE_BYTES: Final = 16
MAX_NAME_BYTES: Final = 1_000
"""Of a column's name; both as in `json_rows.c`."""

Bytes = npt.NDArray[np.uint8]
Int64s = npt.NDArray[np.int64]
Texts = tuple[Bytes, npt.NDArray[np.int32], npt.NDArray[np.bool_]]
"""Valid UTF-8, the document offsets in it (one more than documents), and whether each document exists."""


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
    DOMAIN = 9
    VALUES = 10
    OFFSETS = 11
    IS_VALID = 12
    ROOM = 13
    LENGTH = 14
    BEGIN = 15
    ROW = 16
    IS_FULL = 17
    FILLED = 18
    SEEN = 19


class JsonRows:
    """The function of `json_rows.c` on numpy arrays, which must be contiguous.

    Raises:
        AttributeError: It was built from other sources and does not have the function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._decode = function(library, "tidemark_json", "pppiipipp")

    def decode(self, texts: Texts, start: int, nodes: Int64s, names: Bytes, is_done: npt.NDArray[np.bool_]) -> int:
        """Decode documents from one on.

        Args:
            texts: The documents.
            start: The first one that is decoded.
            nodes: One row of `NodeField` for each node; it is changed.
            names: Their names.
            is_done: What receives for each document whether it is decoded.

        Returns:
            Their number, or the document for which a node that is full needs more room.
        """
        data, starts, is_given = texts
        assert nodes.shape[1] == len(NodeField)
        assert nodes.flags.c_contiguous
        return int(
            self._decode(
                address(data),
                address(starts),
                address(is_given),
                start,
                len(is_given),
                address(nodes),
                len(nodes),
                address(names),
                address(is_done),
            )
        )
