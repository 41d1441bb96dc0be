"""Dead letters: records that give no row to the query are written elsewhere, once each, and the query goes on.

A task finds them in what it reads, so a batch that is read again finds the same ones. The connector writes them before
the task reports its end, and remembers at the target up to which position of a split they are there: whoever reads the
range again writes only what is missing.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from datasources.source.api.split import SplitId


class DeadLetterKind(enum.Enum):
    """Why a record gave no row."""

    BAD = "bad"
    """It could not be decoded (`format.on-error` = `dead-letter`)."""
    LATE = "late"
    """A row of it was late (`watermark.late-rows` = `dead-letter`)."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record of a chunk to write: its number in `ChunkRecords`, and why."""

    record: int
    kind: DeadLetterKind
    reason: str


@dataclass(frozen=True, slots=True)
class DeadLetterScope:
    """In which dead letters are written once.

    Attributes:
        source: an id of the source within its query, the same as long as the checkpoint is.
        sequence: number of the batch. Dead letters of later batches are at positions that this one did not read,
            except where positions were given out again: in a topic that was created again, or after an election.
    """

    source: str
    sequence: int


class ChunkRecords(Protocol):
    """The records behind the rows of a chunk, bad ones included; they are numbered from 0 in split order."""

    @property
    def bad(self) -> Mapping[int, str]:
        """The records that are bad, and why; empty where bad records are not written."""

    def record_of(self, row: int) -> int:
        """Return which record a row belongs to."""

    def position(self, record: int) -> int:
        """Return the position of a record."""


class DeadLetterWriter(Protocol):
    """Writes the dead letters of one range of one split."""

    def add(self, records: ChunkRecords, letters: Sequence[DeadLetter]) -> None:
        """Take dead letters of a chunk, in split order; they may be written now or at the end.

        Raises:
            SourceUnavailable: they could not be written.
        """

    def finish(self) -> None:
        """Return when all are written.

        Raises:
            SourceUnavailable: they could not be written.
        """


@runtime_checkable
class WritesDeadLetters(Protocol):
    """A reader factory whose readers can write dead letters.

    Its readers have `dead_letter_writer`, and their chunks `records`, after `with_dead_letters`.
    """

    def with_dead_letters(self, scope: DeadLetterScope) -> Self:
        """Return a copy that reads records with all that dead letters need."""


@runtime_checkable
class DeadLetterReader(Protocol):
    """A reader of such a factory."""

    def dead_letter_writer(self, split: SplitId) -> DeadLetterWriter | None:
        """Return what writes the dead letters of a range; None where the options ask for none."""
