"""Decoded versions that a Python worker caches, so that a small micro-batch need not read a large state.

Spark chooses the worker of a bucket, so a cached entry may be old, or the work of a failed attempt. The segments that
the bucket's state header lists decide: cached segments among them are reused, the others are read. A segment's token
identifies the attempt that wrote it, so segments of two attempts at one micro-batch are not confused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from datasources.spark.operators.buckets.bucket_segments import SegmentStore, StateSegment
from datasources.spark.operators.temporal.versions.versions import Versions

DEFAULT_CACHE_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedVersions:
    """Versions and the segments they were read from."""

    segments: tuple[StateSegment, ...]
    versions: Versions


@dataclass(slots=True)
class VersionCache:
    """LRU cache of the versions of buckets, limited by size."""

    max_bytes: int = DEFAULT_CACHE_BYTES
    _entries: OrderedDict[Hashable, tuple[CachedVersions, int]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def get(self, key: Hashable) -> CachedVersions | None:
        """Return the entry of the key."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: Hashable, known: CachedVersions) -> None:
        """Add an entry, and evict the least recently added ones over the limit."""
        self.forget(key)
        size = known.versions.nbytes
        self._entries[key] = (known, size)
        self._bytes += size
        while self._bytes > self.max_bytes:
            self.forget(next(iter(self._entries)))

    def forget(self, key: Hashable) -> None:
        """Remove an entry."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[1]


def load_versions(
    store: SegmentStore, segments: Sequence[StateSegment], cached: CachedVersions | None
) -> Versions | None:
    """Return the versions of these segments, reading only segments that are not cached; None if there are none.

    The cache entry may be of any micro-batch and attempt.
    """
    if not segments:
        return None
    cached_segments = () if cached is None else cached.segments
    shared = 0
    while shared < min(len(cached_segments), len(segments)) and cached_segments[shared] == segments[shared]:
        shared += 1
    read = [store.read(segment.number) for segment in segments[shared:]]
    if cached is None or not shared:
        return Versions.of(pa.concat_tables(read))
    versions = cached.versions
    if shared < len(cached_segments):
        versions = versions.before(cached_segments[shared].first)
    versions = versions.added(pa.concat_tables(read)) if read else versions
    return versions.compact() if versions.rows.num_rows > 2 * versions.count else versions
