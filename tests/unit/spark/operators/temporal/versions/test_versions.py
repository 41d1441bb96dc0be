"""Segments of state, the state header, cached versions and dropped before-images of the temporal joins, each on its own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.buckets.bucket_segments import StateSegment, merge_from
from datasources.spark.operators.temporal.temporal_state import JoinStateHeader
from datasources.spark.operators.temporal.versions.changelog_images import drop_replaced_images
from datasources.spark.operators.temporal.versions.version_cache import CachedVersions, VersionCache, load_versions
from datasources.spark.operators.temporal.versions.version_changes import (
    DELETE,
    INSERT,
    KIND_COLUMN,
    UPDATE_AFTER,
    UPDATE_BEFORE,
)
from datasources.spark.operators.temporal.versions.versions import (
    ARRIVAL_COLUMN,
    DELETED_COLUMN,
    HASH_COLUMN,
    KEY_PREFIX,
    TIME_COLUMN,
    Versions,
)
from tests.support.oracles.temporal_join_model import Batch, Change
from tests.support.spark.temporal_join_bucket import MS, MemoryJoinStore, MemorySegments, rule, run_bucket


def segment(number: int, rows: int, *, first: int = 0, token: str = "") -> StateSegment:
    return StateSegment(number=number, token=token, first=first, rows=rows)


def versions_table(*rows: tuple[str, int, int]) -> pa.Table:
    keys, times, arrivals = zip(*rows, strict=True)
    return pa.table(
        {
            f"{KEY_PREFIX}0": list(keys),
            HASH_COLUMN: [hash(key) for key in keys],
            TIME_COLUMN: times,
            ARRIVAL_COLUMN: arrivals,
            DELETED_COLUMN: [False] * len(rows),
        }
    )


def test_a_new_segment_merges_earlier_ones_that_are_not_larger():
    segments = [segment(0, 100), segment(1, 10), segment(2, 4)]
    assert merge_from(segments, 3) == 3
    assert merge_from(segments, 4) == 2
    assert merge_from(segments, 6) == 1
    assert merge_from(segments, 86) == 0
    assert merge_from(segments, 86, max_rows=100) == 1


def test_many_small_batches_leave_few_segments_and_rewrite_rows_rarely():
    store = MemoryJoinStore()
    batches = [Batch(changes=[Change(kind="+I", key=chr(100 + number), ts=1)]) for number in range(500)]
    run_bucket(batches, rule(), store=store)
    assert len(store.versions.blobs) <= 10
    assert store.versions.rows == 500
    assert store.versions.written_rows <= 500 * 10


def test_a_state_header_survives_its_json_text():
    header = JoinStateHeader(
        probe_clock_us=5, versions=(segment(3, 7, first=2, token="1-2"),), pending=(segment(4, 1),), next_segment=5
    )
    assert JoinStateHeader.from_json(header.to_json()) == header
    assert JoinStateHeader().clock_us < 0


def test_only_segments_that_are_not_cached_are_read():
    store = MemorySegments()
    store.write(0, versions_table(("a", 1, 0), ("b", 1, 1)))
    store.write(1, versions_table(("a", 5, 2)))
    first, second = segment(0, 2), segment(1, 1, first=2)
    known = CachedVersions(segments=(first,), versions=load_versions(store, (first,), None))
    reads = store.reads
    both = load_versions(store, (first, second), known)
    assert (both.count, store.reads - reads) == (3, 1)
    # The same number by another attempt is another part.
    other = load_versions(
        store, (first, segment(1, 1, first=2, token="again")), CachedVersions(segments=(first, second), versions=both)
    )
    assert (other.count, store.reads - reads) == (3, 2)
    assert sorted(other.arrival.tolist()) == [0, 1, 2]


def test_the_cache_lets_go_of_what_was_used_longest_ago():
    versions = Versions.of(versions_table(("a", 1, 0)))
    cache = VersionCache(max_bytes=2 * versions.nbytes)
    for name in ("one", "two", "one", "three"):
        cache.put(name, CachedVersions(segments=(), versions=versions))
    assert [cache.get(name) is None for name in ("one", "two", "three")] == [False, True, False]


def test_a_deletion_is_known_for_ever_unless_it_may_be_forgotten():
    def stored(forget_ms: int | None) -> int:
        store = MemoryJoinStore()
        gone = [Change(kind=kind, key="a", ts=ts) for kind, ts in (("+I", 1), ("-D", 2))]
        later = [[Change(kind="+I", key="b", ts=ts)] for ts in (1_000, 1_001, 1_002)]
        batches = [Batch(changes=rows, build_watermark=5_000, probe_watermark=5_000) for rows in (gone, *later)]
        run_bucket(batches, rule(forget_ms=forget_ms), store=store)
        return sum(
            1
            for blob in store.versions.blobs
            for key in column(store.versions.read(blob), f"{KEY_PREFIX}0")
            if key == "a"
        )

    assert stored(None) == 1
    assert stored(4_000) == 0
    assert stored(4_999) == 1


def column(table: pa.Table, name: str) -> list[str]:
    return [str(value) for value in table.column(name).to_pylist()]


IMAGES = [
    # kinds and keys as read, places that stay
    (((UPDATE_BEFORE, "a"), (UPDATE_AFTER, "a")), [1]),
    (((UPDATE_BEFORE, "a"), (UPDATE_AFTER, "b")), [0, 1]),
    (((UPDATE_BEFORE, "a"), (UPDATE_BEFORE, "b"), (UPDATE_AFTER, "b"), (UPDATE_AFTER, "a")), [0, 2, 3]),
    (((UPDATE_BEFORE, "a"), (INSERT, "a"), (DELETE, "a"), (UPDATE_AFTER, "a")), [0, 1, 2, 3]),
    (((UPDATE_AFTER, "a"), (UPDATE_BEFORE, "a")), [0, 1]),
]


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize(("rows", "stays"), IMAGES)
def test_an_image_before_an_update_goes_if_the_image_after_has_its_key_wherever_arrow_cuts(rows, stays, size):
    kinds, keys = zip(*rows, strict=True)
    table = pa.table(
        {
            "place": range(len(rows)),
            KIND_COLUMN: pa.array(kinds, pa.int8()),
            HASH_COLUMN: pa.array(np.full(len(rows), 1)),  # equal on purpose
            f"{KEY_PREFIX}0": keys,
        }
    )
    read = drop_replaced_images(iter(table.to_batches(max_chunksize=size)))
    assert [position for batch in read for position in batch.column("place").to_pylist()] == stays


def test_nothing_read_is_nothing_handed_on():
    empty = pa.RecordBatch.from_pydict({"place": pa.array([], pa.int64())})
    assert list(drop_replaced_images(iter([empty]))) == []


def test_times_around_the_epoch_are_times_like_all_others():
    """Rows of a snapshot have the time 0, and a watermark that has not begun travels as 0."""
    snapshot = Batch(changes=[Change(kind="+I", key="a", ts=0, value=1), Change(kind="+I", key="b", ts=-5, value=2)])
    store = MemoryJoinStore()
    results = run_bucket([snapshot, Batch(build_watermark=10, probe_watermark=10)], rule(), store=store)
    assert [result.late_build_rows for result in results] == [0, 0]
    versions = load_versions(store.versions, store.header().versions, None)
    assert sorted(versions.time.tolist()) == [-5 * MS, 0]
