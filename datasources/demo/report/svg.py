"""The little of SVG that the charts need: elements, paths and scales, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A linear map of values to pixels.

    Values from ``low`` to the greater ``high`` are pixels from ``start`` to ``end``.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, to a tenth."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotFrame:
    """The rectangle in which a chart's data is drawn, in pixels of its view box."""

    left: float
    top: float
    right: float
    bottom: float


def element(tag: str, *content: str, **attributes: object) -> str:
    """Return an element.

    Args:
        tag: Its name.
        content: Markup inside it.
        attributes: By name, with ``_`` for ``-``; a trailing ``_`` is dropped (``class_``). None leaves one out.
    """
    words = [
        f'{name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    ]
    return f"<{' '.join([tag, *words])}>{''.join(content)}</{tag}>"


def text(words: str, at: Point, *, kind: str, anchor: str = "start") -> str:
    """Return a text whose baseline begins, is centred or ends at a point."""
    return element("text", escape(words), x=at[0], y=at[1], class_=kind, text_anchor=anchor)


def step_path(points: Sequence[Point], *, until: float | None = None) -> str:
    """Return the path of a value that holds until its next change; ``until`` is where the last one ends."""
    if not points:
        return ""
    (x, y), *rest = points
    moves = [f"M{x:g} {y:g}", *(f"H{next_x:g}V{next_y:g}" for next_x, next_y in rest)]
    return "".join(moves) + (f"H{until:g}" if until is not None else "")


def polygon_path(points: Iterable[Point]) -> str:
    """Return a closed path."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points) + "Z"
