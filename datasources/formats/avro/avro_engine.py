"""Decodes batches of records, each on the fastest path that decodes it exactly: in C or in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.api.decoder import statuses_of
from datasources.formats.avro.native_path.native_decoder import NativeDecoder
from datasources.formats.avro.resolution.steps import Plan
from datasources.formats.avro.slow_path import BadRecord, SlowPathDecoder
from datasources.formats.columns.partial_rows import PartialRows, completed, nothing_done
from datasources.native import native


class AvroEngine:
    """Decodes batches of records. Not thread-safe.

    Args:
        plan: what to do with each value; whether a record is bad does not depend on `wanted`.
        schema: the columns of the plan.
        wanted: those to decode.
        skip: bytes at the head of each payload that are not the record's.
    """

    def __init__(self, plan: Plan, schema: pa.Schema, wanted: Sequence[pa.Field], skip: int = 0) -> None:
        self._column_indexes = [schema.get_field_index(f.name) for f in wanted]
        self._types = [f.type for f in wanted]
        self._slow_path = SlowPathDecoder(plan, skip)
        library = native()
        self._native_path = None if library is None else NativeDecoder(library, plan, wanted, skip)

    def decode(self, values: pa.Array) -> tuple[list[pa.Array], npt.NDArray[np.uint8] | None, dict[int, str]]:
        """Decode one batch of payloads, `pa.binary()`; null stands for a Kafka null value.

        Returns:
            The wanted columns, null where the status is not OK; one `RecordStatus` for each record, None = all are OK;
            why a record is bad.
        """
        partial = self._native_rows(values)
        columns, reasons = completed(
            partial, values, row=self._slow_path.row, bad=BadRecord, positions=self._column_indexes
        )
        return columns, statuses_of(np.asarray(values.is_valid()), reasons), reasons

    def _native_rows(self, values: pa.Array) -> PartialRows:
        if self._native_path is None:
            return nothing_done(len(values), self._types)
        return self._native_path.decode(values)
