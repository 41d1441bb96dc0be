"""The demo's picture: the chart of watermarks under one line with the loss of either side, as an SVG file."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from datasources.demo.report.svg import element, text
from datasources.demo.report.watermark_chart import watermark_chart
from datasources.demo.results.outcome import Outcome

_WIDTH: Final = 960
_CHART: Final = 470
_HEAD: Final = 64
_MARGIN: Final = 14


def chart_style() -> str:
    """Return the colours and lines of the charts as CSS."""
    return files(__package__).joinpath("chart.css").read_text(encoding="utf-8")


def render_picture(outcome: Outcome) -> str:
    """Return the picture: one SVG document that needs nothing but itself, for light and dark."""
    spark, tidemark = outcome.spark.accuracy, outcome.tidemark.accuracy
    total, kept = f"{spark.expected_rows:,}", "none" if tidemark.lost_rows == 0 else f"{tidemark.lost_rows:,}"
    heading = f"Spark's watermark lost {spark.lost_rows:,} of {total} orders. Tidemark's lost {kept}."
    story = "Two queries, one Kafka topic, a count per minute. Partition 2 runs twelve minutes behind, then catches up."
    chart = watermark_chart(outcome, width=_WIDTH, height=_CHART)
    return element(
        "svg",
        element("style", chart_style()),
        element("rect", x=-_MARGIN, width="100%", height="100%", class_="paper"),
        text(heading, (0, 28), kind="heading"),
        text(story, (0, 49), kind="name"),
        element("svg", chart, x=0, y=_HEAD, width=_WIDTH, height=_CHART),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"{-_MARGIN} 0 {_WIDTH + 2 * _MARGIN} {_HEAD + _CHART}",
        class_="chart picture",
        role="img",
        aria_label=heading,
    )
