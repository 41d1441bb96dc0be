"""Texts of MariaDB's INET4 and INET6 values, as the server prints them.

Source: MariaDB's sql/sql_type_inet.cc (Inet4::to_string, Inet6::to_string).
"""

from __future__ import annotations

import struct
from typing import Final

import pyarrow as pa

_WORDS: Final = struct.Struct(">8H")
_LAST_TWO: Final = 6
_IPV4_MARK: Final = 0xFFFF
_BEFORE_MARK: Final = 5


def inet4_texts(values: pa.Array) -> pa.Array:
    """Return addresses of four bytes."""
    return pa.array([None if value is None else _dotted(value) for value in values.to_pylist()], pa.string())


def inet6_texts(values: pa.Array) -> pa.Array:
    """Return addresses of sixteen bytes."""
    return pa.array([None if value is None else _inet6(value) for value in values.to_pylist()], pa.string())


def _dotted(value: bytes) -> str:
    return ".".join(map(str, value))


def _inet6(value: bytes) -> str:
    words = _WORDS.unpack(value)
    first, length = _longest_zeros(words)
    is_ipv4 = first == 0 and (length == _LAST_TWO or (length == _BEFORE_MARK and words[_BEFORE_MARK] == _IPV4_MARK))
    if is_ipv4:
        return f"::{'ffff:' if length == _BEFORE_MARK else ''}{_dotted(value[-4:])}"
    if not length:
        return ":".join(f"{word:x}" for word in words)
    before, after = words[:first], words[first + length :]
    return f"{':'.join(f'{word:x}' for word in before)}::{':'.join(f'{word:x}' for word in after)}"


def _longest_zeros(words: tuple[int, ...]) -> tuple[int, int]:
    """Return where the longest run of zeros begins, the first of equal ones, and its length; one zero is a run too."""
    best, begin = (0, 0), 0
    for at, word in enumerate((*words, 1)):
        if word:
            best, begin = max(best, (begin, at - begin), key=lambda run: run[1]), at + 1
    return best
