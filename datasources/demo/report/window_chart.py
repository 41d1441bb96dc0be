"""The chart of results: how many orders of each one-minute window either query counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from datasources.demo.report.svg import PlotFrame, Scale, element, text
from datasources.demo.report.watermark_chart import clock_text
from datasources.demo.results.accuracy import MinuteCount, per_minute
from datasources.demo.results.outcome import Outcome, SideOutcome

_PANEL: Final = 150
_HEAD: Final = 30
_FOOT: Final = 40
_BAR_SHARE: Final = 0.78


def window_chart(outcome: Outcome, *, width: int) -> str:
    """Return the chart as an SVG element: one panel per query, one bar per window, on the same scale."""
    panels = [
        _panel(outcome, side, kind, width, top)
        for side, kind, top in (
            (outcome.spark, "spark", 0.0),
            (outcome.tidemark, "tidemark", float(_HEAD + _PANEL)),
        )
    ]
    height = 2 * (_HEAD + _PANEL) + _FOOT
    title = "Orders counted in each one-minute window"
    spark, tidemark = outcome.spark.accuracy, outcome.tidemark.accuracy
    description = (
        f"Of {spark.expected_rows:,} orders Spark's watermark lost {spark.lost_rows:,} and Tidemark's "
        f"{tidemark.lost_rows:,}."
    )
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *(part for panel in panels for part in panel),
        text("window, by event time", (width / 2, height - 6), kind="name", anchor="middle"),
        viewBox=f"0 0 {width} {height}",
        class_="chart",
        role="img",
        aria_label=f"{title}. {description}",
    )


def _panel(outcome: Outcome, side: SideOutcome, kind: str, width: int, top: float) -> Iterator[str]:
    minutes = per_minute(outcome.story, side.answer)
    frame = PlotFrame(left=48, top=top + _HEAD, right=width - 14, bottom=top + _HEAD + _PANEL - 20)
    max_rows = max(minute.expected_rows for minute in minutes)
    y = Scale(low=0, high=max_rows * 1.05, start=frame.bottom, end=frame.top)
    slot = (frame.right - frame.left) / len(minutes)
    heading = f"{kind.capitalize()}: {side.accuracy.lost_rows:,} of {side.accuracy.expected_rows:,} lost"
    yield text(heading, (frame.left, top + 20), kind=f"label {kind}")
    yield from _axis(frame, y, max_rows)
    for number, minute in enumerate(minutes):
        yield from _bar(minute, frame.left + number * slot, slot, y, kind)
        yield from _minute_tick(minute, frame, frame.left + (number + 0.5) * slot)


def _axis(frame: PlotFrame, y: Scale, max_rows: int) -> Iterator[str]:
    step = 200 if max_rows <= 1_000 else 500  # noqa: PLR2004 - four gridlines at the most
    for value in range(0, max_rows + 1, step):
        kind = "grid" if value else "axis"
        yield element("line", x1=frame.left, x2=frame.right, y1=y(value), y2=y(value), class_=kind)
        yield text(f"{value}", (frame.left - 8, y(value) + 4), kind="tick", anchor="end")


def _bar(minute: MinuteCount, left: float, slot: float, y: Scale, kind: str) -> Iterator[str]:
    lost = minute.expected_rows - minute.counted_rows
    words = element("title", f"{clock_text(minute.start_ms)[:5]}: {minute.counted_rows} counted, {lost} lost")
    x, width = round(left + slot * (1 - _BAR_SHARE) / 2, 1), round(slot * _BAR_SHARE, 1)
    full, counted = y(minute.expected_rows), y(minute.counted_rows)
    if lost:
        yield element("rect", words, x=x, y=full, width=width, height=round(counted - full, 1), class_="bar lost")
    if minute.counted_rows:
        height = round(y(0) - counted, 1)
        yield element("rect", words, x=x, y=counted, width=width, height=height, class_=f"bar {kind}")


def _minute_tick(minute: MinuteCount, frame: PlotFrame, middle: float) -> Iterator[str]:
    if minute.start_ms // 60_000 % 5 == 0:
        yield text(clock_text(minute.start_ms)[:5], (round(middle, 1), frame.bottom + 16), kind="tick", anchor="middle")
