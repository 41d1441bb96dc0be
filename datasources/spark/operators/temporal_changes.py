"""A batch of the build side's changelog as versions to be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.spark.operators.bucket_rows import late_rows, rows_in_order, whole_numbers
from datasources.spark.operators.packets import STAMP_COLUMN
from datasources.spark.operators.session_bucket import Packet
from datasources.spark.operators.versions import ARRIVAL_COLUMN, DELETED_COLUMN, TIME_COLUMN, key_names

__all__ = ["DELETE", "INSERT", "KIND_COLUMN", "NO_CHANGE", "UPDATE_AFTER", "UPDATE_BEFORE", "Changes"]

KIND_COLUMN: Final = "__tidemark_kind"
INSERT: Final = 0
UPDATE_BEFORE: Final = 1
UPDATE_AFTER: Final = 2
DELETE: Final = 3
NO_CHANGE: Final = 4
"""A row without a row kind: a bad record that was kept as a row of nulls."""

_GONE: Final = (UPDATE_BEFORE, DELETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes of a batch.

    Attributes:
        table: as `Versions.of` takes them, in order; None if there are none.
        late_rows: how many came after a watermark at or above their time.
        null_key_rows: rows without a key, which are left out.
    """

    table: pa.Table | None
    late_rows: int
    null_key_rows: int

    @property
    def count(self) -> int:
        """How many there are."""
        return 0 if self.table is None else int(self.table.num_rows)

    @classmethod
    def of(cls, packets: Sequence[Packet], *, first_arrival: int, timeless: bool) -> Changes:
        """Return the changes.

        Args:
            packets: rows with key columns, hash, time, stamp, kind and values.
            first_arrival: the number of the first one.
            timeless: only their order counts, not their time.
        """
        rows = rows_in_order(packets)
        if rows is None:
            return cls(table=None, late_rows=0, null_key_rows=0)
        keyed = rows.filter(_has_key(rows))
        dropped = rows.num_rows - keyed.num_rows
        if not keyed.num_rows:
            return cls(table=None, late_rows=0, null_key_rows=dropped)
        late = 0 if timeless else int(np.count_nonzero(late_rows(keyed, TIME_COLUMN)))
        count = keyed.num_rows
        is_deleted = np.isin(whole_numbers(keyed, KIND_COLUMN), _GONE)
        table = keyed.drop_columns([STAMP_COLUMN, KIND_COLUMN])
        if timeless:
            place = table.column_names.index(TIME_COLUMN)
            table = table.set_column(place, TIME_COLUMN, pa.array(np.zeros(count, dtype=np.int64)))
        table = table.append_column(ARRIVAL_COLUMN, pa.array(first_arrival + np.arange(count, dtype=np.int64)))
        table = table.append_column(DELETED_COLUMN, pa.array(is_deleted))
        return cls(table=table, late_rows=late, null_key_rows=dropped)


def _has_key(rows: pa.Table) -> pa.ChunkedArray:
    has_key = pc.not_equal(rows.column(KIND_COLUMN), NO_CHANGE)
    for name in key_names(rows.column_names):
        has_key = pc.and_(has_key, pc.is_valid(rows.column(name)))
    return has_key
