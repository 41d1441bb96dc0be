"""Locates many packets without Python per packet.

Theory of operation. A packet has its length in its header, so packets can only be walked one after the other; but many
walks can run at once, each a step of one numpy operation. That needs one packet's begin in each segment of the buffer.
It is guessed: if the bytes at an offset read as a header that leads to a header with the next sequence number, and
so on a few times, the last of these is a packet's begin almost surely. The guess is verified: each
walk must end exactly where the next one began, and the first one begins at a known offset. If one does not, the
caller walks sequentially.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from datasources.mysql.types.decoders.cells import Bytes, Int64s

__all__ = ["HEADER_BYTES", "LENGTH_MASK", "find_packets"]

HEADER_BYTES: Final = 4
LENGTH_MASK: Final = 0xFFFFFF

_SEGMENT_BYTES: Final = 8_192
_MIN_SEGMENTS: Final = 16
_FIRST_PACKETS: Final = 32
_LONGEST: Final = 1_000
_HOPS: Final = 4
_SEQUENCE_AT: Final = np.uint32(24)

Words = npt.NDArray[np.uint32]


def find_packets(data: Bytes, begin: int, end: int) -> Int64s | None:
    """Return the begins of packets; the caller walks on sequentially from the last one.

    A packet begins at ``begin``; ``end`` is behind the last byte that was received.

    Returns:
        None if packets are too few or too long to gain anything, or if a guess was wrong.
    """
    segments = (end - begin) // _SEGMENT_BYTES
    if segments < _MIN_SEGMENTS:
        return None
    words: Words = np.ndarray(shape=(end - HEADER_BYTES + 1,), dtype="<u4", buffer=data, strides=(1,))
    longest = _longest_of_first(words, begin)
    if longest > _LONGEST:
        return None
    guesses = _guesses(words, begin + _SEGMENT_BYTES * np.arange(1, segments), 2 * longest)
    if guesses is None:
        return None
    return _walk(words, np.concatenate([[begin], guesses]))


def _longest_of_first(words: Words, at: int) -> int:
    longest = 0
    for _ in range(_FIRST_PACKETS):
        size = HEADER_BYTES + (int(words[at]) & LENGTH_MASK)
        longest, at = max(longest, size), at + size
        if longest > _LONGEST:
            break
    return longest


def _guesses(words: Words, segments: Int64s, window: int) -> Int64s | None:
    """Return for each segment the probable begin of a packet."""
    first = (segments[:, None] + np.arange(window)).reshape(-1)
    owner = np.repeat(np.arange(len(segments)), window)
    at = first[first < len(words)]
    owner = owner[: len(at)]
    for _ in range(_HOPS):
        headers = words[at]
        following = at + HEADER_BYTES + (headers & np.uint32(LENGTH_MASK)).astype(np.int64)
        which = np.flatnonzero(following < len(words))
        headers, following, owner = headers[which], following[which], owner[which]
        wanted = ((headers >> _SEQUENCE_AT) + np.uint32(1)) & np.uint32(0xFF)
        which = np.flatnonzero(words[following] >> _SEQUENCE_AT == wanted)
        at, owner = following[which], owner[which]
    owners, first = np.unique(owner, return_index=True)
    return at[first] if len(owners) == len(segments) else None


def _walk(words: Words, starts: Int64s) -> Int64s | None:
    """Walk from each start to the next one, all at once."""
    at, stops = starts[:-1].copy(), starts[1:]
    if bool((at >= stops).any()):
        return None
    steps, is_inside = [], at < stops
    while bool(is_inside.any()):
        steps.append(np.where(is_inside, at, -1))
        lengths = (words[np.where(is_inside, at, 0)] & np.uint32(LENGTH_MASK)).astype(np.int64)
        at = np.where(is_inside, at + HEADER_BYTES + lengths, at)
        is_inside = at < stops
    if bool((at != stops).any()):
        return None
    begins = np.stack(steps, axis=1).reshape(-1)
    return np.concatenate([begins[begins >= 0], starts[-1:]])
