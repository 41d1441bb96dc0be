"""The orders of the demo and the expected results, both from a seed only.

Four partitions receive orders in many small steps. Two are *current*. One *lags*: its orders are twelve minutes older
than everybody else's until it catches up towards the end. One goes *silent* after a short while. Inside a partition
orders are up to eight seconds out of order, less than the ten seconds that the watermark allows, so a watermark made
per partition has no reason to lose a single one.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Final

WINDOW_MS: Final = 60_000
"""Length of the windows that are counted."""

DELAY_MS: Final = 10_000
"""How far a watermark stays behind the newest order, on both sides of the comparison."""

USERS: Final = 20_000
"""The users: 1 to this number."""

_DISORDER_MS: Final = 8_000
_STEP_MS: Final = 15_000
_STEPS: Final = 80
_LAG_MS: Final = 12 * 60_000
_CATCH_UP_STEP: Final = 48
_SILENT_STEP: Final = 8
_ORDERS_PER_MINUTE: Final = 200
_START_MS: Final = int(datetime(2026, 3, 2, 9, 12, tzinfo=UTC).timestamp()) * 1_000
_ITEMS: Final = ("book", "coffee", "lamp", "soap", "tea")
_CENTS: Final = (150, 9_900)


class Role(Enum):
    """How a partition behaves."""

    CURRENT = "current"
    LAGGING = "12 min behind, then catches up"
    SILENT = "falls silent"


ROLES: Final = (Role.CURRENT, Role.CURRENT, Role.LAGGING, Role.SILENT)
"""The role of each partition, by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order.

    Units: ``ts_ms`` is its event time, ms since the epoch.
    """

    partition: int
    user: int
    item: str
    price_cents: int
    ts_ms: int

    @property
    def window_ms(self) -> int:
        """Start of its window, ms since the epoch."""
        return self.ts_ms - self.ts_ms % WINDOW_MS

    def to_json(self) -> bytes:
        """Return the record's value."""
        instant = datetime.fromtimestamp(self.ts_ms / 1_000, UTC)
        text = instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return json.dumps(
            {"user": self.user, "item": self.item, "price": self.price_cents / 100, "ts": text}, separators=(",", ":")
        ).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All orders, step by step, and the answer of a perfect query.

    Attributes:
        seed: What everything was made from.
        steps: The orders of each step, in the order of their arrival.
        complete_until_ms: Every window that ends here or earlier is complete, whatever the query: the oldest last
            order of the partitions that are not silent, less the allowed delay.
        truth: The number of orders of each complete window and item, by (start of the window in ms, item).
    """

    seed: int
    steps: tuple[tuple[Order, ...], ...]
    complete_until_ms: int
    truth: Mapping[tuple[int, str], int]

    @property
    def order_count(self) -> int:
        """Number of orders."""
        return sum(len(step) for step in self.steps)


def generate_story(seed: int) -> Story:
    """Return the story of a seed; the same seed gives the same orders on every machine."""
    source = random.Random(seed)  # noqa: S311 - a reproducible story, no secret
    steps = tuple(tuple(_step(source, number)) for number in range(_STEPS))
    newest: dict[int, int] = {}
    for order in (order for step in steps for order in step):
        newest[order.partition] = max(order.ts_ms, newest.get(order.partition, 0))
    live = (ts for partition, ts in newest.items() if ROLES[partition] is not Role.SILENT)
    complete_until_ms = min(live) - DELAY_MS
    counts = Counter((order.window_ms, order.item) for step in steps for order in step)
    truth = {key: count for key, count in sorted(counts.items()) if key[0] + WINDOW_MS <= complete_until_ms}
    return Story(seed=seed, steps=steps, complete_until_ms=complete_until_ms, truth=truth)


def _step(source: random.Random, number: int) -> Iterator[Order]:
    """Yield one step's orders in order of arrival, partition by partition."""
    for partition, role in enumerate(ROLES):
        start_ms, end_ms = _event_span(role, number)
        count = round((end_ms - start_ms) / 60_000 * _ORDERS_PER_MINUTE)
        for arrival_ms in sorted(source.uniform(start_ms, end_ms) for _ in range(count)):
            yield Order(
                partition=partition,
                user=int(source.random() * USERS) + 1,
                item=_ITEMS[int(source.random() * len(_ITEMS))],
                price_cents=int(source.uniform(*_CENTS)),
                ts_ms=int(arrival_ms - source.uniform(0, _DISORDER_MS)),
            )


def _event_span(role: Role, number: int) -> tuple[float, float]:
    """Return from when to when, ms since the epoch, the orders of a step are; equal bounds mean no order."""
    if role is Role.SILENT and number >= _SILENT_STEP:
        return (_START_MS, _START_MS)
    if role is Role.LAGGING:
        return (_lagging_ms(number), _lagging_ms(number + 1))
    return (_START_MS + number * _STEP_MS, _START_MS + (number + 1) * _STEP_MS)


def _lagging_ms(number: int) -> float:
    """Return how far the lagging partition is at the start of a step: behind for long, level after the last one."""
    own_ms = _START_MS + number * _STEP_MS - _LAG_MS
    if number <= _CATCH_UP_STEP:
        return own_ms
    return own_ms + _LAG_MS * (number - _CATCH_UP_STEP) / (_STEPS - _CATCH_UP_STEP)
