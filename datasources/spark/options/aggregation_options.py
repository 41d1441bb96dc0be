"""The option `scan.aggregation`: partial aggregates in place of rows, as JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from datasources.errors import OptionError
from datasources.source.api.aggregation import PartialFunction

AGGREGATION = "scan.aggregation"
"""Which partial aggregates a scan delivers in place of rows; see `AggregationOption`."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeyOption(_Part):
    """A column by which rows are grouped: its name, and its value as Spark SQL over the scan's columns."""

    name: str
    value: str


class CallOption(_Part):
    """An aggregate: the name of its column, and Spark SQL over the scan's columns.

    Attributes:
        argument: the value of a row; None = COUNT of rows.
        condition: which rows count; None = all.
    """

    name: str
    function: PartialFunction
    argument: str | None = None
    condition: str | None = None


class PaneOption(_Part):
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


class AggregationOption(_Part):
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
    try:
        return AggregationOption.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the text"
        raise OptionError(f"option '{AGGREGATION}' is set by Tidemark only: {where}: {first['msg']}.") from error
