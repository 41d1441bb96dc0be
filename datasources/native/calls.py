"""Calling C: the signatures of functions and the addresses of arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy.typing as npt


def function(library: ctypes.CDLL, name: str, kinds: str) -> Any:
    """Return a function that returns a 64-bit integer.

    Of ``kinds`` there is one letter for each argument: p = a pointer, i = a 64-bit integer.

    Raises:
        AttributeError: the library does not have it.
    """
    found = getattr(library, name)
    found.argtypes = [ctypes.c_void_p if kind == "p" else ctypes.c_int64 for kind in kinds]
    found.restype = ctypes.c_int64
    return found


def address(array: npt.NDArray[Any] | None) -> int:
    """Return the address of an array; 0 = there is none."""
    return 0 if array is None else int(array.__array_interface__["data"][0])
