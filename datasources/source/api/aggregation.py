"""Partial aggregates that a reader delivers in place of rows: one row for each (pane, keys) of a part of its range.

A batch read may do without panes: then it is one row for each (keys).

A *pane* is the longest stretch of event time that lies in the same windows as a whole: the size of a TUMBLE window, the
greatest common divisor of size and slide of HOP, the step of CUMULATE. Spark assigns panes to windows and combines the
partial aggregates, with the functions that it would use on the rows.

Source: Spark's SupportsPushDownAggregates; panes are those of "No pane, no gain" (Li et al., SIGMOD Record 2005).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from datasources.arrow_types import Path
from datasources.source.api.abilities import EventTimeExpression, RowCondition


class RowValue(RowCondition, Protocol):
    """A compiled expression of any type over the scan's columns: picklable, opened where it runs."""

    @property
    def result_type(self) -> pa.DataType:
        """The type of its values."""
        ...


class PartialFunction(enum.Enum):
    """How values of rows become one; NULLs are left out."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey:
    """A column by which rows are grouped, and its value for a row."""

    name: str
    value: RowValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialCall:
    """An aggregate of the rows of a group.

    Attributes:
        name: the column of its result.
        function: how values become one.
        argument: the value of a row; None = COUNT of rows.
        condition: which rows count; None = all.
        result_type: the type of the column.
    """

    name: str
    function: PartialFunction
    argument: RowValue | None
    condition: RowCondition | None
    result_type: pa.DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    """The panes that rows are grouped by.

    Attributes:
        name: the column with the begin of each pane.
        rowtime: the event time of a row; rows without one belong to no window and are left out.
        time_type: TIMESTAMP or TIMESTAMP_NTZ.
        length_us: the length of a pane, µs.
        offset_us: where panes begin, counted from the epoch, µs.
    """

    name: str
    rowtime: EventTimeExpression
    time_type: pa.DataType
    length_us: int
    offset_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialAggregation:
    """What a reader delivers in place of rows.

    Attributes:
        panes: by which panes rows are grouped; None = by none, which only a batch read does.
        keys: by what rows are grouped besides.
        calls: the aggregates.
        keeps_row_watermarks: whether rows are late for a window by their own row watermarks: those of a pane that are
            late for different windows are then different groups.
    """

    panes: Panes | None
    keys: tuple[GroupKey, ...]
    calls: tuple[PartialCall, ...]
    keeps_row_watermarks: bool = False

    @property
    def paths(self) -> frozenset[Path]:
        """The columns that it reads, or the fields inside of them."""
        times = [] if self.panes is None else self.panes.rowtime.paths
        return frozenset([*times, *(path for each in self.expressions() for path in each.paths)])

    def expressions(self) -> Iterator[RowCondition]:
        """Yield keys, arguments and conditions."""
        yield from (key.value for key in self.keys)
        for call in self.calls:
            yield from (each for each in (call.argument, call.condition) if each is not None)
