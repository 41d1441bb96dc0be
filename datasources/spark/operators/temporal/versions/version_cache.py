"""Decoded versions that a Python worker keeps, so that a small batch need not read a large state.

Which worker gets a bucket is Spark's choice, so what a worker has may be old, or be what a failed attempt left. What
counts are the parts that the bucket's brief names: whoever has some of them reads the others only. A part's token says
who wrote it, so that parts of two attempts at one batch are not taken for each other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from datasources.spark.operators.buckets.bucket_segments import Part, PartStore
from datasources.spark.operators.temporal.versions.versions import Versions

__all__ = ["DEFAULT_CACHE_BYTES", "Known", "VersionCache", "load_versions"]

DEFAULT_CACHE_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Versions and the parts that hold them."""

    parts: tuple[Part, ...]
    versions: Versions


@dataclass(slots=True)
class VersionCache:
    """The versions of the buckets that were used last, up to a number of bytes.

    Attributes:
        most_bytes: what all of them may take together.
    """

    most_bytes: int = DEFAULT_CACHE_BYTES
    _kept: OrderedDict[Hashable, tuple[Known, int]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def get(self, key: Hashable) -> Known | None:
        """Return what is kept under the key."""
        kept = self._kept.get(key)
        return None if kept is None else kept[0]

    def put(self, key: Hashable, known: Known) -> None:
        """Keep it, and let go of what was not used for longest."""
        self.forget(key)
        size = known.versions.nbytes
        self._kept[key] = (known, size)
        self._bytes += size
        while self._bytes > self.most_bytes:
            self.forget(next(iter(self._kept)))

    def forget(self, key: Hashable) -> None:
        """Let go of one."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept[1]


def load_versions(store: PartStore, parts: Sequence[Part], cached: Known | None) -> Versions | None:
    """Return the versions that these parts hold, reading only parts that are not cached; None if there are no parts.

    Args:
        store: where the parts are.
        parts: what the bucket's brief names, in order.
        cached: what is known already, of whatever batch and attempt.
    """
    if not parts:
        return None
    had = () if cached is None else cached.parts
    same = 0
    while same < min(len(had), len(parts)) and had[same] == parts[same]:
        same += 1
    read = [store.read(part.number) for part in parts[same:]]
    if cached is None or not same:
        return Versions.of(pa.concat_tables(read))
    versions = cached.versions
    if same < len(had):
        versions = versions.before(had[same].first)
    versions = versions.added(pa.concat_tables(read)) if read else versions
    return versions.compact() if versions.rows.num_rows > 2 * versions.count else versions
