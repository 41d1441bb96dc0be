"""Laws of the temporal joins: the bucket operator gives what the rule says, however rows fall into batches."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.temporal.versions.version_cache import VersionCache
from tests.support.forms import full
from tests.support.oracles.temporal_join_model import (
    Batch,
    Change,
    Probe,
    event_time_model,
    processing_time_model,
    whole_history,
)
from tests.support.spark.temporal_join_bucket import MS, MemoryJoinStore, pairs_of, rule, run_bucket

no_deadline = settings(deadline=None)  # the first example pays for imports
START = 1_000
END = 100_000
KEYS = st.sampled_from(["a", "b", "c", "c", None])
KINDS = st.sampled_from(["+I", "+U", "+U", "+U", "-D", "-U", "T"])
NULLS = st.sampled_from([False] * 15 + [True])
# How far time goes on with a row, and how far the row itself lies behind.
MOVES = st.tuples(st.integers(0, 4), st.integers(0, 12), NULLS)
DELAYS = st.integers(0, 14)
LONGEST = 13
BEGINS = st.sampled_from([0, START])  # around the epoch a watermark is none, and no row is late


def timed(begin: int, moves: list[tuple[int, int, bool]]) -> list[int | None]:
    fronts = accumulate((step for step, _, _ in moves), initial=begin)
    next(fronts)
    return [None if is_null else front - back for front, (_, back, is_null) in zip(fronts, moves, strict=True)]


def watermarks(times: list[int | None], delay: int) -> list[int | None]:
    """The watermark ts - delay after each row; Spark carries none at or below the epoch."""
    candidates = [None if ts is None or ts <= delay else ts - delay for ts in times]
    return list(accumulate(candidates, _later))


def _later(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


@st.composite
def changelogs(draw: Any, begin: int, *, punctual: bool) -> tuple[list[Change], list[int | None], set[int]]:
    """Changes, the watermark after each, and the places before which no batch may be cut: inside a pair."""
    drawn = draw(st.lists(st.tuples(KINDS, KEYS, MOVES, st.sampled_from([None, None, "same", "a", "c"])), max_size=30))
    times = timed(begin, [moves for _, _, moves, _ in drawn])
    rows: list[tuple[str, Any, int | None]] = []
    inside: set[int] = set()
    for ts, (kind, key, (_, back, _), image_of) in zip(times, drawn, strict=True):
        if kind == "+U" and image_of is not None:
            # The image before an update may carry the time of the version that it shows.
            rows.append(("-U", key if image_of == "same" else image_of, ts if punctual or back % 2 else begin))
            inside.add(len(rows))
        rows.append((kind, None if kind == "T" else key, ts))
    after = watermarks([ts for _, _, ts in rows], LONGEST if punctual else draw(DELAYS))
    changes = [
        Change(kind=kind, key=key, ts=ts, value=value, watermark=watermark)
        for value, ((kind, key, ts), watermark) in enumerate(zip(rows, [None, *after], strict=False))
    ]
    return changes, after, inside


@st.composite
def probe_streams(draw: Any, begin: int) -> tuple[list[Probe], list[int | None]]:
    drawn = draw(st.lists(st.tuples(KEYS, MOVES), max_size=30))
    times = timed(begin, [moves for _, moves in drawn])
    after = watermarks(times, draw(DELAYS))
    probes = [
        Probe(id=number, key=key, ts=ts, watermark=watermark)
        for number, ((key, _), ts, watermark) in enumerate(zip(drawn, times, [None, *after], strict=False))
    ]
    return probes, after


def cut(draw: Any, count: int, batches: int, inside: set[int] = frozenset()) -> list[int]:  # type: ignore[assignment]
    """Return where batches begin and end."""
    positions = sorted(draw(st.lists(st.integers(0, count), min_size=batches - 1, max_size=batches - 1)))
    return [0, *(position + 1 if position in inside else position for position in positions), count]


@st.composite
def histories(draw: Any, *, punctual: bool = False) -> list[Batch]:
    """Both streams, each cut on its own; the last batch may end them both. Punctual: no change is late."""
    begin = draw(BEGINS)
    changes, build_after, inside = draw(changelogs(begin, punctual=punctual))
    probes, probe_after = draw(probe_streams(begin))
    count = draw(st.integers(1, 16))
    batches = []
    build_ends = pairwise(cut(draw, len(changes), count, inside))
    probe_ends = pairwise(cut(draw, len(probes), count))
    for (b0, b1), (p0, p1) in zip(build_ends, probe_ends, strict=True):
        batches.append(
            Batch(
                changes=changes[b0:b1],
                probes=probes[p0:p1],
                build_watermark=build_after[b1 - 1] if b1 else None,
                probe_watermark=probe_after[p1 - 1] if p1 else None,
            )
        )
    if draw(st.booleans()):
        batches.append(Batch(build_watermark=END, probe_watermark=END))
    return batches


@settings(deadline=None, max_examples=150)
@given(batches=histories(), left=st.booleans(), processes=st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_every_batch_gives_what_the_rule_gives_whichever_process_takes_it(batches, left, processes):
    wanted = event_time_model(batches, left=left)
    store = MemoryJoinStore()
    caches = [VersionCache(), VersionCache(), VersionCache(max_bytes=0)]
    results = run_bucket(batches, rule(left=left), store=store, caches=caches, processes=processes)
    assert [pairs_of(result) for result in results] == wanted.rows
    header = store.header()
    for name in ("late_probe_rows", "late_build_rows", "null_rowtime_rows", "null_key_build_rows"):
        assert getattr(header, name) == getattr(wanted, name) == sum(getattr(result, name) for result in results)


@settings(deadline=None, max_examples=100)
@given(batches=histories(punctual=True), left=st.booleans())
def test_if_no_change_is_late_the_cuts_do_not_matter(batches, left):
    changes = [change for batch in batches for change in batch.changes]
    build = max((b.build_watermark for b in batches if b.build_watermark is not None), default=None)
    probe = max((b.probe_watermark for b in batches if b.probe_watermark is not None), default=None)
    probes = [row for batch in batches for row in batch.probes]
    results = run_bucket(batches, rule(left=left))
    clock = -END if build is None or probe is None else min(build, probe)
    assert sorted(pair for result in results for pair in pairs_of(result)) == whole_history(
        changes, probes, clock, left=left
    )


@settings(deadline=None, max_examples=100)
@given(batches=histories(), left=st.booleans(), processes=st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_in_processing_time_each_row_joins_the_latest_version(batches, left, processes):
    timed = [
        Batch(
            changes=[replace(change, ts=START) for change in batch.changes],
            probes=[replace(probe, ts=START) for probe in batch.probes],
            probe_watermark=batch.probe_watermark,
        )
        for batch in batches
    ]
    wanted = processing_time_model(timed, left=left)
    caches = [VersionCache(), VersionCache(), VersionCache(max_bytes=0)]
    results = run_bucket(timed, rule(left=left, processing_time=True), caches=caches, processes=processes)
    assert [pairs_of(result) for result in results] == wanted.rows


def long_history(seed: int) -> list[Batch]:
    """Many rows of few keys, the build side's watermark now behind and now ahead."""
    drawn = random.Random(seed)
    rows: dict[str, list[Any]] = {"build": [], "probe": []}
    after: dict[str, list[int | None]] = {}
    for side, delay in (("build", drawn.randrange(25)), ("probe", drawn.randrange(10))):
        moves = [(drawn.randrange(3), drawn.randrange(12), drawn.random() < 0.02) for _ in range(150)]
        times = timed(START, moves)
        after[side] = watermarks(times, delay)
        for number, (ts, watermark) in enumerate(zip(times, [None, *after[side]], strict=False)):
            key = drawn.choice(["a", "a", "b", "c", "e", None])
            kind = drawn.choice(["+I", "+U"] * 10 + ["-D"] * 8 + ["T"])
            row = Change(kind=kind, key=None if kind == "T" else key, ts=ts, value=number, watermark=watermark)
            rows[side].append(row if side == "build" else Probe(id=number, key=key, ts=ts, watermark=watermark))
    ends = {side: sorted(drawn.randrange(151) for _ in range(39)) for side in rows}
    batches, b0, p0 = [], 0, 0
    for b1, p1 in zip([*ends["build"], 150], [*ends["probe"], 150], strict=True):
        watermark = {side: after[side][end - 1] if end else None for side, end in (("build", b1), ("probe", p1))}
        batches.append(
            Batch(
                changes=rows["build"][b0:b1],
                probes=rows["probe"][p0:p1],
                build_watermark=watermark["build"],
                probe_watermark=watermark["probe"],
            )
        )
        b0, p0 = b1, p1
    return [*batches, Batch(build_watermark=END, probe_watermark=END)]


