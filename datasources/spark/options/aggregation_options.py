"""The option `scan.aggregation`: partial aggregates in place of rows, as JSON."""

from __future__ import annotations

from pydantic import Field

from datasources.source.api.aggregation import PartialFunction
from datasources.spark.options.json_option import JsonOption

AGGREGATION = "scan.aggregation"
"""Which partial aggregates a scan delivers in place of rows; see `AggregationOption`."""


class KeyOption(JsonOption):
    """A column by which rows are grouped: its name, and its value as Spark SQL over the scan's columns."""

    name: str
    value: str


class CallOption(JsonOption):
    """An aggregate: the name of its column, and Spark SQL over the scan's columns.

    Attributes:
        argument: the value of a row; None = COUNT of rows.
        condition: which rows count; None = all.
    """

    name: str
    function: PartialFunction
    argument: str | None = None
    condition: str | None = None


class PaneOption(JsonOption):
    """The panes that rows are grouped by.

    Attributes:
        name: of the column with the begin of each pane.
        rowtime: the event time of a row, as Spark SQL over the scan's columns.
        length_us: the length of a pane, µs.
        offset_us: where panes begin, counted from the epoch, µs.
    """

    name: str
    rowtime: str
    length_us: int = Field(gt=0)
    offset_us: int = 0


class AggregationOption(JsonOption):
    """The option's value.

    Attributes:
        panes: by which panes rows are grouped; None = by none, which only a batch read does.
        keys: by what rows are grouped besides.
        calls: the aggregates.
        keeps_row_watermarks: whether rows are late for windows by their own row watermarks.
    """

    panes: PaneOption | None = None
    keys: tuple[KeyOption, ...] = ()
    calls: tuple[CallOption, ...] = ()
    keeps_row_watermarks: bool = False


def parse_aggregation(text: str) -> AggregationOption:
    """Return the value of the option.

    Raises:
        OptionError: it has another form.
    """
    return AggregationOption.parsed(AGGREGATION, text)
