"""What becomes of records that could not be decoded: the option `format.on-error`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.errors import RecordError
from datasources.formats.api.decoder import Decoded, RecordStatus

__all__ = ["OnError", "Outcome", "apply_policy"]


class OnError(Enum):
    """The values of `format.on-error`."""

    FAIL = "fail"
    """The query stops at the first bad record and names its place."""
    NULL = "null"
    """A bad record becomes a row whose data columns are null."""
    SKIP = "skip"
    """A bad record gives no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The rows that the query gets to see, and how many records were not plain data.

    Attributes:
        columns: the remaining rows, in the order of the input.
        kept: for each input record whether it has rows in `columns`; None when every one has.
        bad_rows: number of bad records, kept as null rows or skipped.
        null_value_rows: number of records without a value; they never give a row.
        statuses: of each input record; None when all are plain data.
        records: which input record each row of `columns` comes from; None = row n comes from the nth that has one.
    """

    columns: pa.RecordBatch
    kept: npt.NDArray[np.bool_] | None
    bad_rows: int
    null_value_rows: int
    statuses: npt.NDArray[np.uint8] | None = None
    records: npt.NDArray[np.int64] | None = None

    def input_row(self, row: int) -> int:
        """Return which input record a row of `columns` comes from."""
        if self.records is not None:
            return int(self.records[row])
        return row if self.kept is None else int(np.flatnonzero(self.kept)[row])

    def first_row(self, row: int) -> int:
        """Return the first row of the record that a row of `columns` belongs to."""
        return row if self.records is None else int(np.searchsorted(self.records, self.records[row]))

    def counts_before(self, row: int) -> tuple[int, int]:
        """Return how many bad records and records without a value come before a row of `columns`."""
        if self.statuses is None:
            return 0, 0
        before = self.statuses[: self.input_row(row)]
        bad = int(np.count_nonzero(before == RecordStatus.BAD))
        return bad, int(np.count_nonzero(before == RecordStatus.NULL_VALUE))


def apply_policy(decoded: Decoded, on_error: OnError, place: Callable[[int], str]) -> Outcome:
    """Drop records without a value, and fail at, keep as null or drop the bad ones.

    Args:
        decoded: a decoder's result.
        on_error: the user's choice.
        place: gives the words that name the place of an input record, such as
            "topic orders, partition 3, offset 17"; asked only for the record that fails.

    Raises:
        RecordError: `on_error` is FAIL and there is a bad record; the first one is named.
    """
    if decoded.statuses is None:
        return Outcome(columns=decoded.columns, kept=None, bad_rows=0, null_value_rows=0, records=decoded.records)
    bad = decoded.statuses == RecordStatus.BAD
    absent = decoded.statuses == RecordStatus.NULL_VALUE
    if on_error is OnError.FAIL and bad.any():
        index = int(np.flatnonzero(bad)[0])
        raise RecordError(_failure(place(index), decoded.reasons[index]))
    kept = ~(absent | bad) if on_error is OnError.SKIP else ~absent
    all_kept = bool(kept.all())
    rows = kept if decoded.records is None else kept[decoded.records]
    return Outcome(
        columns=decoded.columns if all_kept else decoded.columns.filter(pa.array(rows)),
        kept=None if all_kept else kept,
        bad_rows=int(np.count_nonzero(bad)),
        null_value_rows=int(np.count_nonzero(absent)),
        statuses=decoded.statuses,
        records=None if decoded.records is None else decoded.records[rows],
    )


def _failure(place: str, reason: str) -> str:
    return (
        f"the record at {place} cannot be decoded: {reason}; correct the producer or the schema, "
        "or set 'format.on-error' to 'null' (keep such a record as a row of nulls) or 'skip' (leave it out)"
    )
