"""Records as they were read, and what is written of one that is a dead letter.

A dead letter has the value as it was. Its key is `topic-partition-offset` of the record, so that equal keys are of one
record; the record's own key is in a header. The record's own headers come first, in their order; the last eight are
those of `HEADERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.kafka.client.record_columns import Headers, RecordFields, Records
from datasources.kafka.producer.producers import OutgoingRecord
from datasources.source.api.dead_letters import DeadLetter

HEADERS: Final = (
    "tidemark.kind",
    "tidemark.reason",
    "tidemark.topic",
    "tidemark.partition",
    "tidemark.offset",
    "tidemark.timestamp",
    "tidemark.timestamp-type",
    "tidemark.key",
)
FIELDS: Final = RecordFields.VALUE | RecordFields.KEY | RecordFields.TIMESTAMP | RecordFields.HEADERS
"""The fields of a record that a dead letter needs."""
_TIMESTAMP_TYPES: Final = ("NoTimestampType", "CreateTime", "LogAppendTime")
_MAX_REASON: Final = 2_000
_NONE_BAD: Final[Mapping[int, str]] = MappingProxyType({})


class RawRecords:
    """The records behind a chunk (`ChunkRecords`).

    Args:
        topic, partition: of all of them.
        records: with the fields `FIELDS`.
        rows: which record each row of the chunk is of; None = row n is of record n.
        bad: the bad records to write, and why they are bad.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        records: Records,
        rows: NDArray[np.int64] | None,
        bad: Mapping[int, str] = _NONE_BAD,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.bad = bad
        self._records = records
        self._rows = rows

    def record_of(self, row: int) -> int:
        """Return which record a row belongs to."""
        return row if self._rows is None else int(self._rows[row])

    def position(self, record: int) -> int:
        """Return the offset of a record."""
        return self._records.offset(record)

    def outgoing(self, letter: DeadLetter) -> OutgoingRecord:
        """Return what is written of a record."""
        number = letter.record
        topic, partition, offset = self.topic, str(self.partition), str(self.position(number))
        kind = int(self._timestamp_kinds[number])
        own = (
            letter.kind.value,
            letter.reason[:_MAX_REASON],
            topic,
            partition,
            offset,
            str(self._timestamps_ms[number]) if kind else None,
            _TIMESTAMP_TYPES[kind],
        )
        texts = [None if text is None else text.encode("utf-8", "replace") for text in own]
        provided = zip(HEADERS, [*texts, self._keys[number].as_py()], strict=True)
        return OutgoingRecord(
            key=f"{topic}-{partition}-{offset}".encode(),
            value=self._values[number].as_py(),
            headers=(*self._own_headers(number), *provided),
        )

    def _own_headers(self, number: int) -> list[tuple[str, bytes | None]]:
        start, end = int(self._headers.ends[number]), int(self._headers.ends[number + 1])
        if start == end:
            return []
        names, contents = (each[start:end].to_pylist() for each in (self._headers.names, self._headers.contents))
        return list(zip(names, contents, strict=True))

    # Columns are made for a chunk that has dead letters, once.

    @cached_property
    def _keys(self) -> pa.BinaryArray:
        return self._records.keys()

    @cached_property
    def _values(self) -> pa.BinaryArray:
        return self._records.values()

    @cached_property
    def _timestamps_ms(self) -> NDArray[np.int64]:
        return self._records.timestamps_ms()

    @cached_property
    def _timestamp_kinds(self) -> NDArray[np.int8]:
        return self._records.timestamp_kinds()

    @cached_property
    def _headers(self) -> Headers:
        return self._records.headers()
