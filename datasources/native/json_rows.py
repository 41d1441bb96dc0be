"""JSON documents through `json_rows.c`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from datasources.native.calls import address, function

__all__ = ["MAX_NAME_BYTES", "SPARE_BYTES", "JsonRows"]

SPARE_BYTES: Final = 16
MAX_NAME_BYTES: Final = 1_000
"""Of a column's name; both as in `json_rows.c`."""

_FIELDS_OF_A_COLUMN: Final = 5

Bytes = npt.NDArray[np.uint8]


class JsonRows:
    """The function of `json_rows.c` on numpy arrays, which must be contiguous.

    Raises:
        AttributeError: It was built from other sources and does not have the function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._decode = function(library, "tidemark_json", "pppippippppp")

    def decode(
        self,
        texts: tuple[Bytes, npt.NDArray[np.int32], npt.NDArray[np.bool_]],
        columns: npt.NDArray[np.int64],
        names: Bytes,
        buffers: Sequence[tuple[npt.NDArray[Any] | None, npt.NDArray[np.int32] | None]],
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Decode documents.

        Args:
            texts: Valid UTF-8, the document offsets in it (one more than documents), and whether each document exists.
            columns: Five numbers for each column, see `json_column` in `json_rows.c`.
            names: Their names.
            buffers: Per column what receives its values and, of texts, the offsets, the first of which is 0; texts need
                `SPARE_BYTES` more than the documents have. None = the column is only validated.

        Returns:
            Which documents are decoded, and per column and document whether there is a value.
        """
        data, starts, is_given = texts
        rows, count = len(is_given), len(columns)
        assert columns.shape == (count, _FIELDS_OF_A_COLUMN)
        values, offsets = (np.array([address(each[side]) for each in buffers], np.uint64) for side in (0, 1))
        is_valid, seen = np.zeros((count, rows), np.uint8), np.zeros(count, np.int64)
        is_done = np.empty(rows, np.uint8)
        self._decode(
            address(data),
            address(starts),
            address(is_given),
            rows,
            address(columns),
            address(names),
            count,
            *[address(each) for each in (values, offsets, is_valid, seen, is_done)],
        )
        return is_done.view(np.bool_), is_valid.view(np.bool_)
