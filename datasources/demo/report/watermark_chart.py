"""The chart of watermarks: event time over processing time, each partition's, Tidemark's and Spark's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from datasources.demo.report.svg import PlotFrame, Point, Scale, element, polygon_path, step_path, text
from datasources.demo.results.outcome import Outcome
from datasources.demo.results.timeline import Moment
from datasources.demo.story.orders import ROLES, Role

_MINUTE_MS: Final = 60_000
_TICKS_S: Final = (1, 2, 5, 10, 20, 30, 60)
_TICK_WIDTH: Final = 70
_NARROW: Final = 600
_LABELS_AT: Final = 0.4
_LOSS_AT: Final = 0.84
_BELOW_A_LINE: Final = 18
_MARGIN_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A value over time: (ms since the epoch of processing, ms since the epoch of event time)."""

    kind: str
    title: str
    points: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """Where things are."""

    frame: PlotFrame
    x: Scale
    y: Scale

    def scaled(self, points: Sequence[tuple[int, int]]) -> list[Point]:
        return [(self.x(at_ms), self.y(value_ms)) for at_ms, value_ms in points]


def clock_text(value_ms: int) -> str:
    """Return an event time as hours, minutes and seconds in UTC."""
    return datetime.fromtimestamp(value_ms / 1_000, UTC).strftime("%H:%M:%S")


def watermark_chart(outcome: Outcome, *, width: int, height: int) -> str:
    """Return the chart as an SVG element.

    Width and height are those of the view box; a narrow one gets fewer ticks and no labels in the plot.
    """
    spark = _Line(kind="spark", title="Spark", points=_watermarks(outcome.spark.timeline.moments))
    tidemark = _Line(kind="tidemark", title="Tidemark", points=_watermarks(outcome.tidemark.timeline.moments))
    splits = list(_split_lines(outcome.tidemark.timeline.moments))
    plot = _plot(outcome, [spark, tidemark, *splits], width, height)
    parts = [
        *_axes(plot, outcome.started_ms),
        _too_late(plot, spark, splits),
        *(_draw(plot, line) for line in (*splits, tidemark, spark)),
        *(_labels(plot, outcome, (spark, tidemark, *splits)) if width > _NARROW else ()),
    ]
    title, description = "Watermarks over processing time", _describe(spark, tidemark)
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *parts,
        viewBox=f"0 0 {width} {height}",
        class_="chart",
        role="img",
        aria_label=f"{title}. {description}",
    )


def _describe(spark: _Line, tidemark: _Line) -> str:
    if not spark.points or not tidemark.points:
        return "One of the queries never had a watermark."
    gap = max((above - below for above, below in _gaps(spark, tidemark)), default=0) // _MINUTE_MS
    return (
        "Spark's watermark follows the newest order of any partition. Tidemark's stays with the slowest partition "
        f"that is not idle, up to {gap} minutes behind. Both end at {clock_text(tidemark.points[-1][1])}."
    )


def _watermarks(moments: Sequence[Moment]) -> list[tuple[int, int]]:
    return [(moment.at_ms, moment.watermark_ms) for moment in moments if moment.watermark_ms is not None]


def _split_lines(moments: Sequence[Moment]) -> Iterator[_Line]:
    for number, role in enumerate(ROLES):
        points: list[tuple[int, int]] = []
        idle: list[tuple[int, int]] = []
        for moment in moments:
            split = moment.splits.get(number)
            if split is not None and split.watermark_ms is not None:
                (idle if split.status == "idle" else points).append((moment.at_ms, split.watermark_ms))
        yield _Line(kind=f"split {role.name.lower()}", title=f"partition {number}", points=points)
        if idle:
            yield _Line(kind="split idle", title=f"partition {number}, idle", points=[*points[-1:], *idle])


