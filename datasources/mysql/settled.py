"""The state after a batch, from the state of the batch and what its readers said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datasources.mysql.gtid_set import DomainPositions, GtidSet
from datasources.mysql.range_note import RangeNote
from datasources.mysql.reading import BINLOG
from datasources.mysql.state import MySqlState
from datasources.source.batch_state import RangeFacts
from datasources.source.split import SplitId

__all__ = ["merged_gtids", "settled"]

_LONGEST_GTIDS = 16_384


def settled(state: MySqlState, ranges: Mapping[SplitId, RangeFacts]) -> MySqlState:
    """Return the state at rest behind a batch.

    Args:
        state: of the batch.
        ranges: what was read; the binlog's has a note.
    """
    after = replace(state, sweep=state.after).at_rest()
    found = ranges.get(BINLOG)
    if found is None:
        return after
    assert found.note is not None
    note = RangeNote.from_text(found.note)
    return replace(
        after,
        at=found.position,
        place=note.place,
        gtid=merged_gtids(state.gtid, note.gtids),
        by_gtid=state.by_gtid and note.place != state.to,
        prepared=note.prepared,
        quiet=state.quiet + 1 if found.rows == 0 else 0,
    )


def merged_gtids(known: str | None, passed: str) -> str | None:
    """Return the transactions before a place from those before an earlier one and those between; None = not known."""
    if known is None or not passed:
        return known
    if ":" in passed:
        merged = str(GtidSet.parse(known).union(GtidSet.parse(passed)))
    else:
        merged = str(DomainPositions.parse(known).union(DomainPositions.parse(passed)))
    return merged if len(merged) <= _LONGEST_GTIDS else None