@pytest.mark.parametrize("seed", [0, 1, *full(*range(2, 8))])
def test_long_histories_in_which_old_versions_are_purged_on_the_way_give_what_the_rule_gives(seed):
    for number in range(4):
        batches = long_history(seed * 100 + number)
        caches = [VersionCache(), VersionCache(), VersionCache(max_bytes=0)]
        processes = [number % 3, 0, 1, 2, 0]
        store = MemoryJoinStore()
        results = run_bucket(batches, rule(), store=store, caches=caches, processes=processes)
        assert [pairs_of(result) for result in results] == event_time_model(batches, left=True).rows
        results = run_bucket(batches, rule(processing_time=True), caches=caches[2:])
        keyed = [
            replace(batch, changes=[c for c in batch.changes if c.ts], probes=[p for p in batch.probes if p.ts])
            for batch in batches
        ]
        assert [pairs_of(result) for result in results] == processing_time_model(keyed, left=True).rows


@no_deadline
@given(batches=histories(), left=st.booleans())
def test_rows_leave_with_a_watermark_below_their_time_and_a_heartbeat_at_or_above_it(batches, left):
    times = {probe.id: probe.ts * MS for batch in batches for probe in batch.probes if probe.ts is not None}
    clock_us = 0
    for result in run_bucket(batches, rule(left=left)):
        assert result.watermark_us == clock_us
        clock_us = result.clock_us
        for number, _ in pairs_of(result):
            assert result.watermark_us < times[number] or not result.watermark_us
            assert times[number] <= result.clock_us


