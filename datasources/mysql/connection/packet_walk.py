"""Where many packets begin, found without Python per packet.

Theory of operation. A packet says how long it is, so packets can only be walked one after the other; but many walks
can go at once, each a step of one numpy operation. For that a place is needed in each part of the buffer where some
packet begins. It is guessed: where a place reads as a header that leads to a header with the next sequence number, and
so on a few times, the last of these is a packet's begin almost surely. Nothing depends on the guess being right: each
walk must end exactly where the next one began, and the first one begins at a place that is known. If one does not, the
caller walks alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from datasources.mysql.types.cells import Bytes, Int64s

__all__ = ["HEADER_BYTES", "LENGTH_MASK", "find_packets"]

HEADER_BYTES: Final = 4
LENGTH_MASK: Final = 0xFFFFFF

_PART_BYTES: Final = 8_192
_LEAST_PARTS: Final = 16
_FIRST_PACKETS: Final = 32
_LONGEST: Final = 1_000
_HOPS: Final = 4
_SEQUENCE_AT: Final = np.uint32(24)

Words = npt.NDArray[np.uint32]


def find_packets(data: Bytes, begin: int, end: int) -> Int64s | None:
    """Return where packets begin, the last of which is the one from which a caller goes on alone.

    A packet begins at ``begin``; ``end`` is behind the last byte that was received.

    Returns:
        None where packets are too few or too long to gain anything, or where a guess was wrong.
    """
    parts = (end - begin) // _PART_BYTES
    if parts < _LEAST_PARTS:
        return None
    words: Words = np.ndarray(shape=(end - HEADER_BYTES + 1,), dtype="<u4", buffer=data, strides=(1,))
    longest = _longest_of_first(words, begin)
    if longest > _LONGEST:
        return None
    guesses = _guesses(words, begin + _PART_BYTES * np.arange(1, parts), 2 * longest)
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


def _guesses(words: Words, parts: Int64s, window: int) -> Int64s | None:
    """Return for each part a place where a packet begins, as it seems."""
    first = (parts[:, None] + np.arange(window)).reshape(-1)
    owner = np.repeat(np.arange(len(parts)), window)
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
    owners, places = np.unique(owner, return_index=True)
    return at[places] if len(owners) == len(parts) else None


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
    places = np.stack(steps, axis=1).reshape(-1)
    return np.concatenate([places[places >= 0], starts[-1:]])
