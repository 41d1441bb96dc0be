"""Which rows an OVER window takes, and which came too late: Flink's rules, key by key.

    UNBOUNDED PRECEDING   late if ts <= watermark
    ROWS n PRECEDING      late if ts <= the last time at which the key fired
    RANGE d PRECEDING     the same, where the key's clean-up timers fire as well:
        A row that is taken sets a timer at ts + 1.5 d + 1 ms, if the last one is before ts + d + 1 ms. When the last
        one fires, the key is forgotten, and rows that come then begin a new *generation*. When an older one fires, it
        counts as a firing: rows before it are late from then on, though no row fired there.

A timer fires at the first advance of the watermark to it or beyond; one that is set for the past, at the next advance.
So a row that came behind the watermark but is taken fires at the next advance: `due`.

Theory of the columns' form. A row in front of its watermark is always taken. Where all rows of a key are, the timers
follow from the running maximum of the times, without regard to the watermark. A row behind its watermark is certainly
late if a row of its key fired at or after its time and the key has not been forgotten since. Keys with rows behind the
watermark that are not certainly late are few, and are replayed row by row.

Source: Flink RowTimeRangeBoundedPrecedingFunction, RowTimeRowsBoundedPrecedingFunction; semantics.md 4.3. Flink takes
0 for "never fired" and so drops rows of 1970 and before; here they are rows as others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.over.frames.cleanup_timers import LATE, Replay, Steps, Timers, cleanup_at, follow
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit

__all__ = ["Arrived", "Judged", "KnownKeys", "Waiting", "due_of", "judge"]

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Rows in the order in which they are judged: key number, time and watermark before it, µs."""

    key: _Ints
    time: _Ints
    stamp: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Rows of earlier batches that fire in this one: key number, time and due, µs."""

    key: _Ints
    time: _Ints
    due: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKeys:
    """What is known of each key number before the batch.

    Attributes:
        generation: LATE where the key is new or was forgotten.
        last: when it last fired, µs; NEVER_FIRED.
        cleanup: its last clean-up timer, µs; of a key without one of no meaning.
        timers: those that have not fired, sorted by generation.
    """

    generation: _Ints
    last: _Ints
    cleanup: _Ints
    timers: Timers


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of the rows and the keys.

    Attributes:
        generation: per row its generation, or LATE.
        current: per key number its generation after the rows; LATE if it has none.
        timers: those that were set in this batch.
        next_generation: the first number that no generation has had.
    """

    generation: _Ints
    current: _Ints
    timers: Timers
    next_generation: int


def due_of(arrived: Arrived) -> _Ints:
    """Return the smallest watermark at which each row fires if it is taken."""
    return np.where(arrived.time > arrived.stamp, arrived.time, arrived.stamp + 1)


def judge(rule: OverRule, arrived: Arrived, known: KnownKeys, waiting: Waiting, next_generation: int) -> Judged:
    """Return who is taken, in which generation.

    Args:
        rule: the window.
        arrived: the rows.
        known: the keys as they are at the watermark before the batch.
        waiting: rows of earlier batches that the watermark after this batch reaches.
        next_generation: the first free number.
    """
    is_behind = arrived.time <= arrived.stamp
    if rule.is_processing_time or rule.carries:
        is_taken = np.ones(len(is_behind), dtype=np.bool_) if rule.is_processing_time else ~is_behind
        return _without_timers(arrived, known, is_taken, next_generation)
    open_question = is_behind & ~_is_certainly_late(rule, arrived, known, waiting, is_behind)
    is_hard_key = np.zeros(len(known.generation), dtype=np.bool_)
    is_hard_key[arrived.key[open_question]] = True
    considered = ~is_behind | open_question
    is_hard = is_hard_key[arrived.key] & considered
    if rule.frame.unit is Unit.RANGE:
        easy = _with_timers(rule, arrived, known, considered & ~is_hard, next_generation)
    else:
        easy = _without_timers(arrived, known, considered & ~is_hard, next_generation)
    return easy if not is_hard.any() else _replayed(rule, arrived, known, waiting, is_hard, easy)


def _is_certainly_late(
    rule: OverRule, arrived: Arrived, known: KnownKeys, waiting: Waiting, is_behind: _Bools
) -> _Bools:
    found = np.zeros(len(is_behind), dtype=np.bool_)
    if not is_behind.any():
        return found
    key, time, stamp = arrived.key[is_behind], arrived.time[is_behind], arrived.stamp[is_behind]
    late = time <= known.last[key]
    low = time
    if rule.frame.unit is Unit.RANGE:
        # What fired within the frame's length is not forgotten; nor is a key whose last timer has not come.
        late &= known.cleanup[key] > stamp
        low = np.maximum(time, stamp - (rule.frame.preceding or 0))
    elif rule.ttl_us is not None:
        late |= time <= stamp - rule.ttl_us
    ahead = ~is_behind
    in_time = waiting.due == waiting.time
    times = np.concatenate([arrived.time[ahead], waiting.time[in_time]])
    keys = np.concatenate([arrived.key[ahead], waiting.key[in_time]])
    everything = pairs_as_integers(
        np.concatenate([keys, key, key]), np.concatenate([times, low, np.maximum(stamp, low)])
    )[0]
    fires, lows, highs = np.split(everything, [len(keys), len(keys) + len(key)])
    fires = np.sort(fires)
    fired_between = np.searchsorted(fires, lows, side="left") < np.searchsorted(fires, highs, side="right")
    found[is_behind] = late | (fired_between & (low <= stamp))
    return found


