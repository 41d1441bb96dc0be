"""Calling C: what a function takes, and where arrays lie."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy.typing as npt

__all__ = ["address", "function"]


def function(library: ctypes.CDLL, name: str, kinds: str) -> Any:
    """Return a function that gives a number of 64 bits.

    Args:
        library: where it is.
        name: what it is called.
        kinds: of each argument: p = a pointer, i = a number of 64 bits.

    Raises:
        AttributeError: the library lacks it.
    """
    found = getattr(library, name)
    found.argtypes = [ctypes.c_void_p if kind == "p" else ctypes.c_int64 for kind in kinds]
    found.restype = ctypes.c_int64
    return found


def address(array: npt.NDArray[Any] | None) -> int:
    """Return where an array lies; 0 = there is none."""
    return 0 if array is None else int(array.__array_interface__["data"][0])