@settings(deadline=None, max_examples=60)
@given(keys=st.lists(st.sampled_from("ab"), min_size=1, max_size=120), size=st.integers(1, 9))  # two hashes
def test_versions_that_no_row_can_match_are_purged(keys, size):
    changes = [Change(kind="+U", key=key, ts=START + position, value=position) for position, key in enumerate(keys)]
    batches = [
        Batch(
            changes=changes[at : at + size],
            build_watermark=START + at + size - 1,
            probe_watermark=START + at + size - 1,
        )
        for at in range(0, len(changes), size)
    ]
    store = MemoryJoinStore()
    run_bucket(batches, rule(), store=store)
    # Of each key the newest version, and those of the last two batches, may still be met.
    assert store.versions.rows <= 2 * (len(set(keys)) + 2 * size)
    assert sum(segment.rows for segment in store.header().versions) == store.versions.rows
    assert len(store.versions.blobs) == len(store.header().versions)


@settings(deadline=None, max_examples=60)
@given(batches=histories())
def test_after_the_end_no_row_is_pending_and_no_segment_is_left(batches):
    end = Batch(build_watermark=2 * END, probe_watermark=2 * END)
    store = MemoryJoinStore()
    run_bucket([*batches, end], rule(), store=store)
    assert store.pending.blobs == {}
    assert store.header().pending == ()