def _without_timers(arrived: Arrived, known: KnownKeys, is_taken: _Bools, next_generation: int) -> Judged:
    """Every key has one generation for ever."""
    generation = known.generation.copy()
    is_met = np.zeros(len(generation), dtype=np.bool_)
    is_met[arrived.key[is_taken]] = True
    fresh = np.flatnonzero(is_met & (generation == LATE))
    generation[fresh] = next_generation + np.arange(len(fresh))
    return Judged(
        generation=np.where(is_taken, generation[arrived.key], LATE),
        current=generation,
        timers=Timers.of(()),
        next_generation=next_generation + len(fresh),
    )


def _with_timers(rule: OverRule, arrived: Arrived, known: KnownKeys, is_taken: _Bools, next_generation: int) -> Judged:
    """All rows are in front of the watermark."""
    preceding_us = rule.frame.preceding or 0
    order = np.flatnonzero(is_taken)
    order = order[np.argsort(arrived.key[order], kind="stable")]
    key, time, stamp = arrived.key[order], arrived.time[order], arrived.stamp[order]
    is_known = known.generation != LATE
    steps = follow(preceding_us, key, time, known.cleanup, is_known)
    of_step, begun = _generations_of_steps(steps, key, time, stamp, known, preceding_us, next_generation)
    in_order = known.generation[key]
    place = np.searchsorted(steps.at, np.arange(len(order)), side="right") - 1
    has_step = place >= 0
    has_step[has_step] = key[steps.at[place[has_step]]] == key[has_step]
    in_order[has_step] = of_step[place[has_step]]
    generation = np.full(len(arrived.key), LATE, dtype=np.int64)
    generation[order] = in_order
    current = known.generation.copy()
    current[key[steps.at]] = of_step
    set_at = cleanup_at(time[steps.at], preceding_us)
    return Judged(
        generation=generation,
        current=current,
        timers=Timers(generation=of_step, at=set_at, due=set_at),
        next_generation=next_generation + begun,
    )


def _generations_of_steps(  # noqa: PLR0913, PLR0917 - columns of one table
    steps: Steps, key: _Ints, time: _Ints, stamp: _Ints, known: KnownKeys, preceding_us: int, next_generation: int
) -> tuple[_Ints, int]:
    """Return the generation of each row that sets a timer, and how many are new.

    A row begins one if its key had none, or if the timer before has fired by the time it comes: the key was forgotten.
    """
    of_key = known.generation[key[steps.at]]
    is_first = steps.before < 0
    before = np.where(is_first, known.cleanup[key[steps.at]], cleanup_at(time[steps.before], preceding_us))
    begins = (is_first & (of_key == LATE)) | (before <= stamp[steps.at])
    numbers = np.where(begins, next_generation + np.cumsum(begins) - 1, of_key)
    decides = np.maximum.accumulate(np.where(begins | is_first, np.arange(len(begins)), 0))
    return numbers[decides], int(begins.sum())


def _replayed(  # noqa: PLR0913, PLR0917 - what was judged, and what of it was not
    rule: OverRule, arrived: Arrived, known: KnownKeys, waiting: Waiting, is_hard: _Bools, easy: Judged
) -> Judged:
    """Add to what was judged the keys whose rows have to be taken one by one."""
    rows = np.flatnonzero(is_hard)
    rows = rows[np.argsort(arrived.key[rows], kind="stable")]
    keys, starts = np.unique(arrived.key[rows], return_index=True)
    waiting_order = np.argsort(waiting.key, kind="stable")
    waiting_keys = waiting.key[waiting_order]
    firing = list(zip(waiting.time[waiting_order].tolist(), waiting.due[waiting_order].tolist(), strict=True))
    waits = [np.searchsorted(waiting_keys, keys, side=side) for side in ("left", "right")]
    sets = [np.searchsorted(known.timers.generation, known.generation[keys], side=side) for side in ("left", "right")]
    next_generation, timers = easy.next_generation, [easy.timers]
    for number, (key, members) in enumerate(zip(keys.tolist(), np.split(rows, starts[1:]), strict=True)):
        own = known.timers.where(np.arange(sets[0][number], sets[1][number]))
        replay = Replay(
            rule,
            generation=int(known.generation[key]),
            last=int(known.last[key]),
            timers=zip(own.at.tolist(), own.due.tolist(), strict=True),
            waiting=firing[waits[0][number] : waits[1][number]],
            next_generation=next_generation,
        )
        easy.generation[members] = replay.run(arrived.time[members].tolist(), arrived.stamp[members].tolist())
        easy.current[key] = replay.generation
        next_generation = replay.next_generation
        timers.append(Timers.of(replay.timers))
    return Judged(
        generation=easy.generation,
        current=easy.current,
        timers=Timers.joined(timers),
        next_generation=next_generation,
    )
