"""The figures as rows of text, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.table import Table

from datasources.demo.results.accuracy import Accuracy
from examples.skew_day.outcome import SkewOutcome, largest_spread_ms
from examples.skew_day.progress import Drain

__all__ = ["ComparisonRow", "comparison", "comparison_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One measure of all variants, as text."""

    name: str
    cells: tuple[str, ...]


def comparison(outcome: SkewOutcome) -> list[ComparisonRow]:
    """Return the measures, the most important first; one cell per variant, in the order of the results."""
    measures: dict[str, Callable[[Drain, Accuracy], str]] = {
        "most rows of state": lambda drain, _: f"{drain.peak_state_rows:,}",
        "records lost": lambda _, accuracy: f"{accuracy.lost_rows:,}",
        "results right": lambda _, accuracy: f"{accuracy.correct_results:,} of {accuracy.expected_results:,}",
        "results wrong": lambda _, accuracy: f"{accuracy.wrong_results:,}",
        "results missing": lambda _, accuracy: f"{accuracy.missing_results:,}",
        "partitions apart, at most": lambda drain, _: _hours(largest_spread_ms(outcome.story, drain)),
        "batches": lambda drain, _: f"{len(drain.batches)}",
        "seconds, first to last commit": lambda drain, _: f"{drain.seconds:.1f}",
    }
    accuracies = outcome.accuracies
    return [
        ComparisonRow(
            name=name,
            cells=tuple(measure(result.drain, accuracies[variant]) for variant, result in outcome.results.items()),
        )
        for name, measure in measures.items()
    ]


def comparison_table(outcome: SkewOutcome) -> Table:
    """Return the measures as a table for a terminal."""
    heads = (variant.value for variant in outcome.results)
    table = Table("", *heads, title=f"aligned state may hold {outcome.bound_rows:,} rows")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in comparison(outcome):
        table.add_row(row.name, *row.cells)
    return table


def _hours(value_ms: int) -> str:
    minutes, seconds = divmod(value_ms // 1_000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d} h"
