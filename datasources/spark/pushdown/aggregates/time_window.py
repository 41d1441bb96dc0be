"""TUMBLE, HOP and CUMULATE as Spark SQL."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from datasources.durations import UNITS_US, interval_literal, parse_duration_ms, spark_duration
from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.spark.pushdown.aggregates.window_marker import WindowMarker

WINDOW_COLUMNS: Final = ("window_start", "window_end", "window_time")
"""What a window adds to a row."""

_WINDOW: Final = "__tidemark_window"
_MILLISECOND: Final = "INTERVAL '0.001' SECOND"
_US_PER_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """Windows of event time: `TimeWindow.tumble("1 min")`, `.hop("1 h", "5 min")`, `.cumulate("1 d", "1 h")`.

    Attributes:
        size_us: the length; of CUMULATE the largest, µs.
        step_us: the distance between windows; equals the size for TUMBLE, µs.
        offset_us: where windows begin, counted from the epoch, µs.
        is_cumulative: CUMULATE: windows of one begin grow step by step.
    """

    size_us: int
    step_us: int
    offset_us: int = 0
    is_cumulative: bool = False

    @classmethod
    def tumble(cls, size: str, *, offset: str = "0 s") -> TimeWindow:
        """Windows one behind the other; durations are texts such as '10 s', '5 min', '1 h'."""
        return cls(size_us=_us(size, "size"), step_us=_us(size, "size"), offset_us=_us(offset, "offset"))

    @classmethod
    def hop(cls, size: str, slide: str, *, offset: str = "0 s") -> TimeWindow:
        """Windows that begin every `slide`; a row is in each that contains it."""
        return cls(size_us=_us(size, "size"), step_us=_us(slide, "slide"), offset_us=_us(offset, "offset"))

    @classmethod
    def cumulate(cls, size: str, step: str, *, offset: str = "0 s") -> TimeWindow:
        """Windows that begin every `size` and end every `step` after that, up to the next begin."""
        found = cls(
            size_us=_us(size, "size"), step_us=_us(step, "step"), offset_us=_us(offset, "offset"), is_cumulative=True
        )
        if found.size_us % found.step_us:
            raise QueryError(f"the size of a CUMULATE window, '{size}', has to be a multiple of its step, '{step}'.")
        return found

    def marker(self, view: str, attribute: str, *, is_local: bool) -> WindowMarker | None:
        """Return the mark of these windows over a column of a view; None if they are not made of panes.

        ``is_local``: the column is a TIMESTAMP_NTZ. To a TIMESTAMP Spark adds days on the calendar of the session's
        zone, and steps of CUMULATE are added.
        """
        if self.is_cumulative and not is_local and self.size_us >= UNITS_US["DAY"]:
            return None
        pane_us = math.gcd(self.size_us, self.step_us)
        return WindowMarker(view=view, attribute=attribute, pane_us=pane_us, offset_us=self.offset_us % pane_us)

    def text(self, view: str, attribute: str) -> str:
        """Return the query of a view's rows with `WINDOW_COLUMNS`, each row once for each window that contains it."""
        return (self._cumulative if self.is_cumulative else self._sliding)(view, quoted(attribute))

    def _sliding(self, view: str, time: str) -> str:
        """TUMBLE and HOP are Spark's own window()."""
        lengths = f"'{spark_duration(self.size_us)}', '{spark_duration(self.step_us)}'"
        start = f", '{spark_duration(self.offset_us % self.step_us)}'" if self.offset_us % self.step_us else ""
        if self.size_us == self.step_us and not start:
            lengths = f"'{spark_duration(self.size_us)}'"
        return (
            f"SELECT * EXCEPT ({_WINDOW}), {_WINDOW}.start AS window_start, {_WINDOW}.end AS window_end, "
            f"{_WINDOW}.end - {_MILLISECOND} AS window_time "
            f"FROM (SELECT *, window({time}, {lengths}{start}) AS {_WINDOW} FROM {view})"
        )

    def _cumulative(self, view: str, time: str) -> str:
        """The largest window by window(), then one row for each of its beginnings that ends behind the row's time."""
        size, offset = f"'{spark_duration(self.size_us)}'", self.offset_us % self.size_us
        lengths = f"{size}, {size}, '{spark_duration(offset)}'" if offset else size
        numbers = f"sequence(1, {self.size_us // self.step_us})"
        ends = f"transform({numbers}, i -> {_WINDOW}.start + {interval_literal(self.step_us)} * i)"
        return (
            f"SELECT * EXCEPT ({_WINDOW}, window_end), {_WINDOW}.start AS window_start, window_end, "
            f"window_end - {_MILLISECOND} AS window_time "
            f"FROM (SELECT *, explode(filter({ends}, e -> e > {time})) AS window_end "
            f"FROM (SELECT *, window({time}, {lengths}) AS {_WINDOW} FROM {view}))"
        )


def _us(text: str, name: str) -> int:
    found = parse_duration_ms(text, key=name) * _US_PER_MS
    if found == 0 and name != "offset":
        raise QueryError(f"the {name} of a window is '{text}': it has to be longer than nothing.")
    return found
