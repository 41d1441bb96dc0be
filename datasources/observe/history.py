"""The newest samples of every split, bounded in every direction.

Theory of operation. A source's samples share one ring of times; each of its splits has rings of the same length beside
it, so that sample *n* of all of them is in slot ``n % samples``. A slot of a split that was not in the table holds no
value. Where a source has more splits than are kept, those that hold it back are: a split that becomes one of the worst
replaces the best. The lowest, median and highest watermark of *all* splits that count are kept as well.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from datasources.observe.tables import STATUSES, Table, is_counted, worst_first
from watermark.clock import Clock

_NONE: Final = -(1 << 63)
_MAX_VALUE: Final = (1 << 63) - 1
_ABSENT: Final = "-"
_UNKNOWN: Final = "?"
_LETTERS: Final = {status: status[0] for status in STATUSES}
_WORST: Final = 20
_MICROS_PER_MILLI: Final = 1_000
_NANOS_PER_SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLimits:
    """The limits of the history. With the defaults: 10 minutes of one sample a second in at most 25 MB.

    Attributes:
        samples: per source and split; older ones are overwritten.
        splits: kept of one source.
        sources: kept at the same time; of more, those that come first in the tables.
        series: splits of all sources together; each source gets an equal part.
        forget_after_s: how long a source without a table is kept.
    """

    samples: int = 600
    splits: int = 200
    sources: int = 100
    series: int = 2_000
    forget_after_s: float = 60.0


class _Ring:
    """Numbers or nothing, the newest `size` of them, 8 bytes each."""

    __slots__ = ("_values",)

    def __init__(self, size: int) -> None:
        self._values = array("q", [_NONE]) * size

    def put(self, sequence: int, value: int | None) -> None:
        self._values[sequence % len(self._values)] = _NONE if value is None else max(_NONE + 1, min(_MAX_VALUE, value))

    def read(self, start: int, stop: int) -> list[int | None]:
        first, end = start % len(self._values), start % len(self._values) + stop - start
        values = self._values[first:end] + self._values[: max(0, end - len(self._values))]
        return [None if value == _NONE else value for value in values]


class _Letters:
    """Statuses, one byte each."""

    __slots__ = ("_values",)

    def __init__(self, size: int) -> None:
        self._values = bytearray(_ABSENT.encode() * size)

    def put(self, sequence: int, status: str | None) -> None:
        letter = _ABSENT if status is None else _LETTERS.get(status, _UNKNOWN)
        self._values[sequence % len(self._values)] = ord(letter)

    def read(self, start: int, stop: int) -> str:
        first, end = start % len(self._values), start % len(self._values) + stop - start
        return (self._values[first:end] + self._values[: max(0, end - len(self._values))]).decode("ascii")


class _SplitSeries:
    __slots__ = ("_lag", "_status", "_watermark", "seen")

    def __init__(self, size: int, seen: int) -> None:
        self._watermark = _Ring(size)
        self._lag = _Ring(size)
        self._status = _Letters(size)
        self.seen = seen

    def put(self, sequence: int, split: Table | None) -> None:
        self._watermark.put(sequence, None if split is None else split["watermark"])
        self._lag.put(sequence, None if split is None else split["lag"])
        self._status.put(sequence, None if split is None else split["status"])
        if split is not None:
            self.seen = sequence

    def read(self, start: int, stop: int) -> dict[str, Any]:
        return {
            "watermark": self._watermark.read(start, stop),
            "lag": self._lag.read(start, stop),
            "status": self._status.read(start, stop),
        }


_SHARED: Final = ("times", "watermark", "max_allowed", "low", "median", "high")


@dataclass(slots=True)
class _Source:
    size: int
    next: int = 0
    seen_ns: int = 0
    shared: dict[str, _Ring] = field(default_factory=dict)
    splits: dict[str, _SplitSeries] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shared = {name: _Ring(self.size) for name in _SHARED}

    def put(self, table: Table, *, now_ms: int, max_splits: int) -> None:
        by_urgency = worst_first(table["splits"])
        values = {
            "times": now_ms,
            "watermark": table["watermark"],
            "max_allowed": table["max_allowed"],
            **_spread(by_urgency),
        }
        for name, value in values.items():
            self.shared[name].put(self.next, value)
        self._choose(by_urgency, max_splits)
        present = {split["split"]: split for split in by_urgency}
        for name, series in self.splits.items():
            series.put(self.next, present.get(name))
        self.next += 1

    def read(self, since: int) -> dict[str, Any]:
        oldest = max(0, self.next - self.size)
        start = since if oldest <= since <= self.next else oldest
        shared = {name: ring.read(start, self.next) for name, ring in self.shared.items()}
        splits = {name: series.read(start, self.next) for name, series in self.splits.items()}
        return {"start": start, "next": self.next, **shared, "splits": splits}

    def _choose(self, by_urgency: list[Table], max_splits: int) -> None:
        """Choose the splits with a series: the worst ones, those that already have one, then any others."""
        order = [split["split"] for split in by_urgency]
        had = [name for name in order if name in self.splits]
        present = frozenset(order)
        gone = [name for name, series in self.splits.items() if name not in present and not self._is_over(series)]
        wanted = dict.fromkeys([*order[:_WORST], *had, *order, *gone])
        self.splits = {
            name: self.splits.get(name) or _SplitSeries(self.size, self.next) for name in islice(wanted, max_splits)
        }

    def _is_over(self, series: _SplitSeries) -> bool:
        """Return whether all of its samples were overwritten."""
        return series.seen <= self.next - self.size


class History:
    """Keeps the samples of successive tables. Thread-safe.

    The wall clock gives the samples' times, the monotonic one expires sources.
    """

    def __init__(self, *, clock: Clock, limits: HistoryLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or HistoryLimits()
        self._lock = threading.Lock()
        self._sources: dict[str, _Source] = {}

    def record(self, tables: Iterable[Table]) -> None:
        """Take one sample of every source in the tables."""
        now_ms, now_ns = self._clock.now_us() // _MICROS_PER_MILLI, self._clock.monotonic_ns()
        by_source = {table["source"]: table for table in islice(tables, self._limits.sources)}
        with self._lock:
            for name in by_source:
                self._sources.setdefault(name, _Source(self._limits.samples)).seen_ns = now_ns
            self._forget(by_source, now_ns)
            max_splits = min(self._limits.splits, max(1, self._limits.series // max(1, len(self._sources))))
            for name, table in by_source.items():
                self._sources[name].put(table, now_ms=now_ms, max_splits=max_splits)

    def read(self, source: str, *, since: int = 0) -> dict[str, Any] | None:
        """Return the samples of a source from number `since` on, as columns; None for a source that is not known.

        Units: ms since the epoch; `lag` in positions; `status` has one letter per sample (a, p, i, f; - = not there).
        `start` is the number of the first sample: the oldest one if `since` is not among those that are kept.
        """
        with self._lock:
            found = self._sources.get(source)
            return None if found is None else {"source": source, **found.read(since)}

    def _forget(self, present: Mapping[str, Table], now_ns: int) -> None:
        gone = sorted((name for name in self._sources if name not in present), key=lambda name: self._age(name, now_ns))
        room = self._limits.sources - len(present)
        for index, name in enumerate(gone):
            if index >= room or self._age(name, now_ns) > self._limits.forget_after_s:
                del self._sources[name]

    def _age(self, name: str, now_ns: int) -> float:
        return (now_ns - self._sources[name].seen_ns) / _NANOS_PER_SECOND


def _spread(by_urgency: list[Table]) -> dict[str, int | None]:
    """Return the lowest, median and highest watermark of the splits that count."""
    values = sorted(split["watermark"] for split in by_urgency if is_counted(split) and split["watermark"] is not None)
    if not values:
        return {"low": None, "median": None, "high": None}
    return {"low": values[0], "median": values[len(values) // 2], "high": values[-1]}