def _plot(outcome: Outcome, lines: Sequence[_Line], width: int, height: int) -> _Plot:
    frame = PlotFrame(left=48, top=26, right=width - 14, bottom=height - 42)
    points = [point for line in lines for point in line.points]
    values = [value_ms for _, value_ms in points] or [outcome.story.complete_until_ms]
    low = min(values) // _MINUTE_MS * _MINUTE_MS - _MINUTE_MS
    high = -(-max(values) // _MINUTE_MS) * _MINUTE_MS + _MINUTE_MS
    times = [at_ms for at_ms, _ in points] or [outcome.started_ms]
    return _Plot(
        frame=frame,
        x=Scale(low=min(times) - _MARGIN_MS, high=max(times) + _MARGIN_MS, start=frame.left, end=frame.right),
        y=Scale(low=low, high=high, start=frame.bottom, end=frame.top),
    )


def _axes(plot: _Plot, started_ms: int) -> Iterator[str]:
    frame, x, y = plot.frame, plot.x, plot.y
    for minute in range(int(y.low) // _MINUTE_MS, int(y.high) // _MINUTE_MS + 1):
        if minute % 5 == 0:
            at = y(minute * _MINUTE_MS)
            yield element("line", x1=frame.left, x2=frame.right, y1=at, y2=at, class_="grid")
            yield text(clock_text(minute * _MINUTE_MS)[:5], (frame.left - 8, at + 4), kind="tick", anchor="end")
    first_s, last_s = (x.low - started_ms) / 1_000, (x.high - started_ms) / 1_000
    max_ticks = (frame.right - frame.left) / _TICK_WIDTH
    step_s = next((step for step in _TICKS_S if (last_s - first_s) / step <= max_ticks), _TICKS_S[-1])
    for second in range(math.ceil(first_s / step_s) * step_s, int(last_s) + 1, step_s):
        at = x(started_ms + second * 1_000)
        yield element("line", x1=at, x2=at, y1=frame.bottom, y2=frame.bottom + 4, class_="axis")
        yield text(f"{second} s", (at, frame.bottom + 18), kind="tick", anchor="middle")
    yield element("line", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom, class_="axis")
    yield text("event time", (0, 12), kind="name")
    middle = (frame.left + frame.right) / 2
    yield text("processing time since the first order", (middle, frame.bottom + 36), kind="name", anchor="middle")


def _too_late(plot: _Plot, spark: _Line, splits: Sequence[_Line]) -> str:
    """Return the area between Spark's watermark and the lagging partition's: what arrives there is dropped."""
    lagging = next((line for line in splits if line.kind == f"split {Role.LAGGING.name.lower()}"), None)
    if lagging is None or not spark.points or not lagging.points:
        return ""
    since = max(spark.points[0][0], lagging.points[0][0])
    upper, lower = (_corners(plot.scaled(_since(line, since))) for line in (spark, lagging))
    area = polygon_path([*upper, *reversed(lower)])
    return element("path", element("title", "too late for Spark"), d=area, class_="too-late")


def _since(line: _Line, at_ms: int) -> list[tuple[int, int]]:
    """Return a line from a time on, at which it has a value."""
    value = _value_at(line, at_ms)
    assert value is not None
    return [(at_ms, value), *(point for point in line.points if point[0] > at_ms)]


def _corners(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the steps that a line makes."""
    corners = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        corners += [(x, before), (x, y)]
    return corners


def _draw(plot: _Plot, line: _Line) -> str:
    if not line.points:
        return ""
    until = None if line.kind.startswith("split") and not line.kind.endswith("idle") else plot.x(plot.x.high)
    path = step_path(plot.scaled(line.points), until=until)
    return element("path", element("title", line.title), d=path, class_=f"line {line.kind}")


def _labels(plot: _Plot, outcome: Outcome, lines: Sequence[_Line]) -> Iterator[str]:
    """Name the lines where they are far apart, and the area between them."""
    spark, tidemark, *splits = lines
    if not spark.points or not tidemark.points:
        return
    first = max(spark.points[0][0], tidemark.points[0][0])
    at_ms = first + (plot.x.high - first) * _LABELS_AT
    above, below = _value_at(spark, at_ms), _value_at(tidemark, at_ms)
    assert above is not None
    assert below is not None
    x, upper, lower = plot.x(at_ms), plot.y(above), plot.y(below)
    yield text("Spark's watermark: the newest order decides", (x - 6, upper - 12), kind="label spark", anchor="end")
    yield text("Tidemark's watermark: the slowest active partition", (x + 8, lower + 24), kind="label tidemark")
    yield text(f"= partition {ROLES.index(Role.LAGGING)}, which lags", (x + 8, lower + 41), kind="label")
    idle = next((line for line in splits if line.kind == "split idle"), None)
    if lost := outcome.spark.accuracy.lost_rows:
        loss_y = upper + (lower - upper) * _LOSS_AT
        if idle is not None:
            loss_y = max(loss_y, plot.y(idle.points[-1][1]) + _BELOW_A_LINE)
        at = (x - 6, round(loss_y, 1))
        yield text(f"too late for Spark: {lost:,} orders lost", at, kind="label lost", anchor="end")
    if idle is not None:
        at = (plot.frame.right - 4, plot.y(idle.points[-1][1]) + _BELOW_A_LINE)
        yield text(f"{idle.title}: holds nothing back", at, kind="label", anchor="end")


def _value_at(line: _Line, at_ms: float) -> int | None:
    return next((value for when, value in reversed(line.points) if when <= at_ms), None)


def _gaps(spark: _Line, tidemark: _Line) -> Iterator[tuple[int, int]]:
    for at_ms, value in spark.points:
        other = _value_at(tidemark, at_ms)
        if other is not None:
            yield value, other
