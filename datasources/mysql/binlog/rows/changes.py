"""The inputs of a binlog reader (capture, stop rule) and the changes that it emits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from datasources.mysql.binlog.positions.gtid_set import GtidSet
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.rows.buffered_events import BufferedEvents
from datasources.mysql.binlog.rows.row_batch import BinlogRows
from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.binlog.statements.statements import Statement
from datasources.mysql.types.column import ZeroDates


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """Which columns of a table are read, and how.

    Attributes:
        columns: names of columns; None = all. A name is left out where the table does not have it.
        zero_dates: how invalid dates are read.
        typed: returns a table with the types that only the catalog tells (catalog_types.py); None = as it is described.
    """

    columns: frozenset[str] | None = None
    zero_dates: ZeroDates = ZeroDates.FAIL
    typed: Callable[[TableMap], TableMap] | None = None


CaptureRule = Callable[[str, str], Capture | None]
"""Database and table to the capture; None = the table is not captured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """Where reading ends: at the first position between two transactions that meets one of these conditions.

    The position follows from the binlog and the rule alone, so a re-read ends at the same one.

    Attributes:
        to: this position was reached or passed.
        max_bytes: at least this many bytes of the binlog were read.
        max_rows: at least this many rows of captured tables were changed.
        committed_us: the next transaction was committed then or later, µs since the epoch (MariaDB: its header's time).
        within: the next transaction has a GTID that is not in this set; MySQL only.
    """

    to: BinlogPosition | None = None
    max_bytes: int | None = None
    max_rows: int | None = None
    committed_us: int | None = None
    within: GtidSet | None = None

    def is_reached(self, position: BinlogPosition, *, passed_bytes: int, changed_rows: int) -> bool:
        """Return whether reading ends at a position between two transactions."""
        return (
            (self.to is not None and position >= self.to)
            or (self.max_bytes is not None and passed_bytes >= self.max_bytes)
            or (self.max_rows is not None and changed_rows >= self.max_rows)
        )


class XaOutcome(Enum):
    """How an XA transaction was decided."""

    PREPARED = "prepared"
    ONE_PHASE = "committed in one phase"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"


@dataclass(frozen=True, slots=True, kw_only=True)
class XaChange:
    """An XA transaction was prepared or decided.

    Rows of a prepared transaction are in the binlog where it was prepared, and are not emitted there: it may still
    be rolled back. Once it is committed, or was in one phase, they are read from `position` by a reader with that
    position among its `released` ones.

    Attributes:
        outcome: how it was decided.
        xid: as XA statements write it: ``X'67',X'62',1``.
        position: for PREPARED and ONE_PHASE the begin of the transaction, else that of the decision.
        commit_us: when that was written, µs since the epoch; 0 if not stated. Decisions always have a
            time, if need be the statement's, in whole seconds.
        buffered: for PREPARED and ONE_PHASE the rows; None if they are not in memory and must be read again.
        tables: for PREPARED and ONE_PHASE database and name of the tables that it changes.
    """

    outcome: XaOutcome
    xid: str
    position: BinlogPosition
    commit_us: int
    buffered: BufferedEvents | None = field(default=None, compare=False, repr=False)
    tables: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """A heartbeat: the server has nothing more, or skips transactions that were already read.

    Everything up to the position was emitted.
    """

    position: BinlogPosition


Change = BinlogRows | Statement | XaChange | Idle
