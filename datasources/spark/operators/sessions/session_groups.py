"""Partial aggregates of the rows of a session, kept in its state in place of the rows.

A session keeps its rows because they may all be wanted when it ends. Where only aggregates of them are, the rows of a
micro-batch become one for each session and group, and those of several micro-batches are put together when segments are
rewritten: what a session keeps depends on its groups, not on its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.source.api.aggregation import PartialFunction
from datasources.source.api.packing import PackedInput
from datasources.source.reading.partial_groups import grouped_rows
from datasources.spark.operators.sessions.merging import LATE
from datasources.spark.operators.sessions.session_state import FRAGMENT_COLUMN

_SESSION: Final = "__tidemark_session"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionGroups:
    """What is kept of the rows of a session.

    Attributes:
        keys: the columns by which they are grouped.
        calls: the columns with their aggregates as if each row were alone, and how several become one.
        counted: the column that tells which rows are aggregated; the others only hold a session together.
        of_rows: computes keys and calls of rows that were stored before aggregates were, and which of them count.
    """

    keys: tuple[str, ...]
    calls: Mapping[str, PartialFunction]
    counted: str
    of_rows: PackedInput

    @property
    def columns(self) -> list[str]:
        """The columns that are kept."""
        return [*self.keys, *self.calls]

    def by_session(self, rows: pa.Table, session: NDArray[np.int64]) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return what is kept of arrived rows, and its sessions; late rows are left out."""
        chosen = np.asarray(rows.column(self.counted).to_numpy(), np.bool_) & (session != LATE)
        numbered = rows.select(self.columns).filter(pa.array(chosen)).append_column(_SESSION, pa.array(session[chosen]))
        found = self.grouped(numbered, by=[_SESSION])
        return found.drop_columns([_SESSION]), found.column(_SESSION).to_numpy()

    def grouped(self, rows: pa.Table, *, by: Sequence[str]) -> pa.Table:
        """Return one row for each group and the values of other columns; the same rows where that is not certain."""
        found = grouped_rows(rows, [*by, *self.keys], self.calls) if rows.num_rows else None
        return rows if found is None else found

    def of_stored_rows(self, segment: pa.Table) -> pa.Table:
        """Return what is kept of a segment with rows."""
        batches = [self._of_rows(batch) for batch in segment.to_batches()]
        schema = pa.schema([*((each.name, each.type) for each in self.of_rows.columns), (FRAGMENT_COLUMN, pa.int64())])
        return pa.Table.from_batches(batches, schema=schema)

    def _of_rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if self.of_rows.condition is not None:
            rows = rows.filter(self.of_rows.condition.evaluator().evaluate(rows).fill_null(False))
        values = [each.value.evaluator().evaluate(rows) for each in self.of_rows.columns]
        arrays = [*values, rows.column(FRAGMENT_COLUMN)]
        return pa.RecordBatch.from_arrays(arrays, names=[*self.columns, FRAGMENT_COLUMN])
