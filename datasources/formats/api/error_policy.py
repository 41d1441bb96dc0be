"""The policy for records that could not be decoded: the option `format.on-error`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.errors import RecordError
from datasources.formats.api.decoder import Decoded, RecordStatus


class OnError(Enum):
    """The values of `format.on-error`."""

    FAIL = "fail"
    """The query stops at the first bad record and reports its position."""
    NULL = "null"
    """A bad record becomes a row whose data columns are null."""
    SKIP = "skip"
    """A bad record gives no row."""
    DEAD_LETTER = "dead-letter"
    """A bad record gives no row; the reader writes it elsewhere."""

    @property
    def is_skipping(self) -> bool:
        """Whether a bad record gives no row."""
        return self in (OnError.SKIP, OnError.DEAD_LETTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyResult:
    """The rows that the query reads, and how many records were bad or had no value.

    Attributes:
        columns: the remaining rows, in the order of the input.
        has_rows: for each input record whether it has rows in `columns`; None when every one has.
        bad_rows: number of bad records, kept as null rows or skipped.
        null_value_rows: number of records without a value; they never give a row.
        statuses: of each input record; None when all are plain data.
        records: which input record each row of `columns` comes from; None = row n comes from the nth that has one.
    """

    columns: pa.RecordBatch
    has_rows: npt.NDArray[np.bool_] | None
    bad_rows: int
    null_value_rows: int
    statuses: npt.NDArray[np.uint8] | None = None
    records: npt.NDArray[np.int64] | None = None

    def input_row(self, row: int) -> int:
        """Return which input record a row of `columns` comes from."""
        if self.records is not None:
            return int(self.records[row])
        return row if self.has_rows is None else int(np.flatnonzero(self.has_rows)[row])

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


def apply_policy(decoded: Decoded, on_error: OnError, describe_row: Callable[[int], str]) -> PolicyResult:
    """Drop records without a value, and fail at, keep as null or drop the bad ones.

    Args:
        decoded: a decoder's result.
        on_error: the user's choice.
        describe_row: describes the position of an input record, such as
            "topic orders, partition 3, offset 17"; called only for the record that fails.

    Raises:
        RecordError: `on_error` is FAIL and there is a bad record; the first one is named.
    """
    if decoded.statuses is None:
        return PolicyResult(
            columns=decoded.columns, has_rows=None, bad_rows=0, null_value_rows=0, records=decoded.records
        )
    bad = decoded.statuses == RecordStatus.BAD
    absent = decoded.statuses == RecordStatus.NULL_VALUE
    if on_error is OnError.FAIL and bad.any():
        index = int(np.flatnonzero(bad)[0])
        raise RecordError(_failure(describe_row(index), decoded.reasons[index]))
    has_rows = ~(absent | bad) if on_error.is_skipping else ~absent
    all_have_rows = bool(has_rows.all())
    rows = has_rows if decoded.records is None else has_rows[decoded.records]
    return PolicyResult(
        columns=decoded.columns if all_have_rows else decoded.columns.filter(pa.array(rows)),
        has_rows=None if all_have_rows else has_rows,
        bad_rows=int(np.count_nonzero(bad)),
        null_value_rows=int(np.count_nonzero(absent)),
        statuses=decoded.statuses,
        records=None if decoded.records is None else decoded.records[rows],
    )


def _failure(position: str, reason: str) -> str:
    return (
        f"the record at {position} cannot be decoded: {reason}; correct the producer or the schema, "
        "or set 'format.on-error' to 'null' (keep such a record as a row of nulls), 'skip' (leave it out) or "
        "'dead-letter' (leave it out and write it to a topic)"
    )
