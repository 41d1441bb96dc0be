"""One micro-batch of one bucket of session windows: the rows of ended sessions, and the new state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.partition_keys import equal_codes
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK, ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.sessions.merging import LATE, AssignedSessions, Rows, assign_sessions, is_over
from datasources.spark.operators.sessions.session_groups import SessionGroups
from datasources.spark.operators.sessions.session_state import (
    FRAGMENT_COLUMN,
    NEVER,
    Sessions,
    SessionStateHeader,
    SessionStore,
    Spans,
)

WINDOW_COLUMNS: Final = ("window_start", "window_end", "window_time")

_MS: Final = 1_000
_MAX_SEGMENTS: Final = 32
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRule:
    """The rule of the windows.

    Attributes:
        keys: the columns of PARTITION BY.
        gap_us: the gap, µs.
        exact: compare each row with its own row watermark; otherwise with the watermark before the micro-batch, which
            drops fewer rows.
        groups: what is kept of rows and emitted; None = the rows.
    """

    keys: tuple[str, ...]
    gap_us: int
    exact: bool
    groups: SessionGroups | None = None


class SessionBatchStep:
    """One micro-batch of one bucket.

    Units: ``clock_us``, the watermark after the batch, in µs. ``arrived`` is None if only the watermark advanced.
    """

    def __init__(
        self,
        rule: SessionRule,
        store: SessionStore,
        before: SessionStateHeader,
        clock_us: int,
        arrived: pa.Table | None,
    ) -> None:
        self._gap_us = rule.gap_us
        self._groups = rule.groups
        self._store = store
        self._before = before
        self._times = _ints(arrived, ROWTIME_COLUMN)
        self._watermarks = _ints(arrived, ROW_WATERMARK_COLUMN)
        self._arrived = None if arrived is None else arrived.drop_columns([ROWTIME_COLUMN, ROW_WATERMARK_COLUMN])
        self._opened = _opened(store, rule, arrived)
        columns = [] if arrived is None else [arrived.column(key) for key in rule.keys]
        self._keys = _stacked(self._opened.keys, columns)
        self._assigned = self._assign(rule)
        self._arrived_session = self._assigned.row_session
        if self._groups is not None and self._arrived is not None:
            self._arrived, self._arrived_session = self._groups.by_session(self._arrived, self._arrived_session)
        count = len(self._assigned.first)
        self._arrived_rows = _counts(self._arrived_session, count)
        self._stored_rows = _counts(self._assigned.open_session, count, self._opened.rows)
        is_ended = is_over(self._assigned.last, rule.gap_us, clock_us)
        self._ends = is_ended & (self._arrived_rows + self._stored_rows > 0)
        self._stays = ~is_ended
        # Segments are read only if rows in them are emitted.
        self._read = self._read_segments() if np.any(self._stored_rows[self._ends]) else None

    @property
    def late_rows(self) -> int:
        """Number of late rows."""
        return int(np.count_nonzero(self._assigned.row_session == LATE))

    def ended_rows(self) -> pa.Table | None:
        """Return the rows of sessions that ended, with their windows in µs; None if there are none."""
        tables = [
            self._windowed(segment.drop_columns([FRAGMENT_COLUMN]), session) for segment, session in self._read or ()
        ]
        if self._arrived is not None:
            tables.append(self._windowed(self._arrived, self._arrived_session))
        found = [table for table in tables if table.num_rows]
        if not found:
            return None
        rows = pa.concat_tables(found)
        return rows if self._groups is None else self._groups.grouped(rows, by=WINDOW_COLUMNS)

    def save(self, after: SessionStateHeader) -> SessionStateHeader:
        """Write the state; return the state header, which the caller writes."""
        labels, next_fragment = self._labels()
        added = self._added(labels)
        stored = self._before.stored_rows + (0 if added is None else added.num_rows)
        segments = self._before.segments + (0 if added is None else 1)
        live = int((self._arrived_rows + self._stored_rows)[self._stays].sum())
        fragment, owner = self._fragments(labels)
        rows = (self._arrived_rows + self._stored_rows)[self._stays]
        if self._groups is not None and self._read is None and segments > _MAX_SEGMENTS:
            self._read = self._read_segments()  # a session of many micro-batches has a row of each, until they are read
        if self._read is not None and (stored > 2 * live or segments > _MAX_SEGMENTS):
            kept = self._remaining(labels, added)
            self._store.replace_segments(kept)
            stored, segments = sum(table.num_rows for table in kept), len(kept)
            fragment, owner = labels[self._stays], np.flatnonzero(self._stays)
            rows = _rows_of(fragment, kept)
        elif added is not None:
            self._store.append_segment(added)
        self._put_sessions(fragment, owner, rows)
        lasts = self._assigned.last[self._stays]
        return replace(
            after,
            next_over_us=int(lasts.min()) + self._gap_us - _MS if len(lasts) else NEVER,
            next_fragment=next_fragment,
            stored_rows=stored,
            segments=segments,
            late_rows=after.late_rows + self.late_rows,
        )

    def _assign(self, rule: SessionRule) -> AssignedSessions:
        count = self._opened.count
        codes = equal_codes(self._keys, count + len(self._times))
        watermarks = np.where(self._watermarks == 0, NO_WATERMARK, self._watermarks)
        if not rule.exact:
            watermarks = np.full(len(watermarks), NO_WATERMARK)
        rows = Rows(key=codes[count:], time=self._times, watermark=watermarks)
        assigned = assign_sessions(rows, self._opened.as_open(codes[:count]), rule.gap_us)
        return assigned if rule.exact else _without_late(assigned, rule.gap_us, self._before.clock_us)

    def _read_segments(self) -> list[tuple[pa.Table, _Ints]]:
        """Return the segments and the current session of each row, LATE for one that ended before."""
        sessions = np.append(self._assigned.open_session, LATE)
        return [
            (segment, sessions[self._opened.owners_of(_ints(segment, FRAGMENT_COLUMN))])
            for segment in self._store.segments()
        ]

    def _windowed(self, rows: pa.Table, session: _Ints) -> pa.Table:
        leaves = _where(self._ends, session)
        ended, session = rows.filter(pa.array(leaves)), session[leaves]
        end = self._assigned.last[session] + self._gap_us
        values = (self._assigned.first[session], end, end - _MS)
        for name, column in zip(WINDOW_COLUMNS, values, strict=True):
            ended = ended.append_column(name, pa.array(column))
        return ended

    def _labels(self) -> tuple[_Ints, int]:
        """Return per session the fragment for its new rows, and the first unused number."""
        labels = np.full(len(self._stays), -1, dtype=np.int64)
        owner = self._assigned.open_session[self._opened.owner]
        labels[owner[::-1]] = self._opened.fragment[::-1]
        fresh = np.flatnonzero(self._stays & (labels < 0))
        labels[fresh] = self._before.next_fragment + np.arange(len(fresh))
        return labels, self._before.next_fragment + len(fresh)

    def _fragments(self, labels: _Ints) -> tuple[_Ints, _Ints]:
        """Return the fragments of the remaining sessions and the session of each, without rewriting segments."""
        owner = self._assigned.open_session[self._opened.owner]
        old = _where(self._stays, owner)
        fresh = np.flatnonzero(self._stays & (labels >= self._before.next_fragment))
        return np.concatenate([self._opened.fragment[old], labels[fresh]]), np.concatenate([owner[old], fresh])

    def _added(self, labels: _Ints) -> pa.Table | None:
        if self._arrived is None:
            return None
        return _labelled(self._arrived, self._arrived_session, self._stays, labels)

    def _remaining(self, labels: _Ints, added: pa.Table | None) -> list[pa.Table]:
        old = [
            _labelled(segment.drop_columns([FRAGMENT_COLUMN]), session, self._stays, labels)
            for segment, session in self._read or ()
        ]
        tables = [table for table in (*old, added) if table is not None]
        if not tables:
            return []
        rows = pa.concat_tables(tables)
        return [rows if self._groups is None else self._groups.grouped(rows, by=[FRAGMENT_COLUMN])]

    def _put_sessions(self, fragment: _Ints, owner: _Ints, rows: _Ints) -> None:
        position = np.cumsum(self._stays) - 1
        representative = pa.array(self._representatives()[self._stays])
        spans = Spans(self._assigned.first[self._stays], self._assigned.last[self._stays], rows)
        sessions = Sessions.of([column.take(representative) for column in self._keys], spans, fragment, position[owner])
        self._store.put_sessions(sessions)

    def _representatives(self) -> _Ints:
        """Return per session the position of one of its members among the keys."""
        members = np.concatenate([self._assigned.open_session, self._assigned.row_session])
        representative = np.zeros(len(self._stays) + 1, dtype=np.int64)
        representative[members] = np.arange(len(members))
        return representative[:-1]


def _opened(store: SessionStore, rule: SessionRule, arrived: pa.Table | None) -> Sessions:
    stored = store.sessions()
    if stored is not None:
        return stored
    assert arrived is not None  # a bucket without stored sessions has none that ends
    return Sessions.none([arrived.schema.field(key).type for key in rule.keys])


def _without_late(assigned: AssignedSessions, gap_us: int, clock_us: int) -> AssignedSessions:
    """Make rows late whose session has ended at the clock, unless it was open before."""
    is_late = is_over(assigned.last, gap_us, clock_us)
    is_late[assigned.open_session] = False
    row_session = np.where(_where(is_late, assigned.row_session), LATE, assigned.row_session)
    return replace(assigned, row_session=row_session)


def _labelled(rows: pa.Table, session: _Ints, stays: NDArray[np.bool_], labels: _Ints) -> pa.Table | None:
    chosen = _where(stays, session)
    if not chosen.any():
        return None
    return rows.filter(pa.array(chosen)).append_column(FRAGMENT_COLUMN, pa.array(labels[session[chosen]]))


def _rows_of(fragments: _Ints, segments: Sequence[pa.Table]) -> _Ints:
    """Return the number of rows of each fragment in segments."""
    found = [_ints(segment, FRAGMENT_COLUMN) for segment in segments]
    numbers, counts = np.unique(np.concatenate(found or [np.empty(0, np.int64)]), return_counts=True)
    rows = np.zeros(len(fragments), dtype=np.int64)
    order = np.argsort(fragments)
    rows[order[np.searchsorted(fragments[order], numbers)]] = counts
    return rows


def _where(of_session: NDArray[np.bool_], session: _Ints) -> NDArray[np.bool_]:
    """Return the flag of each row's session; False for LATE, which is index -1."""
    return np.asarray(np.append(of_session, False)[session], dtype=np.bool_)


def _counts(session: _Ints, count: int, weights: _Ints | None = None) -> _Ints:
    return np.bincount(session + 1, weights=weights, minlength=count + 1)[1:].astype(np.int64)


def _stacked(upper: Sequence[pa.ChunkedArray], lower: Sequence[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    if not lower:
        return list(upper)
    return [pa.chunked_array([*a.chunks, *b.chunks], type=a.type) for a, b in zip(upper, lower, strict=True)]


def _ints(table: pa.Table | None, name: str) -> _Ints:
    if table is None:
        return np.empty(0, dtype=np.int64)
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)
