"""Clean-up timers of bounded RANGE frames, as Flink's operator sets them: columnar, and row by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit

LATE = -1
"""Generation of a late row, or of a key without one."""
NEVER_FIRED = np.iinfo(np.int64).min
"""Time of the last firing of a key that never fired."""

_MS = 1_000
_FEW = 16
_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """Timers of generations.

    Attributes:
        generation: the generation that each belongs to.
        at: time of the timer, µs. Timers that fire at one watermark fire in this order.
        due: the smallest watermark that fires it, µs: `at`, or more if it was set in the past.
    """

    generation: _Ints
    at: _Ints
    due: _Ints

    @classmethod
    def of(cls, found: Iterable[tuple[int, int, int]]) -> Timers:
        """Return timers from (generation, at, due)."""
        table = np.array(list(found), dtype=np.int64).reshape(-1, 3)
        return cls(generation=table[:, 0], at=table[:, 1], due=table[:, 2])

    @classmethod
    def joined(cls, parts: Iterable[Timers]) -> Timers:
        """Return the timers of all."""
        columns = zip(*((part.generation, part.at, part.due) for part in parts), strict=True)
        generation, at, due = (np.concatenate(column) for column in columns)
        return cls(generation=generation, at=at, due=due)

    def where(self, chosen: _Bools | _Ints) -> Timers:
        """Return some of them."""
        return Timers(generation=self.generation[chosen], at=self.at[chosen], due=self.due[chosen])


def cleanup_at(time: _Ints, preceding_us: int) -> _Ints:
    """Return the time of the clean-up timer that a row sets, µs."""
    return time + preceding_us + _slack(preceding_us) + _MS


def _slack(preceding_us: int) -> int:
    """How much newer a row must be than the one that set the last timer, to set another. Flink computes in ms."""
    return preceding_us // _MS // 2 * _MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The rows that set timers.

    Attributes:
        at: their positions, ascending.
        before: position of the row that set the key's previous timer; -1 for the first one.
    """

    at: _Ints
    before: _Ints


def follow(preceding_us: int, key: _Ints, time: _Ints, cleanup: _Ints, has_cleanup: _Bools) -> Steps:
    """Return which rows set timers, if all are ahead of the watermark.

    Args:
        preceding_us: length of the frame.
        key: key numbers, sorted; rows of one key in arrival order.
        time: of the rows, µs.
        cleanup: per key number its last timer.
        has_cleanup: per key number whether it has one.
    """
    count = len(key)
    if not count:
        nothing = np.empty(0, dtype=np.int64)
        return Steps(at=nothing, before=nothing)
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    _, group = np.unique(key, return_inverse=True)
    slack = _slack(preceding_us)
    # If the last timer was set by a row of this time, only a row newer than that + slack sets another.
    set_by = np.where(has_cleanup[key[starts]], cleanup[key[starts]] - preceding_us - slack - _MS, NEVER_FIRED)
    floor = np.maximum(set_by, int(time.min()) - slack - 1)[group]
    pairs, beyond, first = pairs_as_integers(group.astype(np.int64), time, time + slack, floor + slack)
    highest = np.maximum.accumulate(pairs)
    following = _first_above(highest, beyond, key)
    begin = _first_above(highest, first, key)[starts]
    return _walk(begin[begin >= 0], following)


def _first_above(highest: _Ints, bound: _Ints, key: _Ints) -> _Ints:
    """Return per row the first row of its key whose pair is above a bound; -1 for none."""
    found = np.searchsorted(highest, bound, side="right")
    is_there = found < len(key)
    is_there[is_there] = key[found[is_there]] == key[is_there]
    return np.where(is_there, found, -1)


def _walk(begin: _Ints, following: _Ints) -> Steps:
    """Follow the chain of rows from `begin`: all keys at once while there are many, then one by one."""
    ats, befores = [begin], [np.full(len(begin), -1, dtype=np.int64)]
    while len(begin) > _FEW:
        after = following[begin]
        befores.append(begin[after >= 0])
        begin = after[after >= 0]
        ats.append(begin)
    links: list[tuple[int, int]] = []
    for first in begin.tolist():
        position, successor = first, int(following[first])
        while successor >= 0:
            links.append((successor, position))
            position, successor = successor, int(following[successor])
    table = np.array(links, dtype=np.int64).reshape(-1, 2)
    at, before = np.concatenate([*ats, table[:, 0]]), np.concatenate([*befores, table[:, 1]])
    order = np.argsort(at)
    return Steps(at=at[order], before=before[order])


class Replay:
    """Replays the rows of one key.

    Args:
        rule: a bounded frame.
        generation: of the key; LATE if it has none.
        last: when it last fired, µs.
        timers: (at, due) of those that have not fired.
        waiting: (time, due) of pending rows that fire in this micro-batch.
        next_generation: the first unused number; increased here.
    """

    def __init__(  # noqa: PLR0913 - the state of a key
        self,
        rule: OverRule,
        *,
        generation: int,
        last: int,
        timers: Iterable[tuple[int, int]],
        waiting: Iterable[tuple[int, int]],
        next_generation: int,
    ) -> None:
        self._preceding_us = rule.frame.preceding or 0
        self._has_timers = rule.frame.unit is Unit.RANGE
        self._ttl_us = None if self._has_timers else rule.ttl_us
        self.generation = generation
        self.next_generation = next_generation
        self.timers: list[tuple[int, int, int]] = []
        self._last = last
        self._set = [(at, due, True) for at, due in timers]
        self._cleanup: int | None = max((at for at, _, _ in self._set), default=None)
        self._set += [(at, due, False) for at, due in waiting]

    def run(self, times: list[int], watermarks: list[int]) -> list[int]:
        """Return the generation of each row, or LATE."""
        found = []
        for time, watermark in zip(times, watermarks, strict=True):
            self._advance_to(watermark)
            found.append(self._process(time, watermark))
        return found

    def _process(self, time: int, watermark: int) -> int:
        if time <= self._last or (self._ttl_us is not None and time <= watermark - self._ttl_us):
            return LATE
        if self.generation == LATE:
            self.generation, self.next_generation = self.next_generation, self.next_generation + 1
        self._set.append((time, max(time, watermark + 1), False))
        if self._has_timers and (self._cleanup is None or self._cleanup < time + self._preceding_us + _MS):
            self._cleanup = time + self._preceding_us + _slack(self._preceding_us) + _MS
            due = max(self._cleanup, watermark + 1)
            self._set.append((self._cleanup, due, True))
            self.timers.append((self.generation, self._cleanup, due))
        return self.generation

    def _advance_to(self, watermark: int) -> None:
        firing = sorted((at, is_timer) for at, due, is_timer in self._set if due <= watermark)
        if not firing:
            return
        self._set = [each for each in self._set if each[1] > watermark]
        for at, is_timer in firing:
            if is_timer and self._cleanup is not None and self._cleanup <= at:
                self.generation, self._last, self._cleanup = LATE, NEVER_FIRED, None
            else:
                self._last = at
