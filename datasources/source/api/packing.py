"""Rows that a reader packs for an operator: many rows of one bucket in one cell, as Arrow IPC.

Spark converts rows cell by cell where they enter and leave it. An operator of ours takes packed rows; where its inputs
are rows of one source, chosen and computed at most, the reader packs them, and Spark passes a few cells on.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

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
class PackedInput:
    """An input of the operator.

    Attributes:
        number: which input, from 0.
        columns: of its rows.
        keys: positions of the columns by whose hash rows are distributed; empty: all rows are in one bucket.
        hash_name: the column of the hash, behind the others.
        weight: the last column.
        condition: which rows are of this input; None = all.
    """

    number: int
    columns: tuple[PackedColumn, ...]
    keys: tuple[int, ...]
    hash_name: str
    weight: PackedColumn
    condition: RowCondition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPacking:
    """How rows are packed: into how many buckets, and for which inputs of one operator."""

    buckets: int
    inputs: tuple[PackedInput, ...]

    @property
    def needed(self) -> frozenset[str]:
        """The columns of the scan that are read."""
        values = [value for each in self.inputs for value in (*(c.value for c in each.columns), each.weight.value)]
        conditions = [each.condition for each in self.inputs if each.condition is not None]
        return frozenset(name for each in (*values, *conditions) for name in each.columns)
