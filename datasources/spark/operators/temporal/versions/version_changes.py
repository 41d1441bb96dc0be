"""The build side's changes of a micro-batch, as versions to add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.bucket_rows import late_rows, rows_in_order, whole_numbers
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN
from datasources.spark.operators.temporal.versions.versions import (
    ARRIVAL_COLUMN,
    DELETED_COLUMN,
    TIME_COLUMN,
    Versions,
    key_names,
)

KIND_COLUMN: Final = "__tidemark_kind"
INSERT: Final = 0
UPDATE_BEFORE: Final = 1
UPDATE_AFTER: Final = 2
DELETE: Final = 3
TRUNCATE: Final = 4
"""The table was truncated: all keys of the bucket are deleted. Every bucket gets such a row."""
NO_CHANGE: Final = 5
"""A row without row kind: a malformed record, read as a row of nulls."""

_GONE: Final = (UPDATE_BEFORE, DELETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChanges:
    """Changes of a micro-batch.

    Attributes:
        table: input of `Versions.of`, in order; None if there are none.
        truncations: (arrival number, time in µs) of each truncation, in order.
        count: number of arrival numbers used.
        late_rows: number of changes at or below their row watermark.
        null_key_rows: number of dropped changes without a key.
    """

    table: pa.Table | None = None
    truncations: tuple[tuple[int, int], ...] = ()
    count: int = 0
    late_rows: int = 0
    null_key_rows: int = 0

    @classmethod
    def of(cls, row_batches: Sequence[RowBatch], *, first_arrival: int, timeless: bool) -> VersionChanges:
        """Return the changes.

        Args:
            row_batches: rows with key columns, hash, time, row watermark, kind and values.
            first_arrival: arrival number of the first change.
            timeless: processing time: versions are ordered by arrival alone.
        """
        rows = rows_in_order(row_batches)
        if rows is None:
            return cls()
        has_key, is_truncation = _has_key(rows), whole_numbers(rows, KIND_COLUMN) == TRUNCATE
        relevant = rows.filter(pa.array(has_key | is_truncation))
        null_key_rows = rows.num_rows - relevant.num_rows
        relevant = relevant.append_column(
            ARRIVAL_COLUMN, pa.array(first_arrival + np.arange(relevant.num_rows, dtype=np.int64))
        )
        if timeless:
            position = relevant.column_names.index(TIME_COLUMN)
            relevant = relevant.set_column(position, TIME_COLUMN, pa.array(np.zeros(relevant.num_rows, dtype=np.int64)))
        kinds = whole_numbers(relevant, KIND_COLUMN)
        keyed, truncated = (relevant.filter(pa.array(chosen)) for chosen in (kinds != TRUNCATE, kinds == TRUNCATE))
        positions = zip(whole_numbers(truncated, ARRIVAL_COLUMN), whole_numbers(truncated, TIME_COLUMN), strict=True)
        return cls(
            table=_as_versions(keyed) if keyed.num_rows else None,
            truncations=tuple((int(arrival), int(time)) for arrival, time in positions),
            count=relevant.num_rows,
            late_rows=0 if timeless else int(np.count_nonzero(late_rows(keyed, TIME_COLUMN))),
            null_key_rows=null_key_rows,
        )

    def added_to(self, versions: Versions | None) -> Versions | None:
        """Return the versions with these changes applied in order; None if there are none."""
        rest = self.table
        for arrival, time in self.truncations:
            if rest is not None:
                arrived = whole_numbers(rest, ARRIVAL_COLUMN) < arrival
                versions = _more(versions, rest.filter(pa.array(arrived)))
                rest = rest.filter(pa.array(~arrived))
            if versions is not None:
                versions = versions.added(versions.all_gone(time, arrival))
        return versions if rest is None else _more(versions, rest)


def _more(versions: Versions | None, table: pa.Table) -> Versions | None:
    if not table.num_rows:
        return versions
    return Versions.of(table) if versions is None else versions.added(table)


def _as_versions(rows: pa.Table) -> pa.Table:
    is_deleted = np.isin(whole_numbers(rows, KIND_COLUMN), _GONE)
    return rows.drop_columns([ROW_WATERMARK_COLUMN, KIND_COLUMN]).append_column(DELETED_COLUMN, pa.array(is_deleted))


def _has_key(rows: pa.Table) -> NDArray[np.bool_]:
    has_key = whole_numbers(rows, KIND_COLUMN) != NO_CHANGE
    for name in key_names(rows.column_names):
        column = rows.column(name)
        if column.null_count:
            has_key &= np.asarray(pc.is_valid(column).to_numpy(), dtype=np.bool_)
    return np.asarray(has_key)
