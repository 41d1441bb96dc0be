"""The state after a batch, reconciled from the state of the batch and its readers' reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from datasources.errors import DataLossError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.scan.scan_settings import BINLOG
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_report import RangeReport
from datasources.source.api.connector_state import RangeInfo
from datasources.source.api.split import SplitId

MAX_GTID_CHARS: Final = 16_384
"""The limit of a GTID set in an offset: a longer one is dropped, and a switch to another server is then refused."""


def reconciled(state: MySqlState, ranges: Mapping[SplitId, RangeInfo]) -> MySqlState:
    """Return the state after a batch.

    Args:
        state: of the batch.
        ranges: the readers' reports; the binlog's has a note.
    """
    after = replace(state, snapshot=state.after).without_data()
    found = ranges.get(BINLOG)
    if found is None:
        return after
    assert found.note is not None
    note = RangeReport.from_text(found.note)
    if note.server != state.server:
        return _reconciled_elsewhere(after, found, note)
    by_gtid = state.by_gtid and not _is_behind(note.position, state)
    return replace(
        after,
        at=found.position,
        position=note.position,
        gtid=merged_gtids(state.gtid, note.gtids),
        by_gtid=by_gtid,
        gtid_until=state.gtid_until if by_gtid else None,
        prepared=note.prepared,
        reread=tuple(sorted({*state.reread, *note.again})),
        irrelevant_batches=state.irrelevant_batches + 1 if found.rows == 0 else 0,
    )


def _reconciled_elsewhere(after: MySqlState, found: RangeInfo, note: RangeReport) -> MySqlState:
    """Return the state after a read at another server: its positions are invalid here, its transactions are valid."""
    is_unknown = not note.gtids and found.rows != 0
    if after.gtid is None or is_unknown:
        raise DataLossError(
            f"the server is another one now ({after.server}, before {note.server}), and the transactions that were "
            f"read there have no GTIDs by which to resume here. Start with a new checkpoint."
        )
    return replace(
        after,
        at=found.position,
        position=None,
        gtid=merged_gtids(after.gtid, note.gtids),
        by_gtid=True,
        prepared={},
        reread=tuple(sorted({*after.reread, *note.again})),
        irrelevant_batches=0,
    )


def _is_behind(position: BinlogPosition, state: MySqlState) -> bool:
    """Whether all transactions that were read are before a position."""
    return position == state.to if state.gtid_until is None else position >= state.gtid_until


def merged_gtids(known: str | None, passed: str) -> str | None:
    """Return the transactions before a position, from those before an earlier one and those between; None = unknown."""
    if known is None or not passed:
        return known
    if ":" in passed:
        merged = str(GtidSet.parse(known).union(GtidSet.parse(passed)))
    else:
        merged = str(DomainPositions.parse(known).union(DomainPositions.parse(passed)))
    return storable_gtids(merged)


def has_read(known: str | None, executed: str | None) -> bool:
    """Return whether all transactions that a server executed are among known ones."""
    if known is None or executed is None:
        return False
    if ":" in executed:
        return GtidSet.parse(known).contains(GtidSet.parse(executed))
    return DomainPositions.parse(known).contains(DomainPositions.parse(executed))


def storable_gtids(text: str | None) -> str | None:
    """Return a set of transactions as an offset stores it: None if it is too long."""
    return text if text is not None and len(text) <= MAX_GTID_CHARS else None
