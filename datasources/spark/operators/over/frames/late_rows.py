"""Which rows an OVER window accepts and which are late: Flink's rules, key by key.

    UNBOUNDED PRECEDING   late if ts <= watermark
    ROWS n PRECEDING      late if ts <= the last time at which the key fired
    RANGE d PRECEDING     the same, but the key's clean-up timers fire as well:
        An accepted row sets a timer at ts + 1.5 d + 1 ms if the last one is before ts + d + 1 ms. When the last timer
        fires, the key's state is cleared, and later rows start a new *generation*. An earlier timer counts as a firing:
        rows before it are late from then on, although no row fired there.

A timer fires at the first watermark at or beyond it; a timer set in the past fires at the next one. So an accepted row
behind the watermark fires at the next watermark: `due`.

How the columnar form works. A row ahead of its watermark is always accepted. If all rows of a key are, its timers
follow from the running maximum of the times, whatever the watermark. A row behind its watermark is certainly late if a
row of its key fired at or after its time and the key has not been cleared since. Few keys have rows behind the
watermark that are not certainly late; those are replayed row by row.

Source: Flink RowTimeRangeBoundedPrecedingFunction, RowTimeRowsBoundedPrecedingFunction. Flink uses 0 for "never fired"
and so drops rows of 1970 and before; here they are ordinary rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.spark.operators.buckets.key_ranks import pairs_as_integers
from datasources.spark.operators.over.frames.cleanup_timers import LATE, Replay, Steps, Timers, cleanup_at, follow
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Rows in processing order: key number, time and row watermark, µs."""

    key: _Ints
    time: _Ints
    watermark: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRows:
    """Pending rows of earlier micro-batches that fire in this one: key number, time and due, µs."""

    key: _Ints
    time: _Ints
    due: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKeys:
    """State of each key number before the micro-batch.

    Attributes:
        generation: LATE where the key is new or was cleared.
        last: when it last fired, µs; NEVER_FIRED.
        cleanup: its last clean-up timer, µs; undefined for a key without one.
        timers: those that have not fired, sorted by generation.
    """

    generation: _Ints
    last: _Ints
    cleanup: _Ints
    timers: Timers


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedGenerations:
    """Result: generations of rows and keys, and new timers.

    Attributes:
        generation: per row its generation, or LATE.
        current: per key number its generation after the rows; LATE if it has none.
        timers: those set in this micro-batch.
        next_generation: the first unused number.
    """

    generation: _Ints
    current: _Ints
    timers: Timers
    next_generation: int


def due_of(arrived: Arrived) -> _Ints:
    """Return the smallest watermark at which each row fires if it is accepted."""
    return np.where(arrived.time > arrived.watermark, arrived.time, arrived.watermark + 1)


def assign_generations(
    rule: OverRule, arrived: Arrived, known: KnownKeys, waiting: DueRows, next_generation: int
) -> AssignedGenerations:
    """Return the generation of each row, LATE for rows that are not accepted.

    Args:
        rule: the window.
        arrived: the rows.
        known: the keys at the watermark before the micro-batch.
        waiting: pending rows that the watermark after this micro-batch reaches.
        next_generation: the first unused number.
    """
    is_behind = arrived.time <= arrived.watermark
    if rule.is_processing_time or rule.carries:
        is_accepted = np.ones(len(is_behind), dtype=np.bool_) if rule.is_processing_time else ~is_behind
        return _without_timers(arrived, known, is_accepted, next_generation)
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
    rule: OverRule, arrived: Arrived, known: KnownKeys, waiting: DueRows, is_behind: _Bools
) -> _Bools:
    found = np.zeros(len(is_behind), dtype=np.bool_)
    if not is_behind.any():
        return found
    key, time, watermark = arrived.key[is_behind], arrived.time[is_behind], arrived.watermark[is_behind]
    late = time <= known.last[key]
    low = time
    if rule.frame.unit is Unit.RANGE:
        # A key that fired within the frame's length, or whose last timer has not fired, is not cleared.
        late &= known.cleanup[key] > watermark
        low = np.maximum(time, watermark - (rule.frame.preceding or 0))
    elif rule.ttl_us is not None:
        late |= time <= watermark - rule.ttl_us
    ahead = ~is_behind
    in_time = waiting.due == waiting.time
    times = np.concatenate([arrived.time[ahead], waiting.time[in_time]])
    keys = np.concatenate([arrived.key[ahead], waiting.key[in_time]])
    everything = pairs_as_integers(
        np.concatenate([keys, key, key]), np.concatenate([times, low, np.maximum(watermark, low)])
    )[0]
    fires, lows, highs = np.split(everything, [len(keys), len(keys) + len(key)])
    fires = np.sort(fires)
    fired_between = np.searchsorted(fires, lows, side="left") < np.searchsorted(fires, highs, side="right")
    found[is_behind] = late | (fired_between & (low <= watermark))
    return found


