"""Parses decimal digits, eight at a time.

Theory of operation. Eight bytes are one word, the first digit in its lowest byte. Xor with '0' gives digits,
ignored bytes are masked to zero, and three multiplications combine neighbours: digits to
pairs, pairs to fours, fours to eights.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from datasources.mysql.types.decoders.cells import Bytes, Int64s, Mask, read_little

__all__ = ["LONGEST_FRACTION", "decimal_number", "fixed_number", "signed_number", "unsigned_number"]

_WORD: Final = 8
_MAX_DIGITS: Final = 24
_POINT: Final = ord(".")
_ZEROS: Final = np.uint64(0x3030303030303030)
_SIXES: Final = np.uint64(0x0606060606060606)
_HIGH_NIBBLES: Final = np.uint64(0xF0F0F0F0F0F0F0F0)
_PAIRS: Final = np.uint64(0x00FF00FF00FF00FF)
_FOURS: Final = np.uint64(0x0000FFFF0000FFFF)
_EIGHT: Final = np.uint64(0xFFFFFFFF)
_EIGHT_DIGITS: Final = 10**8
_MINUS: Final = ord("-")
_KEEP_LAST: Final = np.array(
    [(2**64 - 1) ^ (2 ** (8 * (_WORD - count)) - 1) for count in range(_WORD + 1)], dtype=np.uint64
)
"""By count: the mask that keeps the last bytes of a word."""

LONGEST_FRACTION: Final = _WORD - 1
"""Of `decimal_number`: the point must be in the last word."""

Words = npt.NDArray[np.uint64]


def fixed_number(data: Bytes, at: Int64s, pattern: str) -> Int64s:
    """Return texts at positions as one number each.

    Args:
        data: The buffer.
        at: Where eight bytes begin, of which the pattern is the beginning.
        pattern: ``9`` where a digit counts; ``0`` for any byte, which counts as the digit 0; else the byte that must
            be there, which counts as 0. ``99:99:99`` of 12:34:56 is 12034056.

    Raises:
        ValueError: A text is not like the pattern.
    """
    words = read_little(data, at, _WORD)
    pattern = pattern.ljust(_WORD, "0")
    literal = {byte: mark for byte, mark in enumerate(pattern) if mark not in "09"}
    if literal:
        mask = np.uint64(sum(0xFF << (8 * byte) for byte in literal))
        expected = np.uint64(sum(ord(mark) << (8 * byte) for byte, mark in literal.items()))
        if bool(((words & mask) != expected).any()):
            raise ValueError(pattern)
    keep = sum(0xFF << (8 * byte) for byte, mark in enumerate(pattern) if mark == "9")
    return _number(words, np.uint64(keep)).view(np.int64)


def unsigned_number(data: Bytes, ends: Int64s, lengths: Int64s) -> Words:
    """Return the numbers of texts of digits; an empty one is 0.

    ``ends`` are behind the last digits; there are up to 20.

    Raises:
        ValueError: One is no number.
    """
    longest = int(lengths.max(initial=0))
    if longest > _MAX_DIGITS or int(lengths.min(initial=0)) < 0:
        raise ValueError("a number of the wrong length")
    total: Words = np.zeros(len(ends), np.uint64)
    for first in range(0, longest, _WORD):
        # The bytes before a short text are others, or those at the end of the buffer; they are masked.
        words = read_little(data, ends - first - _WORD, _WORD)
        part = _number(words, _KEEP_LAST[np.clip(lengths - first, 0, _WORD)])
        total += part * np.uint64(_EIGHT_DIGITS ** (first // _WORD))
    return total


def signed_number(data: Bytes, at: Int64s, ends: Int64s) -> tuple[Words, Mask]:
    """Return the magnitudes of numbers and which have a minus sign; empty texts are 0."""
    lengths = ends - at
    is_negative = (data[at] == _MINUS) & (lengths > 0)
    return unsigned_number(data, ends, lengths - is_negative), is_negative


def decimal_number(data: Bytes, at: Int64s, ends: Int64s, scale: int) -> tuple[Words, Mask]:
    """Return the magnitudes of numbers with a fraction, without their points, and which have a minus sign.

    The last word has the point, always at one byte. It is read as one number in which the point is a digit 0, and
    the digits before that are then moved down by one.

    Texts begin at ``at``, empty ones are 0, and end before ``ends``; ``scale`` digits, 1 to `LONGEST_FRACTION`, are
    behind the point.

    Raises:
        ValueError: One is no number, or has its point elsewhere.
    """
    lengths = ends - at
    is_there = lengths > 0
    is_negative = (data[at] == _MINUS) & is_there
    digits = lengths - is_negative
    words = read_little(data, ends - _WORD, _WORD)
    shift = np.uint64(8 * (_WORD - 1 - scale))
    if bool((((words >> shift & np.uint64(0xFF)) != _POINT) & is_there).any()):
        raise ValueError(f"a number without {scale} digits behind its point")
    keep = _KEEP_LAST[np.clip(digits, 0, _WORD)] & ~(np.uint64(0xFF) << shift)
    last = _number(words, keep)
    last -= last // np.uint64(10 ** (scale + 1)) * np.uint64(9 * 10**scale)
    if int(digits.max(initial=0)) > _WORD:
        before = unsigned_number(data, ends - _WORD, np.maximum(digits - _WORD, 0))
        last += before * np.uint64(10 ** (_WORD - 1))
    return last, is_negative


def _number(words: Words, keep: np.uint64 | Words) -> Words:
    digits = (words ^ _ZEROS) & keep
    if bool((((digits + _SIXES) | digits) & _HIGH_NIBBLES).any()):
        raise ValueError("what should be a digit is none")
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & _PAIRS
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & _FOURS
    return (fours * np.uint64(10_000) + (fours >> np.uint64(32))) & _EIGHT
