"""The accuracy of a query's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from datasources.demo.story.orders import WINDOW_MS, Story

__all__ = ["Accuracy", "MinuteCount", "accuracy_of", "per_minute"]

Counts = Mapping[tuple[int, str], int]
"""Orders by (start of the window in ms since the epoch, item)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The accuracy of one query over the windows that must be complete.

    A result is one window and item; extra rows are orders that were counted and do not exist.
    """

    expected_rows: int
    lost_rows: int
    extra_rows: int
    expected_results: int
    correct_results: int
    wrong_results: int
    missing_results: int

    @property
    def is_perfect(self) -> bool:
        """Whether every result is present and correct."""
        return self.correct_results == self.expected_results and not self.lost_rows and not self.extra_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteCount:
    """The orders of one window over all items.

    Units: ``start_ms`` is the start of the window, ms since the epoch.
    """

    start_ms: int
    expected_rows: int
    counted_rows: int


def accuracy_of(story: Story, answer: Counts) -> Accuracy:
    """Return the accuracy of an answer; incomplete windows are left out on both sides."""
    given = _complete_part(story, answer)
    keys = story.truth.keys() | given.keys()
    differences = [given.get(key, 0) - story.truth.get(key, 0) for key in keys]
    correct = sum(given.get(key) == count for key, count in story.truth.items())
    missing = len(story.truth.keys() - given.keys())
    return Accuracy(
        expected_rows=sum(story.truth.values()),
        lost_rows=-sum(difference for difference in differences if difference < 0),
        extra_rows=sum(difference for difference in differences if difference > 0),
        expected_results=len(story.truth),
        correct_results=correct,
        wrong_results=len(given) - correct,
        missing_results=missing,
    )


def per_minute(story: Story, answer: Counts) -> list[MinuteCount]:
    """Return one entry for each complete window, oldest first."""
    expected: Counter[int] = Counter()
    counted: Counter[int] = Counter()
    for (start_ms, item), count in story.truth.items():
        expected[start_ms] += count
        counted[start_ms] += min(count, answer.get((start_ms, item), 0))
    return [
        MinuteCount(start_ms=start_ms, expected_rows=rows, counted_rows=counted[start_ms])
        for start_ms, rows in sorted(expected.items())
    ]


def _complete_part(story: Story, answer: Counts) -> dict[tuple[int, str], int]:
    return {key: count for key, count in answer.items() if key[0] + WINDOW_MS <= story.complete_until_ms}
