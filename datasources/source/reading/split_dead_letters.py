"""The dead letters of one range of one split: which records of a chunk they are, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasources.source.api.dead_letters import ChunkRecords, DeadLetter, DeadLetterKind, DeadLetterWriter
from datasources.source.api.reader import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class LateRowsOfChunk:
    """The late rows of a chunk: which rows of it they are, their rowtimes and row watermarks, µs."""

    chunk_rows: NDArray[np.int64]
    rowtimes_us: NDArray[np.int64]
    row_watermarks_us: NDArray[np.int64]


class SplitDeadLetters:
    """Finds dead letters and hands them to the connector.

    Attributes:
        count: how many records of the range are dead letters, also those that were written before.

    Args:
        writer: the connector's.
        attribute: the name of the time attribute, for reasons; "" = there is none, or there are several.
    """

    def __init__(self, writer: DeadLetterWriter, attribute: str) -> None:
        self.count = 0
        self._writer = writer
        self._rowtime = f"rowtime {attribute} =" if attribute else "rowtime"

    def take(self, chunk: Chunk, *, late: LateRowsOfChunk | None = None, stopped_at: int | None = None) -> None:
        """Take a chunk.

        Args:
            chunk: of a reader that was opened to write dead letters.
            late: its late rows that are written; None = none are.
            stopped_at: the position from which on the range is not read; None = all of the chunk is.

        Raises:
            SourceUnavailable: dead letters could not be written.
        """
        records = chunk.records
        assert records is not None
        found = {} if late is None else {letter.record: letter for letter in self._late(records, late)}
        for record, reason in records.bad.items():
            if stopped_at is None or records.position(record) < stopped_at:
                found[record] = DeadLetter(record, DeadLetterKind.BAD, reason)
        if found:
            self.count += len(found)
            self._writer.add(records, [found[record] for record in sorted(found)])

    def finish(self) -> None:
        """Return when all dead letters are written.

        Raises:
            SourceUnavailable: they could not be written.
        """
        self._writer.finish()

    def _late(self, records: ChunkRecords, late: LateRowsOfChunk) -> Iterator[DeadLetter]:
        """Yield a letter for each record with late rows; its reason is that of the first of them."""
        rows = [records.record_of(int(row)) for row in late.chunk_rows]
        numbers, firsts, counts = np.unique(rows, return_index=True, return_counts=True)
        for number, first, count in zip(numbers.tolist(), firsts.tolist(), counts.tolist(), strict=True):
            rowtime, watermark = (
                np.datetime64(int(values[first]), "us") for values in (late.rowtimes_us, late.row_watermarks_us)
            )
            others = "" if count == 1 else f" (the first of its {count} late rows)"
            yield DeadLetter(
                number,
                DeadLetterKind.LATE,
                f"the {self._rowtime} {rowtime} is at or before the row watermark {watermark}{others}",
            )
