"""What a reader of the binlog is told, and what it tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from datasources.mysql.binlog.positions.gtid_set import GtidSet
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.rows.held_events import HeldEvents
from datasources.mysql.binlog.rows.row_batch import RowBatch
from datasources.mysql.binlog.statements.statements import Statement
from datasources.mysql.types.column import ZeroDates

__all__ = ["Capture", "CaptureRule", "Change", "Idle", "StopRule", "XaChange", "XaOutcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What is read of a table.

    Attributes:
        columns: names of its columns; None = all. A name that the table does not have at some place is left out there.
        zero_dates: what becomes of dates that no calendar has.
    """

    columns: frozenset[str] | None = None
    zero_dates: ZeroDates = ZeroDates.FAIL


CaptureRule = Callable[[str, str], Capture | None]
"""Database and table to what is read of it; None = nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """Where reading ends: at the first place between two transactions at which one of these holds.

    The place follows from the binlog and the rule alone, so reading again ends at the same one.

    Attributes:
        to: reached or passed.
        max_bytes: at least so many bytes of the binlog were passed.
        max_rows: at least so many rows of captured tables were changed.
        committed_us: the next transaction was committed then or later, µs since the epoch (MariaDB: its header's time).
        within: the next transaction has a GTID that is not in this set; of MySQL only.
    """

    to: BinlogPosition | None = None
    max_bytes: int | None = None
    max_rows: int | None = None
    committed_us: int | None = None
    within: GtidSet | None = None

    def holds(self, position: BinlogPosition, *, passed_bytes: int, changed_rows: int) -> bool:
        """Return whether reading ends at a place between two transactions."""
        return (
            (self.to is not None and position >= self.to)
            or (self.max_bytes is not None and passed_bytes >= self.max_bytes)
            or (self.max_rows is not None and changed_rows >= self.max_rows)
        )


class XaOutcome(Enum):
    """What happened to an XA transaction."""

    PREPARED = "prepared"
    ONE_PHASE = "committed in one phase"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"


@dataclass(frozen=True, slots=True, kw_only=True)
class XaChange:
    """An XA transaction was prepared or decided.

    Rows of a prepared transaction stand in the binlog where it was prepared, and are not delivered there: it may still
    be rolled back. Once it is committed, or was in one phase, they are read from `position` by a reader with that
    position among its `released` ones.

    Attributes:
        outcome: what happened.
        xid: the transaction's name, as XA statements write it: ``X'67',X'62',1``.
        position: for PREPARED and ONE_PHASE where the transaction begins, else where the decision stands.
        commit_us: when that was written, µs since the epoch; 0 where the server does not say. Decisions always have a
            time, whole seconds of the statement where the server says no other.
        held: for PREPARED and ONE_PHASE the rows; None if they were not kept and must be read again.
        tables: for PREPARED and ONE_PHASE database and name of the tables that it changes.
    """

    outcome: XaOutcome
    xid: str
    position: BinlogPosition
    commit_us: int
    held: HeldEvents | None = field(default=None, compare=False, repr=False)
    tables: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """The server spoke without a change (it has nothing more, or passes over transactions that were read already).

    All up to the position was delivered.
    """

    position: BinlogPosition


Change = RowBatch | Statement | XaChange | Idle
