"""The C library beside this file, if it was built; the C files document its functions.

It is plain C without Python's API, so one build works with every version of Python. If there was no compiler when the
package was built, or TIDEMARK_NATIVE is `off`, there is none, and its users fall back to numpy. TIDEMARK_NATIVE may
also be the path of another build, such as one that checks its memory accesses.
"""

from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from datasources.native.avro_rows import AvroRows
from datasources.native.calls import address, function
from datasources.native.json_rows import JsonRows
from datasources.native.kafka_fetch import KafkaFetch
from datasources.native.protobuf_rows import ProtobufRows

__all__ = ["NativeLibrary", "native"]

_logger: Final = logging.getLogger(__name__)
_PATH: Final = Path(__file__).with_name("_native.so")
_VARIABLE: Final = "TIDEMARK_NATIVE"
_MIN_PACKET_BYTES: Final = 4

Bytes = npt.NDArray[np.uint8]
Int64s = npt.NDArray[np.int64]


class NativeLibrary:
    """The functions of `native.c` on numpy arrays, which must be contiguous.

    Raises:
        OSError: There is none, or it was built from other sources.
        AttributeError: It was built from other sources and lacks a function.
    """

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self._packets = function(library, "tidemark_packets", "piipi")
        self._values = function(library, "tidemark_values", "pppiippppp")
        self._crc32 = function(library, "tidemark_crc32", "pppi")
        self._byte_hashes = function(library, "tidemark_byte_hashes", "ppiip")
        self._xxhash64 = function(library, "tidemark_xxhash64", "pppip")
        library.tidemark_prepare()
        self.kafka = KafkaFetch(library)
        self.json = JsonRows(library)
        self.avro = AvroRows(library)
        self.protobuf = ProtobufRows(library)

    def packets(self, data: Bytes, begin: int, end: int) -> Int64s:
        """Return where the complete packets between two positions begin, and where the next one begins.

        It stops before an incomplete packet, and before one that the next packet continues.
        """
        room = (end - begin) // _MIN_PACKET_BYTES + 1
        begins = np.empty(room, np.int64)
        count = self._packets(address(data), begin, end, address(begins), room)
        return begins[: count + 1]

    def values(
        self,
        data: Bytes,
        rows: tuple[Int64s, Int64s],
        forms: Int64s,
        first_days: Int64s,
        room: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any] | None]],
    ) -> npt.NDArray[np.bool_] | None:
        """Read binary result rows into arrays, column by column; None if a row is of another form.

        Args:
            data: The buffer.
            rows: Where each row's packet begins and ends.
            forms: Per column four numbers, see `column_form` in `native.c`.
            first_days: Days since the epoch of the first day of each month since January of the year 0.
            room: Per column what receives its values, and what else its form needs.

        Returns:
            Per column and row whether the value is NULL.
        """
        begins, ends = (np.ascontiguousarray(bounds) for bounds in rows)
        count, columns = len(begins), len(forms)
        values = np.array([address(each) for each, _ in room], np.uint64)
        more = np.array([address(each) for _, each in room], np.uint64)
        nulls = np.empty((columns, count), np.uint8)
        arrays = address(forms), address(first_days), address(values), address(more), address(nulls)
        found = self._values(address(data), address(begins), address(ends), count, columns, *arrays)
        return None if found != count else nulls.view(np.bool_)

    def first_wrong_crc32(self, data: Bytes, begins: Int64s, ends: Int64s) -> int | None:
        """Return the index of the first span that is not followed by its CRC32 in four bytes; None = all are."""
        begins, ends = np.ascontiguousarray(begins), np.ascontiguousarray(ends)
        found = self._crc32(address(data), address(begins), address(ends), len(begins))
        return None if found == len(begins) else int(found)

    def byte_hashes(self, data: Bytes, offsets: npt.NDArray[np.int32], factor: int) -> npt.NDArray[np.uint64]:
        """Return the polynomial of each text: (byte + 1) * factor ** position, from 1 on, modulo 2**64.

        Text number i has the bytes from ``offsets[i]`` to ``offsets[i + 1]``.
        """
        hashes = np.empty(len(offsets) - 1, np.uint64)
        self._byte_hashes(address(data), address(offsets), len(hashes), factor, address(hashes))
        return hashes

    def xxhash64(
        self, data: Bytes, offsets: npt.NDArray[np.int32], seeds: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.uint64]:
        """Return XXH64 of each text, with a seed each; text number i has the bytes from ``offsets[i]`` on."""
        hashes, seeds = np.empty(len(seeds), np.uint64), np.ascontiguousarray(seeds)
        self._xxhash64(address(data), address(offsets), address(seeds), len(seeds), address(hashes))
        return hashes


def native() -> NativeLibrary | None:
    """Return the library; None if it was not built here, or is switched off."""
    return _opened(os.environ.get(_VARIABLE))


@cache
def _opened(named: str | None) -> NativeLibrary | None:
    """Return the library for a value of the variable, which a thread may read while another one changes it."""
    if named == "off":
        return None
    try:
        return NativeLibrary(Path(named) if named else _PATH)
    except (OSError, AttributeError) as error:
        _logger.info("native_library found=false reason=%r", str(error))
        return None
