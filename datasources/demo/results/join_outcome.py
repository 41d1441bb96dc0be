"""What the demo's main job found, and its figures as rows of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.demo.results.accuracy import Accuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What the query answered.

    Units: the answer has the orders by (start of the window in ms since the epoch, item). Rows of the table's source
    were read before the first order was, in so many batches, and afterwards.
    """

    answer: Mapping[tuple[int, str], int]
    unmatched: int
    read_before: int
    batches_before: int
    read_afterwards: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinOutcome:
    """The finished main job."""

    joined: Joined
    accuracy: Accuracy

    @property
    def failure(self) -> str | None:
        """The reason, one sentence, why it failed; None if no order was lost or left unmatched."""
        if self.accuracy.is_perfect and not self.joined.unmatched:
            return None
        return (
            f"of the orders that were joined with a MySQL table {self.accuracy.lost_rows} were lost and "
            f"{self.joined.unmatched} met no customer ({self.accuracy.correct_results} of "
            f"{self.accuracy.expected_results} results are right): that must not happen, please report it."
        )


def join_rows(outcome: JoinOutcome) -> list[tuple[str, str]]:
    """Return the figures, name and text, the most important first."""
    accuracy, joined = outcome.accuracy, outcome.joined
    return [
        ("orders without their customer", f"{joined.unmatched:,} of {sum(joined.answer.values()):,}"),
        ("orders lost", f"{accuracy.lost_rows:,} of {accuracy.expected_rows:,}"),
        ("results right", f"{accuracy.correct_results} of {accuracy.expected_results}"),
        ("customers read before the first order", f"{joined.read_before:,} in {joined.batches_before} batches"),
        ("changes of customers followed afterwards", f"{joined.read_afterwards:,}"),
    ]
