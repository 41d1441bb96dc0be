"""How often each row is in a table before and after a micro-batch.

The state of an operator has a row once, with the sum of its weights. A negative sum is a debt: the row was removed more
often than added, because its addition has not been read yet or never will be. Such a row is not in the table, and later
additions of it pay the debt first. A table's contents therefore depend on the sum of its changes only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, Self, runtime_checkable

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.change_operator import OperatorState
from datasources.spark.operators.changelog.changes import (
    HASH_COLUMN,
    WEIGHT_COLUMN,
    Ints,
    data_names,
    ints,
    weights,
    with_weights,
)
from datasources.spark.operators.changelog.pages.state_pages import StatePages
from datasources.spark.operators.changelog.row_groups import (
    code_sums,
    first_positions,
    is_among,
    merged_codes,
    sorted_unique,
)

MISSING_REMOVALS: Final = "removals of missing rows"
"""Counter: by how much the debts of single rows grew in micro-batches."""


@runtime_checkable
class CountingState(Protocol):
    """A state that also counts what an operator observes."""

    def add_count(self, name: str, number: int) -> None:
        """Add a positive number to a counter."""
        ...


def add_count(state: OperatorState, name: str, number: int) -> None:
    """Add to a counter of the state, if it has counters."""
    if number and isinstance(state, CountingState):
        state.add_count(name, number)


def conformed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return changes or stored rows with the columns and types of a schema, then HASH_COLUMN and WEIGHT_COLUMN."""
    internal = [pa.field(HASH_COLUMN, pa.int64()), pa.field(WEIGHT_COLUMN, pa.int64())]
    whole = pa.schema([*(pa.field(each.name, each.type) for each in schema), *internal])
    rows = rows.select(whole.names)
    return rows if rows.schema.equals(whole) else rows.cast(whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRows:
    """The distinct rows of a table that have given hashes.

    Attributes:
        rows: columns of the table and HASH_COLUMN.
        before: how often each row was in the table before the micro-batch, 0 or more.
        after: the same after it.
        weight: the sum of the row's weights after the micro-batch; negative for a debt.
        missing: by how much debts grew.
    """

    rows: pa.Table
    before: Ints
    after: Ints
    weight: Ints
    missing: int = 0

    @property
    def hashes(self) -> Ints:
        """The hash of each row."""
        return ints(self.rows, HASH_COLUMN)

    @classmethod
    def of_sums(cls, rows: pa.Table, old: Ints, new: Ints) -> Self:
        """Return the rows with these sums of weights before and after the micro-batch."""
        missing = int(np.maximum(np.minimum(old, 0) - np.minimum(new, 0), 0).sum())
        before, after = np.maximum(old, 0), np.maximum(new, 0)
        return cls(rows=rows, before=before, after=after, weight=new, missing=missing)

    def stored(self, hashes: Ints) -> pa.Table:
        """Return the rows to store for the given hashes, which are sorted."""
        kept = np.flatnonzero((self.weight != 0) & is_among(self.hashes, hashes))
        return with_weights(self.rows.take(pa.array(kept)), self.weight[kept])


def merged_rows(stored: pa.Table | None, changes: pa.Table) -> MergedRows:
    """Return the stored rows and those of the changes.

    Args:
        stored: rows of the state, each once, with HASH_COLUMN and WEIGHT_COLUMN; None is none.
        changes: with the same columns in the same order.
    """
    if stored is None:
        return _grouped(changes, old_rows=0)
    if not changes.num_rows:
        sums = weights(stored)
        return MergedRows.of_sums(stored.drop_columns([WEIGHT_COLUMN]), sums, sums)
    touched = is_among(ints(stored, HASH_COLUMN), sorted_unique(ints(changes, HASH_COLUMN)))
    old = stored.filter(pa.array(touched))
    grouped = _grouped(pa.concat_tables([old, changes]), old_rows=old.num_rows)
    if touched.all():
        return grouped
    return _joined(stored.filter(pa.array(~touched)), grouped)


def merge_into(pages: StatePages, changes: pa.Table, also: Ints | None = None) -> MergedRows:
    """Add changes to stored rows; return the rows that have the hashes of the changes or the hashes ``also``."""
    changed = sorted_unique(ints(changes, HASH_COLUMN))
    merged = merged_rows(pages.read(changed if also is None else np.concatenate([changed, also])), changes)
    if len(changed):
        pages.replace(changed, merged.stored(changed))
    return merged


def _grouped(rows: pa.Table, *, old_rows: int) -> MergedRows:
    """Return the distinct rows; the first ``old_rows`` are the state."""
    rows = rows.combine_chunks()
    sums = weights(rows)
    old = np.where(np.arange(len(sums)) < old_rows, sums, 0)
    codes = merged_codes(rows, data_names(rows.column_names))
    count = int(codes.max(initial=-1)) + 1
    rows = rows.drop_columns([WEIGHT_COLUMN])
    if count == len(codes):
        return MergedRows.of_sums(rows, old, sums)
    first = first_positions(codes, count)
    return MergedRows.of_sums(rows.take(pa.array(first)), code_sums(codes, old, count), code_sums(codes, sums, count))


def _joined(unchanged: pa.Table, grouped: MergedRows) -> MergedRows:
    sums = weights(unchanged)
    visible = np.maximum(sums, 0)
    return MergedRows(
        rows=pa.concat_tables([unchanged.drop_columns([WEIGHT_COLUMN]), grouped.rows]).combine_chunks(),
        before=np.concatenate([visible, grouped.before]),
        after=np.concatenate([visible, grouped.after]),
        weight=np.concatenate([sums, grouped.weight]),
        missing=grouped.missing,
    )
