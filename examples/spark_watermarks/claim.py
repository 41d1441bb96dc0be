"""A claim of the page, and its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from examples.spark_watermarks.sides import Stage

__all__ = ["Claim", "Observed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What both sides gave, in words whose figures were measured.

    Attributes:
        spark: With Spark's own source and `withWatermark`.
        tidemark: With the same rows in Tidemark's source.
    """

    spark: str
    tidemark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One line of the page's table.

    Attributes:
        name: How the page and the command line call it.
        says: What both sides give by the page.
        prove: Runs both sides and returns their results.
    """

    name: str
    expected: Observed
    prove: Callable[[Stage], Observed]

    def line(self, observed: Observed) -> str:
        """Return a line of the table."""
        return f"| `{self.name}` | {observed.spark} | {observed.tidemark} |"
