"""The result of decoding a batch of records, and the interface that every format implements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_NO_REASONS: Mapping[int, str] = MappingProxyType({})


class RecordStatus(IntEnum):
    """The result of decoding one record."""

    OK = 0
    """The row holds the record's values."""
    NULL_VALUE = 1
    """The record had no value at all (a Kafka null value); the row is all null."""
    BAD = 2
    """The record could not be decoded; the row is all null and there is a reason."""


class RowKind(IntEnum):
    """The kind of change of a changelog row. `ROW_KINDS` has the texts, in this order."""

    INSERT = 0
    UPDATE_BEFORE = 1
    """The row as it was; the row as it is follows."""
    UPDATE_AFTER = 2
    """The row as it is; without a preceding UPDATE_BEFORE it may be an insert."""
    DELETE = 3
    TRUNCATE = 4
    """All rows are gone; there are no values."""


ROW_KINDS = ("+I", "-U", "+U", "-D", "T")
"""How the column `row_kind` writes them. Source: Flink RowKind; T is Tidemark's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The typed rows of one batch, in the order of the input: one or more for each input record.

    Attributes:
        columns: rows in exactly the decoder's schema; a record whose status is not OK has one row, in which every
            value is null, also in columns that were declared NOT NULL.
        statuses: one `RecordStatus` for each record, or None when all of them are OK.
        reasons: for bad records only: input index -> why, in one clause without a full stop, with at most about
            80 characters of the payload.
        records: which input record each row comes from, never decreasing; None = every record has one row.
        kinds: one `RowKind` for each row; None = all are INSERT. Without meaning where the status is not OK.
    """

    columns: pa.RecordBatch
    statuses: npt.NDArray[np.uint8] | None = None
    reasons: Mapping[int, str] = field(default_factory=lambda: _NO_REASONS)
    records: npt.NDArray[np.int64] | None = None
    kinds: npt.NDArray[np.uint8] | None = None


class Decoder(Protocol):
    """Turns the payloads of records into typed columns.

    Decoders are configuration: they are pickled to the executors and build what they need there.
    """

    @property
    def schema(self) -> pa.Schema:
        """All fields in the order and with the nullability that the user declared."""
        ...

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch.

        Args:
            values: a `pa.binary()` or `pa.string()` array of payloads; null stands for a Kafka null value.

        Raises:
            Nothing because of a payload: bad records are reported in the result.

        When called: in the reader, once for each batch of records fetched.
        """
        ...


def statuses_of(has_value: npt.NDArray[np.bool_], reasons: Mapping[int, str]) -> npt.NDArray[np.uint8] | None:
    """Return the `RecordStatus` of each record, those with a reason being bad; None if all are OK."""
    if not reasons and has_value.all():
        return None
    statuses = np.where(has_value, np.uint8(RecordStatus.OK), np.uint8(RecordStatus.NULL_VALUE))
    statuses[list(reasons)] = RecordStatus.BAD
    return statuses
