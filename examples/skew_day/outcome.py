"""What the three queries did, held against the truth and against the bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from datasources.demo.results.accuracy import Accuracy
from examples.skew_day.progress import Batch, Drain
from examples.skew_day.story import DELAY_MS, WINDOW_MS, SkewSettings, SkewStory
from examples.skew_day.variants import DrainSettings, Result, Variant

__all__ = ["SkewOutcome", "assess", "largest_spread_ms", "spread_ms", "state_bound"]

_OPEN_BATCHES: Final = 3
_SLACK: Final = 1.1


@dataclass(frozen=True, kw_only=True)
class SkewOutcome:
    """The finished example.

    Attributes:
        story: What was in the topic.
        settings: How it was read.
        results: What each variant did.
        surroundings: Versions, in words.
    """

    story: SkewStory
    settings: DrainSettings
    results: Mapping[Variant, Result]
    surroundings: str

    @property
    def accuracies(self) -> dict[Variant, Accuracy]:
        """Each answer held against the truth."""
        return {variant: assess(self.story, result.answer) for variant, result in self.results.items()}

    @property
    def bound_rows(self) -> int:
        """The most rows of state that the aligned query may hold."""
        return state_bound(self.story.settings, self.settings)

    @property
    def failure(self) -> str | None:
        """One sentence: the reason why the example failed; None if its claims hold."""
        return next(self._failures(), None)

    def _failures(self) -> Iterator[str]:
        for variant, accuracy in self.accuracies.items():
            if variant is not Variant.SPARK and not accuracy.is_perfect:
                yield (
                    f"'{variant.value}' lost {accuracy.lost_rows:,} records and {accuracy.correct_results:,} of "
                    f"{accuracy.expected_results:,} results are right: that must not happen."
                )
        peaks = {variant: result.drain.peak_state_rows for variant, result in self.results.items()}
        if peaks[Variant.ALIGNED] > self.bound_rows:
            yield f"the aligned query held {peaks[Variant.ALIGNED]:,} rows of state, and may hold {self.bound_rows:,}."
        if peaks[Variant.UNALIGNED] <= self.bound_rows:
            yield f"the unaligned query held only {peaks[Variant.UNALIGNED]:,} rows of state: there was no skew to see."

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON primitives."""
        return {
            "ok": self.failure is None,
            "rows": self.story.settings.rows,
            "state_bound_rows": self.bound_rows,
            "variants": {variant.name.lower(): self._figures(variant) for variant in self.results},
        }

    def _figures(self, variant: Variant) -> dict[str, Any]:
        drain, accuracy = self.results[variant].drain, self.accuracies[variant]
        return {
            "peak_state_rows": drain.peak_state_rows,
            "results_right": accuracy.correct_results,
            "results_expected": accuracy.expected_results,
            "rows_lost": accuracy.lost_rows,
            "seconds": round(drain.seconds, 1),
            "batches": len(drain.batches),
            "spread_ms": largest_spread_ms(self.story, drain),
            "state_rows": [batch.state_rows for batch in drain.batches],
        }


def assess(story: SkewStory, answer: Mapping[tuple[int, int], int]) -> Accuracy:
    """Return how right an answer is; windows that need not be complete are left out on both sides."""
    given = {key: count for key, count in answer.items() if key[0] + WINDOW_MS <= story.complete_until_ms}
    differences = [given.get(key, 0) - story.truth.get(key, 0) for key in story.truth.keys() | given.keys()]
    correct = sum(given.get(key) == count for key, count in story.truth.items())
    return Accuracy(
        expected_rows=sum(story.truth.values()),
        lost_rows=-sum(difference for difference in differences if difference < 0),
        extra_rows=sum(difference for difference in differences if difference > 0),
        expected_results=len(story.truth),
        correct_results=correct,
        wrong_results=len(given) - correct,
        missing_results=len(story.truth.keys() - given.keys()),
    )


def state_bound(size: SkewSettings, settings: DrainSettings) -> int:
    """Return the most rows of state that a query may hold whose partitions are aligned.

    A row of state is one user in one window. Open are the windows of the drift, of the watermark's delay and the one
    that is being filled, for every user; and those of three batches. Two, because a batch's watermark evicts in the
    batch after the next where several partitions move (docs/design.md, Latency). A third in the one batch in which the
    waiting partitions are read for the first time: they wait no longer and have no watermark yet, so the combination
    stops. A tenth is added for windows that lie on the edges. The lag does not appear: that is the point.
    """
    windows = (settings.max_drift_ms + DELAY_MS + WINDOW_MS) / WINDOW_MS
    in_a_batch = settings.rows_per_batch / size.rows_per_user_minute
    return math.ceil((size.keys * windows + _OPEN_BATCHES * in_a_batch) * _SLACK)


def spread_ms(story: SkewStory, batch: Batch) -> int:
    """Return how far apart in event time the partitions are after a batch.

    From the newest record that was read in any partition back to the position of the slowest one that is not at its
    end, by the producer's truth and not by a watermark. Unit: ms. Zero where nothing is left to read.
    """
    newest = [story.newest_ms[number][position - 1] for number, position in batch.positions.items() if position]
    onward = [
        story.newest_ms[number][position]
        for number, position in batch.positions.items()
        if position < len(story.newest_ms[number])
    ]
    return max(0, int(max(newest) - min(onward))) if newest and onward else 0


def largest_spread_ms(story: SkewStory, drain: Drain) -> int:
    """Return the largest spread over all batches, ms."""
    return max((spread_ms(story, batch) for batch in drain.batches), default=0)
