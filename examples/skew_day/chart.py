"""One chart: a value of each variant over the share of the backlog that was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from datasources.demo.report.svg import PlotFrame, Point, Scale, element, text

__all__ = ["Line", "share_chart"]

_HEIGHT: Final = 360
_STEPS: Final = 4
_SHARES: Final = (0, 25, 50, 75, 100)
_HEADROOM: Final = 1.06


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A value over the share of the backlog.

    Attributes:
        kind: Its CSS class.
        title: What a reader sees when pointing at it.
        points: (share in percent, value).
    """

    kind: str
    title: str
    points: Sequence[Point]


def share_chart(title: str, lines: Sequence[Line], *, width: int, step: float, show: Callable[[float], str]) -> str:
    """Return the chart as an SVG element.

    Args:
        title: What the values are; also the name of the vertical axis.
        lines: Drawn in order, the last one on top.
        width: Of the view box.
        step: Grid lines stand at multiples of this, or of a multiple of it where there would be too many.
        show: Writes a value at its grid line.
    """
    frame = PlotFrame(left=64, top=26, right=width - 14, bottom=_HEIGHT - 42)
    most = max((value for line in lines for _, value in line.points), default=step) or step
    x = Scale(low=0, high=100, start=frame.left, end=frame.right)
    y = Scale(low=0, high=most * _HEADROOM, start=frame.bottom, end=frame.top)
    return element(
        "svg",
        element("title", title),
        *_vertical_axis(frame, y, step, show),
        *_shares(frame, x),
        text(title, (0, 12), kind="name"),
        *(_draw(line, x, y) for line in lines),
        viewBox=f"0 0 {width} {_HEIGHT}",
        class_="chart",
        role="img",
        aria_label=title,
    )


def _vertical_axis(frame: PlotFrame, y: Scale, step: float, show: Callable[[float], str]) -> Iterator[str]:
    stride = step * max(1, round(y.high / step / _STEPS))
    for number in range(int(y.high / stride) + 1):
        at = y(number * stride)
        yield element("line", x1=frame.left, x2=frame.right, y1=at, y2=at, class_="grid" if number else "axis")
        yield text(show(number * stride), (frame.left - 8, at + 4), kind="tick", anchor="end")


def _shares(frame: PlotFrame, x: Scale) -> Iterator[str]:
    for share in _SHARES:
        yield element("line", x1=x(share), x2=x(share), y1=frame.bottom, y2=frame.bottom + 4, class_="axis")
        yield text(f"{share} %", (x(share), frame.bottom + 18), kind="tick", anchor="middle")
    middle = (frame.left + frame.right) / 2
    yield text("share of the backlog that was read", (middle, frame.bottom + 36), kind="name", anchor="middle")


def _draw(line: Line, x: Scale, y: Scale) -> str:
    path = "L".join(f"{x(share):g} {y(value):g}" for share, value in line.points)
    return element("path", element("title", line.title), d=f"M{path}", class_=f"line {line.kind}") if path else ""
