"""The option `scan.packing`: packed rows for an operator in place of rows, as JSON."""

from __future__ import annotations

from pydantic import Field

from datasources.spark.options.json_option import JsonOption

PACKING = "scan.packing"
"""How a scan packs its rows; see `PackingOption`."""


class PackedColumnOption(JsonOption):
    """A column: its name and Spark type in packed rows, and its value as Spark SQL over the scan's columns."""

    name: str
    type: str
    value: str


class PackedTimesOption(JsonOption):
    """The last two columns of packed rows, in microseconds since the epoch.

    Attributes:
        rowtime: the event time of a row, as Spark SQL over the scan's columns.
        rowtime_name: its column.
        watermark_name: the column of the watermark before the row.
    """

    rowtime: str
    rowtime_name: str
    watermark_name: str


class PackedInputOption(JsonOption):
    """An input of the operator.

    Attributes:
        number: which input, from 0.
        columns: of its rows.
        keys: positions of the columns by whose hash rows are distributed; empty: all rows are in one bucket.
        hash_name: the column of the hash, behind the others; None = there is none.
        weight: the column behind it; None = there is none.
        times: the columns behind it; None = there are none.
        condition: which rows are of this input; None = all.
    """

    number: int = Field(ge=0)
    columns: tuple[PackedColumnOption, ...]
    keys: tuple[int, ...] = ()
    hash_name: str | None = None
    weight: PackedColumnOption | None = None
    times: PackedTimesOption | None = None
    condition: str | None = None


class PackingOption(JsonOption):
    """The option's value: the number of buckets, and the inputs of one operator that are read from the scan."""

    buckets: int = Field(gt=0)
    inputs: tuple[PackedInputOption, ...]


def parse_packing(text: str) -> PackingOption:
    """Return the value of the option.

    Raises:
        OptionError: it has another form.
    """
    return PackingOption.parsed(PACKING, text)
