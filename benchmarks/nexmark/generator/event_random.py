"""Random numbers of events: functions of the seed, the event and what is drawn, for all events at once.

Each quantity has a SplitMix64 sequence of its own; the event's id is the position in it. So an event's values do not
depend on which others are made with it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.nexmark.generator.generator_config import Numbers

__all__ = ["EventRandom"]

_STEP: Final = 0x9E3779B97F4A7C15
_FIRST_MIX: Final = 0xBF58476D1CE4E5B9
_SECOND_MIX: Final = 0x94D049BB133111EB
_DOUBLE_BITS: Final = 53
Bits = npt.NDArray[np.uint64]


class EventRandom:
    """Draws for some events.

    Args:
        seed: of the stream.
        ids: the events'.
    """

    def __init__(self, seed: int, ids: Numbers) -> None:
        self._seed = seed
        self._steps = ids.astype(np.uint64) * np.uint64(_STEP)

    def bits(self, what: str) -> Bits:
        """Return 64 random bits of each event for a quantity, by its name."""
        z = self._steps + np.uint64(_start(self._seed, what))
        z ^= z >> np.uint64(30)
        z *= np.uint64(_FIRST_MIX)
        z ^= z >> np.uint64(27)
        z *= np.uint64(_SECOND_MIX)
        z ^= z >> np.uint64(31)
        return z

    def below(self, what: str, bound: int | Numbers) -> Numbers:
        """Return an integer in [0, bound) for each event; a bound is positive and less than 2**31."""
        limit = np.uint64(bound) if isinstance(bound, int) else bound.astype(np.uint64)
        return ((self.bits(what) >> np.uint64(32)) * limit >> np.uint64(32)).astype(np.int64)

    def units(self, what: str) -> npt.NDArray[np.float64]:
        """Return a number in [0, 1) for each event."""
        bits = self.bits(what) >> np.uint64(64 - _DOUBLE_BITS)
        return bits.astype(np.float64) * 2.0**-_DOUBLE_BITS

    def prices(self, what: str) -> Numbers:
        """Return a price in cents for each event: from 100 to 100,000,000, each magnitude as likely as the others."""
        exact = np.exp(self.units(what) * (6 * np.log(10))) * 100
        prices: Numbers = np.floor(exact + 0.5).astype(np.int64)
        return prices


@cache
def _start(seed: int, what: str) -> int:
    """Return where the sequence of a quantity begins."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {what}".encode(), digest_size=8).digest(), "little")
