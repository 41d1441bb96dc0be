"""The example's page: one HTML file that needs nothing but itself, in the style of the demo's."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib.resources import files
from typing import Final

from datasources.durations import format_duration_ms
from examples.skew_day.chart import Line, share_chart
from examples.skew_day.outcome import SkewOutcome, spread_ms
from examples.skew_day.progress import Batch
from examples.skew_day.tables import comparison
from examples.skew_day.variants import Variant

__all__ = ["render_page"]

_WIDE: Final = 960
_NARROW: Final = 400
_HOUR_MS: Final = 3_600_000
_KINDS: Final = {Variant.SPARK: "spark", Variant.UNALIGNED: "unaligned", Variant.ALIGNED: "tidemark"}
_ORDER: Final = (Variant.SPARK, Variant.UNALIGNED, Variant.ALIGNED)
_STYLE: Final = """\
.line.unaligned { stroke: var(--split); stroke-width: 3.4; }
.line.bound { stroke-dasharray: 6 3; }
.unaligned { color: var(--split); }
"""


def render_page(outcome: SkewOutcome) -> str:
    """Return the page of a finished example."""
    style = files("datasources.demo.report").joinpath("page.css").read_text(encoding="utf-8") + _STYLE
    body = "\n".join((_opening(outcome), _state(outcome), _spread(outcome), _results(outcome), _options(outcome)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>One partition twelve hours behind</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n<footer>\n<p>{escape(outcome.surroundings)}. Seed "
        f"{outcome.story.settings.seed}.</p>\n</footer>\n</main>\n</body>\n</html>\n"
    )


def _opening(outcome: SkewOutcome) -> str:
    cards = "\n".join(_card(outcome, variant) for variant in _ORDER if variant in outcome.results)
    hours = outcome.story.settings.lag_minutes / 60
    return (
        '<header>\n<p class="brand">Tidemark example</p>\n'
        f"<h1>One of four partitions is {hours:g} hours behind</h1>\n"
        f"<p>A job reads a backlog of {outcome.story.settings.rows:,} records and counts them per minute and user. "
        "With Spark&rsquo;s watermark the slow partition&rsquo;s records are too late and lost. With Tidemark&rsquo;s "
        "none is lost, but every window between the slowest and the fastest partition stays open. With alignment the "
        f"fast ones wait within {format_duration_ms(outcome.settings.max_drift_ms)}, so few windows are open.</p>\n"
        f'<div class="sides">\n{cards}\n</div>\n</header>'
    )


def _card(outcome: SkewOutcome, variant: Variant) -> str:
    peak, accuracy = outcome.results[variant].drain.peak_state_rows, outcome.accuracies[variant]
    lost = (
        f"{accuracy.lost_rows:,} of {accuracy.expected_rows:,} records lost." if accuracy.lost_rows else "Nothing lost."
    )
    return (
        f'<section class="side {_KINDS[variant]}"><h2>{escape(variant.value)}</h2>'
        f'<p class="figure">{peak:,}</p><p>rows of state at most. {lost}</p></section>'
    )


def _state(outcome: SkewOutcome) -> str:
    bound = Line(kind="bound", title="bound", points=[(0, outcome.bound_rows), (100, outcome.bound_rows)])
    lines = [bound, *_lines(outcome, lambda batch: batch.state_rows)]
    return _section(
        "Rows of state",
        "Rows of state after each batch. A row is one user in one open window. The dashed line is what the drift, the "
        "watermark&rsquo;s delay and three batches allow; the lag is not in it.",
        lambda width: share_chart("rows of state", lines, width=width, step=1_000, show=lambda value: f"{value:,.0f}"),
        outcome,
    )


def _spread(outcome: SkewOutcome) -> str:
    lines = _lines(outcome, lambda batch: spread_ms(outcome.story, batch) / _HOUR_MS)
    return _section(
        "How far apart the partitions are",
        "From the newest record that was read back to the position of the slowest partition, in hours of event time. "
        "Spark&rsquo;s line and Tidemark&rsquo;s without alignment lie on each other.",
        lambda width: share_chart(
            "hours of event time", lines, width=width, step=1, show=lambda value: f"{value:,.0f} h"
        ),
        outcome,
    )


def _section(title: str, words: str, chart: Callable[[int], str], outcome: SkewOutcome) -> str:
    legend = "".join(
        f'<li><svg viewBox="0 0 30 10" aria-hidden="true"><path class="line {_KINDS[variant]}" d="M0 5H30"/></svg>'
        f"{escape(variant.value)}</li>"
        for variant in _ORDER
        if variant in outcome.results
    )
    return (
        f'<section>\n<h2>{title}</h2>\n<p>{words}</p>\n<ul class="legend">{legend}</ul>\n<figure>\n'
        f'<div class="wide">{chart(_WIDE)}</div>\n<div class="narrow">{chart(_NARROW)}</div>\n</figure>\n</section>'
    )


def _lines(outcome: SkewOutcome, value: Callable[[Batch], float]) -> list[Line]:
    rows = outcome.story.settings.rows
    return [
        Line(
            kind=_KINDS[variant],
            title=variant.value,
            points=[
                (100 * sum(batch.positions.values()) / rows, value(batch))
                for batch in outcome.results[variant].drain.batches
            ],
        )
        for variant in _ORDER
        if variant in outcome.results
    ]


def _results(outcome: SkewOutcome) -> str:
    heads = "".join(
        f'<th scope="col" class="{_KINDS[variant]}">{escape(variant.value)}</th>' for variant in outcome.results
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th>{"".join(f"<td>{cell}</td>" for cell in row.cells)}</tr>'
        for row in comparison(outcome)
    )
    return (
        '<section>\n<h2>Against the truth</h2>\n<div class="scroll"><table>\n'
        "<caption>The truth comes from the program that wrote the records. The day&rsquo;s last minute is left out: "
        "Spark&rsquo;s watermark has not passed it when the backlog ends.</caption>\n"
        f'<thead><tr><th scope="col">Measure</th>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody>\n</table></div>\n</section>"
    )


def _options(outcome: SkewOutcome) -> str:
    drift = format_duration_ms(outcome.settings.max_drift_ms)
    lines = f'"scan.watermark.alignment.group": "skew",\n"scan.watermark.alignment.max-drift": "{drift}",'
    return (
        "<section>\n<h2>The two options</h2>\n<p>All that differs between the last two queries:</p>\n"
        f'<pre tabindex="0"><code>{escape(lines)}</code></pre>\n</section>'
    )
