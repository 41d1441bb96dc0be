"""Turns change events into changelog rows: the number of rows of each event, their kind, and `before` or `after`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasources.formats.api.decoder import RecordStatus, RowKind
from datasources.formats.values.excerpt import excerpt

_OPS = ("c", "r", "u", "d", "t")
_CREATE, _READ, _UPDATE, _DELETE, _TRUNCATE = range(5)
_NO_OP = -1
_KIND_OF = np.array(
    [RowKind.INSERT, RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.DELETE, RowKind.TRUNCATE, RowKind.INSERT],
    dtype=np.uint8,  # the last one is for no op, whose index is -1
)
_NAMES = {_CREATE: "an insert", _READ: "a snapshot read", _UPDATE: "an update", _DELETE: "a delete"}


class Checked(Protocol):
    """Which events were decoded: a status of each, None = all are OK, and why one is bad."""

    @property
    def statuses(self) -> NDArray[np.uint8] | None:
        """Of each event."""
        ...

    @property
    def reasons(self) -> Mapping[int, str]:
        """Of bad ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The rows of a batch of events.

    Attributes:
        statuses, reasons: of each event, as in `Decoded`.
        records: the event of each row; None = each event has one.
        kinds: of each row.
        sources: where each row's values are: n in `before`, events + n in `after`; -1 = nowhere.
        event_count: how many events there are.
    """

    statuses: NDArray[np.uint8] | None
    reasons: Mapping[int, str]
    records: NDArray[np.int64] | None
    kinds: NDArray[np.uint8]
    sources: NDArray[np.int64]
    event_count: int

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.sources)

    def row_values(self, before: pa.Array, after: pa.Array) -> pa.Array:
        """Return a column of the rows, from its values in `before` and `after`."""
        if self._is_all_after():
            return after
        rows = pa.array(self.sources, mask=self.sources < 0)
        return pa.concat_arrays([before, after]).take(rows)

    def per_row(self, column: pa.Array) -> pa.Array:
        """Return a column of the rows, from its values in the events; null where the event is not OK."""
        records = np.arange(self.event_count) if self.records is None else self.records
        if self.statuses is None:
            return column if self.records is None else column.take(pa.array(records))
        return column.take(pa.array(records, mask=self.statuses[records] != RecordStatus.OK))

    def _is_all_after(self) -> bool:
        return self.row_count == self.event_count and bool((self.sources >= self.event_count).all())


def rows_of(op: pa.Array, before: pa.Array, after: pa.Array, found: Checked, hint: str) -> Events:
    """Return the rows of events; `hint` ends the reason of a record that is no event."""
    count = len(op)
    ops = pc.index_in(op, value_set=pa.array(_OPS)).fill_null(_NO_OP).to_numpy(zero_copy_only=False).astype(np.int64)
    statuses, reasons = _with_statuses((ops, op, hint), _validity(before), _validity(after), found)
    if statuses is not None:
        ops[statuses != RecordStatus.OK] = _NO_OP
    is_update = ops == _UPDATE
    has_updates = bool(is_update.any())
    counts = is_update + np.int64(1)
    records = np.repeat(np.arange(count), counts)
    is_second = np.zeros(len(records), dtype=np.bool_)
    is_second[np.cumsum(counts)[is_update] - 1] = True
    row_ops = ops[records]
    is_after = is_second | (row_ops == _CREATE) | (row_ops == _READ)
    sources = np.where(is_after, records + count, records)
    sources[(row_ops == _TRUNCATE) | (row_ops == _NO_OP)] = -1
    return Events(
        statuses=statuses,
        reasons=reasons,
        records=records if has_updates else None,
        kinds=np.where(is_second, np.uint8(RowKind.UPDATE_AFTER), _KIND_OF[row_ops]),
        sources=sources,
        event_count=count,
    )


def _with_statuses(
    of_op: tuple[NDArray[np.int64], pa.Array, str],
    before: NDArray[np.bool_],
    after: NDArray[np.bool_],
    found: Checked,
) -> tuple[NDArray[np.uint8] | None, Mapping[int, str]]:
    """Return the status of each event and the reasons of bad ones, from the decoder or from the op."""
    (ops, op, hint), statuses = of_op, found.statuses
    needs_after = (ops == _CREATE) | (ops == _READ) | (ops == _UPDATE)
    needs_before = (ops == _UPDATE) | (ops == _DELETE)
    wrong = (ops == _NO_OP) | (needs_after & ~after) | (needs_before & ~before)
    if statuses is not None:
        wrong &= statuses == RecordStatus.OK
    if not wrong.any():
        return statuses, found.reasons
    statuses = np.zeros(len(ops), dtype=np.uint8) if statuses is None else statuses.copy()
    statuses[wrong] = RecordStatus.BAD
    reasons = dict(found.reasons)
    for event in np.flatnonzero(wrong).tolist():
        lacks_before = bool(needs_before[event] and not before[event])
        reasons[event] = _reason(int(ops[event]), op[event].as_py(), hint, lacks_before=lacks_before)
    return statuses, reasons


def _reason(op: int, text: str | None, hint: str, *, lacks_before: bool) -> str:
    if op == _NO_OP:
        known = ", ".join(_OPS)
        if text is None:
            return f'it is no Debezium event: it has no "op" (one of {known}){hint}'
        return f'the "op" {excerpt(text)} of the Debezium event is not one of {known}'
    if lacks_before:
        return (
            f'the "before" of {_NAMES[op]} is null; a PostgreSQL table must have REPLICA IDENTITY FULL for Debezium '
            f"to send it"
        )
    return f'the "after" of {_NAMES[op]} is null'


def _validity(array: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(array.is_valid())
