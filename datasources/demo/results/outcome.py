"""What the demo found: everything that the terminal and the page show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.demo.results.accuracy import Accuracy
from datasources.demo.results.join_outcome import JoinOutcome
from datasources.demo.results.mysql_outcome import TableOutcome
from datasources.demo.results.timeline import Moment, QueryTimeline
from datasources.demo.story.orders import Story
from datasources.demo.story.producer import Produced


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSnapshot:
    """The demo while it runs."""

    produced: Produced
    spark: Moment | None = None
    tidemark: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the demo ran.

    ``broker`` says which Kafka, ``source`` what Spark's query read with, in words.
    """

    tidemark: str
    spark: str
    broker: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideOutcome:
    """One of the two queries.

    Units: the answer has the orders by (start of the window in ms since the epoch, item).
    """

    title: str
    answer: Mapping[tuple[int, str], int]
    accuracy: Accuracy
    timeline: QueryTimeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The finished demo.

    Attributes:
        story: The orders and the truth.
        started_ms: When the first order was written, ms since the epoch.
        spark: The query that follows Spark's watermark.
        tidemark: The query that follows Tidemark's.
        surroundings: Where it ran.
        table: The MySQL part; a text says why it has no result.
        join: The orders joined with a table of MySQL; None where the MySQL part has no result.
        mysql_failure: Why the MySQL part failed; None if it did not.
    """

    story: Story
    started_ms: int
    spark: SideOutcome
    tidemark: SideOutcome
    surroundings: Surroundings = field(repr=False)
    table: TableOutcome | str
    join: JoinOutcome | None
    mysql_failure: str | None = None

    @property
    def failure(self) -> str | None:
        """The reason, one sentence, why the demo failed; None if it succeeded."""
        mine = self.tidemark.accuracy
        if not mine.is_perfect:
            return (
                f"Tidemark lost {mine.lost_rows} orders and {mine.correct_results} of {mine.expected_results} results "
                f"are right: that must not happen, please report it with seed {self.story.seed}."
            )
        if self.spark.accuracy.lost_rows == 0:
            return (
                "Spark's own watermark lost no order this time, so there was nothing to compare: its query read too "
                "much in one batch; run the demo again on a less busy machine."
            )
        if self.mysql_failure is not None:
            return self.mysql_failure
        if self.join is not None and self.join.failure is not None:
            return self.join.failure
        return None if isinstance(self.table, str) else self.table.failure
