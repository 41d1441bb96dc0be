"""A day of payments on four partitions, one of them twelve hours behind, and the truth about them.

The topic holds what *arrived* in one day. Partitions 0 to 2 belong to sites that are online: their records carry the
event times of that day, 00:00 to 24:00. Partition 3 belongs to a site whose link was down for twelve hours. It stored
its records, and since the link is back it sends them in order and as fast as new ones come in. So everything that it
delivered that day is twelve hours older, 12:00 of the day before to 12:00, at the same share of the log.

That is the skew that a backlog has. Both sources under test share a batch's rows in proportion to what waits in each
partition, so without alignment they keep the distance: when the others are at 18:00, partition 3 is at 06:00, and
every window in between must stay open. Broker time would not help: by arrival all partitions are level.

A user pays at one site, as Kafka's partitioner by key would have it. Inside a partition records are up to eight seconds
out of order, less than the ten that the watermark allows: a watermark per partition has no reason to lose one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DELAY_MS", "LAGGING", "PARTITIONS", "WINDOW_MS", "SkewSettings", "SkewStory", "make_skew"]

PARTITIONS: Final = 4
LAGGING: Final = PARTITIONS - 1
WINDOW_MS: Final = 60_000
"""Length of the windows that are counted."""

DELAY_MS: Final = 10_000
"""How far a watermark stays behind the newest record, in all variants."""

_DISORDER_MS: Final = 8_000
_MINUTE_MS: Final = 60_000
_DAY_START_MS: Final = 1_772_323_200_000  # 2026-03-01T00:00Z
_CENTS: Final = (150, 9_900)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewSettings:
    """The size of the story.

    Attributes:
        minutes: Event time in each partition.
        lag_minutes: How far the last partition is behind.
        users: Per partition.
        rows_per_user_minute: Records of one user in a minute, on average.
        seed: What everything is made from.
    """

    minutes: int = 24 * 60
    lag_minutes: int = 12 * 60
    users: int = 10
    rows_per_user_minute: int = 10
    seed: int = 7

    @property
    def rows_per_partition(self) -> int:
        """Records in each partition."""
        return self.minutes * self.users * self.rows_per_user_minute

    @property
    def rows(self) -> int:
        """Records in the topic."""
        return PARTITIONS * self.rows_per_partition

    @property
    def keys(self) -> int:
        """Users in the topic."""
        return PARTITIONS * self.users


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The records of one partition, by position.

    Attributes:
        ts_ms: Event time, ms since the epoch.
        user: The user who paid.
        cents: How much.
        arrived_ms: When the broker took it in the story, ms since the epoch; never falls.
    """

    ts_ms: NDArray[np.int64]
    user: NDArray[np.int64]
    cents: NDArray[np.int64]
    arrived_ms: NDArray[np.int64]

    def values(self) -> Iterator[tuple[bytes, int]]:
        """Yield each record's JSON and its broker time."""
        texts = np.datetime_as_string(self.ts_ms.astype("datetime64[ms]"), unit="ms")
        columns = zip(self.user.tolist(), self.cents.tolist(), texts.tolist(), self.arrived_ms.tolist(), strict=True)
        for user, cents, text, arrived_ms in columns:
            yield f'{{"user":{user},"price":{cents / 100},"ts":"{text}Z"}}'.encode(), arrived_ms


@dataclass(frozen=True, kw_only=True)
class SkewStory:
    """All records, and the answer of a perfect query.

    Attributes:
        settings: What it was made from.
        logs: The partitions.
    """

    settings: SkewSettings
    logs: tuple[Log, ...]

    @property
    def complete_until_ms(self) -> int:
        """Every window that ends here or earlier is complete, whatever the query: a minute before the day's end."""
        return _DAY_START_MS + self.settings.minutes * _MINUTE_MS - WINDOW_MS

    @cached_property
    def truth(self) -> Mapping[tuple[int, int], int]:
        """The number of records of each complete window and user, by (start of the window in ms, user)."""
        ts_ms = np.concatenate([log.ts_ms for log in self.logs])
        users = np.concatenate([log.user for log in self.logs])
        keys, counts = np.unique(ts_ms // WINDOW_MS * self.settings.keys + users, return_counts=True)
        windows, owners = np.divmod(keys, self.settings.keys)
        complete = (windows + 1) * WINDOW_MS <= self.complete_until_ms
        columns = zip(*(part[complete].tolist() for part in (windows * WINDOW_MS, owners, counts)), strict=True)
        return {(window_ms, user): count for window_ms, user, count in columns}

    @cached_property
    def newest_ms(self) -> tuple[NDArray[np.int64], ...]:
        """For each partition the largest event time up to and with each position, ms since the epoch."""
        return tuple(np.maximum.accumulate(log.ts_ms) for log in self.logs)


def make_skew(settings: SkewSettings) -> SkewStory:
    """Return the story; equal settings give equal records on every machine."""
    source = np.random.default_rng(settings.seed)
    return SkewStory(settings=settings, logs=tuple(_log(source, settings, number) for number in range(PARTITIONS)))


def _log(source: np.random.Generator, settings: SkewSettings, partition: int) -> Log:
    rows = settings.rows_per_partition
    arrived_ms = np.sort(source.integers(0, settings.minutes * _MINUTE_MS, rows)) + _DAY_START_MS
    behind_ms = settings.lag_minutes * _MINUTE_MS if partition == LAGGING else 0
    return Log(
        ts_ms=arrived_ms - behind_ms - source.integers(0, _DISORDER_MS, rows),
        user=partition + PARTITIONS * source.integers(0, settings.users, rows),
        cents=source.integers(*_CENTS, rows),
        arrived_ms=arrived_ms,
    )
