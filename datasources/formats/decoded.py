"""What a decoder gives back for a batch of records, and the seam that every format implements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Decoded", "Decoder", "RecordStatus"]

_NO_REASONS: Mapping[int, str] = MappingProxyType({})


class RecordStatus(IntEnum):
    """How one input record came out of its decoder."""

    OK = 0
    """The row holds the record's values."""
    NULL_VALUE = 1
    """The record had no value at all (a Kafka null value); the row is all null."""
    BAD = 2
    """The record could not be decoded; the row is all null and there is a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The typed rows of one batch, one row for each input record, in the order of the input.

    Attributes:
        columns: rows in exactly the decoder's schema; where the status is not OK, every value is null, also in
            columns that were declared NOT NULL.
        statuses: one `RecordStatus` for each row, or None when all of them are OK.
        reasons: for bad records only: input index -> why, in one clause without a full stop, with at most about
            80 characters of the payload.
    """

    columns: pa.RecordBatch
    statuses: npt.NDArray[np.uint8] | None = None
    reasons: Mapping[int, str] = field(default_factory=lambda: _NO_REASONS)


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
