"""Rows that a reader packs for an operator: many rows of one bucket in one cell, as Arrow IPC.

Spark converts rows cell by cell where they enter and leave it. An operator of ours takes packed rows; where its inputs
are rows of one source, chosen and computed at most, the reader packs them, and Spark passes a few cells on.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from datasources.arrow_types import Path
from datasources.source.api.abilities import RowCondition
from datasources.source.api.aggregation import RowValue

PACKED_ROWS = pa.schema([("bucket", pa.int32()), ("input", pa.int32()), ("rows", pa.binary())])
"""What is delivered in place of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedColumn:
    """A column of packed rows: its name and type there, and its value for a row."""

    name: str
    type: pa.DataType
    value: RowValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTimes:
    """The last two columns of packed rows, for an operator that compares rows with the watermark, µs.

    Attributes:
        rowtime: the event time of a row, NULL where it has none.
        rowtime_name: its column.
        watermark_name: the column of the row watermark, 0 where there is none.
    """

    rowtime: RowValue
    rowtime_name: str
    watermark_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedInput:
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

    number: int
    columns: tuple[PackedColumn, ...]
    keys: tuple[int, ...]
    hash_name: str | None = None
    weight: PackedColumn | None = None
    times: PackedTimes | None = None
    condition: RowCondition | None = None

    @property
    def computed(self) -> tuple[PackedColumn, ...]:
        """The columns that are computed of a row, with the weight."""
        return self.columns if self.weight is None else (*self.columns, self.weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPacking:
    """How rows are packed: into how many buckets, and for which inputs of one operator."""

    buckets: int
    inputs: tuple[PackedInput, ...]

    @property
    def paths(self) -> frozenset[Path]:
        """The columns of the scan that are read, or the fields inside of them."""
        values = [column.value for each in self.inputs for column in each.computed]
        values += [each.times.rowtime for each in self.inputs if each.times is not None]
        conditions = [each.condition for each in self.inputs if each.condition is not None]
        return frozenset(path for each in (*values, *conditions) for path in each.paths)
