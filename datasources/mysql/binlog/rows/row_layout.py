"""Locates row images in row events, and columns in them.

A row image is a bitmap of NULLs, then the values of the columns that are not NULL, without gaps. So a row's
length is known only from reading it, and the next row begins where it ends. Two paths do that at numpy's
speed: over all events at once (the first rows of all events, then the second ones ...), for many events
of few rows, the usual case; and along one event in plain Python, for few huge ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.types.decoders.cells import Bytes, Int64s, Mask, read_little

_FEW_EVENTS: Final = 16
_FULL_IMAGE: Final = (
    "SET PERSIST binlog_row_image = 'FULL' (MariaDB: SET GLOBAL, and in its configuration file) and reconnect the "
    "sessions that write; rows written before cannot be read: start with a new snapshot"
)


@dataclass(frozen=True, slots=True)
class ColumnSpans:
    """One column's values in all images.

    Attributes:
        at: begin of each, behind its length prefix.
        lengths: bytes of each, 0 where NULL; None if the width is fixed.
        is_null: which are NULL; None = none.
    """

    at: Int64s
    lengths: Int64s | None
    is_null: Mask | None


@dataclass(frozen=True)
class RowLayout:
    """The layout of the row images of one table map."""

    table: TableMap

    @property
    def null_bytes(self) -> int:
        """Bytes of a bitmap over the columns."""
        return (len(self.table.columns) + 7) // 8

    @cached_property
    def bitmap(self) -> Bytes:
        """A bitmap with the bits of all columns set."""
        count = len(self.table.columns)
        return np.packbits(np.arange(8 * self.null_bytes) < count, bitorder="little")

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """Without NULLs: fixed bytes to skip, then the width of a length prefix; 0 = the row ends."""
        runs, fixed = [], 0
        for column in self.table.columns:
            fixed += column.size
            if column.prefix:
                runs.append((fixed, column.prefix))
                fixed = 0
        return [*runs, (fixed, 0)]

    def image_begins(self, data: Bytes, at: Int64s, *, bitmaps: int) -> Int64s:
        """Return where the first image of each event begins.

        Args:
            data: the buffer.
            at: begin of each event's count of columns.
            bitmaps: how many bitmaps of present columns follow: 2 for updates.

        Raises:
            SchemaError: the events have other columns than the table map, or not all of them (binlog_row_image).
        """
        count = len(self.table.columns)
        wide = count > 250  # noqa: PLR2004 - larger counts have a mark before them
        counts = read_little(data, at + 1, 2) if wide else data[at]
        if bool((counts != count).any()):
            raise SchemaError(
                f"row events of {self.table} have {int(counts[counts != count][0])} columns and the table map before "
                f"them {count}: the binlog is damaged here."
            )
        at = at + (3 if wide else 1)
        offsets = at[:, None] + np.arange(bitmaps * self.null_bytes)
        wanted = np.tile(self.bitmap, bitmaps)
        if bool((data[offsets] & wanted != wanted).any()):
            raise SchemaError(
                f"row events of {self.table} have only some of its columns (binlog_row_image is not FULL), so values "
                f"would be missing: {_FULL_IMAGE}."
            )
        return at + bitmaps * self.null_bytes

    def locate(self, data: Bytes, begins: Int64s, ends: Int64s) -> tuple[Int64s, Int64s]:
        """Return where the images begin, in order, and how many each event has.

        Raises:
            RecordError: an event does not end where its last row does.
        """
        try:
            return self._locate(data, begins, ends)
        except IndexError as error:
            raise self._damaged() from error

    def _locate(self, data: Bytes, begins: Int64s, ends: Int64s) -> tuple[Int64s, Int64s]:
        active, at = np.arange(len(begins)), begins
        rounds: list[Int64s] = []
        owners: list[Int64s] = []
        while len(active):
            if len(active) <= _FEW_EVENTS and int((ends[active] - at).max()) > 64 * self._smallest:
                for event, begin in zip(active.tolist(), at.tolist(), strict=True):
                    found = self._walk(data, begin, int(ends[event]))
                    rounds.append(np.array(found, np.int64))
                    owners.append(np.full(len(found), event))
                break
            rounds.append(at)
            owners.append(active)
            at = self._next_rows(data, at)
            if bool((at > ends[active]).any()):
                raise self._damaged()
            is_open = at < ends[active]
            active, at = active[is_open], at[is_open]
        if len(rounds) == 1 and len(rounds[0]) == len(begins):
            return rounds[0], np.ones(len(begins), np.int64)
        located, owner = np.concatenate(rounds), np.concatenate(owners)
        # Events are in order in the buffer, and rows in events: sorted begins are in their order.
        return np.sort(located), np.bincount(owner, minlength=len(begins))

    @cached_property
    def _smallest(self) -> int:
        return self.null_bytes + sum(column.size + column.prefix for column in self.table.columns)

    def _next_rows(self, data: Bytes, at: Int64s) -> Int64s:
        """Return the begin of the next row, for one row of each event."""
        behind = at + self.null_bytes
        if not self._has_nulls(data, at):
            for fixed, prefix in self.runs:
                behind = behind + fixed
                if prefix:
                    behind = behind + read_little(data, behind, prefix).view(np.int64) + prefix
            return behind
        for index, column in enumerate(self.table.columns):
            lengths = self._lengths(data, behind, column.size, column.prefix)
            behind = behind + np.where(self._nulls(data, at, index), np.int64(0), lengths)
        return behind

    @staticmethod
    def _lengths(data: Bytes, at: Int64s, size: int, prefix: int) -> Int64s | int:
        if not prefix:
            return size
        # Where the column is NULL, `at` may be the end of the buffer; the value read there is not used.
        return read_little(data, at, prefix).view(np.int64) + prefix

    def _has_nulls(self, data: Bytes, at: Int64s) -> bool:
        if self.null_bytes == 1:
            return bool((data[at] & self.bitmap[0]).any())
        return bool((data[at[:, None] + np.arange(self.null_bytes)] & self.bitmap).any())

    @staticmethod
    def _nulls(data: Bytes, at: Int64s, index: int) -> Mask:
        return (data[at + index // 8] >> (index % 8) & 1).astype(np.bool_)

    def _walk(self, data: Bytes, at: int, end: int) -> list[int]:  # noqa: C901 - unrolled: this is the slow path already
        """Locate the rows of one event, one by one."""
        view, found, all_set = data.data, [], int.from_bytes(self.bitmap.tobytes(), "little")
        width, columns, runs = self.null_bytes, self.table.columns, self.runs
        while at < end:
            found.append(at)
            nulls = int.from_bytes(view[at : at + width], "little") & all_set
            at += width
            if not nulls:
                for fixed, prefix in runs:
                    at += fixed
                    if prefix:
                        at += int.from_bytes(view[at : at + prefix], "little") + prefix
                continue
            for index, column in enumerate(columns):
                if not nulls >> index & 1:
                    at += column.size
                    if column.prefix:
                        at += int.from_bytes(view[at : at + column.prefix], "little") + column.prefix
        if at != end:
            raise self._damaged()
        return found

    def column_spans(self, data: Bytes, images: Int64s) -> list[ColumnSpans]:
        """Return the spans of each column's values in the images."""
        has_nulls = self._has_nulls(data, images) if len(images) else False
        at, spans = images + self.null_bytes, []
        for index, column in enumerate(self.table.columns):
            is_null = self._nulls(data, images, index) if has_nulls else None
            if is_null is not None and not bool(is_null.any()):
                is_null = None
            if not column.prefix:
                spans.append(ColumnSpans(at, None, is_null))
                at = at + (column.size if is_null is None else np.where(is_null, 0, column.size))
                continue
            lengths = read_little(data, at, column.prefix).view(np.int64)
            at = at + column.prefix
            if is_null is not None:
                lengths[is_null] = 0
                at[is_null] -= column.prefix
            spans.append(ColumnSpans(at, lengths, is_null))
            at = at + lengths
        return spans

    def _damaged(self) -> RecordError:
        return RecordError(
            f"a row event of {self.table} does not end where its last row does: the binlog is damaged here, or the "
            f"table holds a type in a form that is not known."
        )