def _without_timers(
    arrived: Arrived, known: KnownKeys, is_accepted: _Bools, next_generation: int
) -> AssignedGenerations:
    """Every key keeps one generation."""
    generation = known.generation.copy()
    is_reached = np.zeros(len(generation), dtype=np.bool_)
    is_reached[arrived.key[is_accepted]] = True
    fresh = np.flatnonzero(is_reached & (generation == LATE))
    generation[fresh] = next_generation + np.arange(len(fresh))
    return AssignedGenerations(
        generation=np.where(is_accepted, generation[arrived.key], LATE),
        current=generation,
        timers=Timers.of(()),
        next_generation=next_generation + len(fresh),
    )


def _with_timers(
    rule: OverRule, arrived: Arrived, known: KnownKeys, is_accepted: _Bools, next_generation: int
) -> AssignedGenerations:
    """All rows are ahead of the watermark."""
    preceding_us = rule.frame.preceding or 0
    order = np.flatnonzero(is_accepted)
    order = order[np.argsort(arrived.key[order], kind="stable")]
    key, time, watermark = arrived.key[order], arrived.time[order], arrived.watermark[order]
    is_known = known.generation != LATE
    steps = follow(preceding_us, key, time, known.cleanup, is_known)
    of_step, begun = _generations_of_steps(steps, key, time, watermark, known, preceding_us, next_generation)
    in_order = known.generation[key]
    position = np.searchsorted(steps.at, np.arange(len(order)), side="right") - 1
    has_step = position >= 0
    has_step[has_step] = key[steps.at[position[has_step]]] == key[has_step]
    in_order[has_step] = of_step[position[has_step]]
    generation = np.full(len(arrived.key), LATE, dtype=np.int64)
    generation[order] = in_order
    current = known.generation.copy()
    current[key[steps.at]] = of_step
    set_at = cleanup_at(time[steps.at], preceding_us)
    return AssignedGenerations(
        generation=generation,
        current=current,
        timers=Timers(generation=of_step, at=set_at, due=set_at),
        next_generation=next_generation + begun,
    )


def _generations_of_steps(  # noqa: PLR0913, PLR0917 - columns of one table
    steps: Steps, key: _Ints, time: _Ints, watermark: _Ints, known: KnownKeys, preceding_us: int, next_generation: int
) -> tuple[_Ints, int]:
    """Return the generation of each row that sets a timer, and how many are new.

    A row starts a new one if its key had none, or if the previous timer has fired and cleared the key.
    """
    of_key = known.generation[key[steps.at]]
    is_first = steps.before < 0
    before = np.where(is_first, known.cleanup[key[steps.at]], cleanup_at(time[steps.before], preceding_us))
    begins = (is_first & (of_key == LATE)) | (before <= watermark[steps.at])
    numbers = np.where(begins, next_generation + np.cumsum(begins) - 1, of_key)
    decides = np.maximum.accumulate(np.where(begins | is_first, np.arange(len(begins)), 0))
    return numbers[decides], int(begins.sum())


def _replayed(  # noqa: PLR0913, PLR0917 - the columns of the fast and the slow path
    rule: OverRule, arrived: Arrived, known: KnownKeys, waiting: DueRows, is_hard: _Bools, easy: AssignedGenerations
) -> AssignedGenerations:
    """Add the keys whose rows must be replayed one by one."""
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
        easy.generation[members] = replay.run(arrived.time[members].tolist(), arrived.watermark[members].tolist())
        easy.current[key] = replay.generation
        next_generation = replay.next_generation
        timers.append(Timers.of(replay.timers))
    return AssignedGenerations(
        generation=easy.generation,
        current=easy.current,
        timers=Timers.joined(timers),
        next_generation=next_generation,
    )
