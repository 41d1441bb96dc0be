"""XA transactions that are open at a batch's snapshot position.

The offset lists those that are open where the batch begins. Others may be prepared between there and the snapshot
position; a chunk needs them if they are committed after that position and before the chunk is read. That is rare, so
they are looked up on demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import cached_property

from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.binlog.reading.committed import CommittedChanges
from datasources.mysql.reader.prepared_before import PreparedBefore


class PreparedAtSnapshot(PreparedBefore):
    """By name where each begins; lists those at the batch's begin, and finds the others by name."""

    def __getitem__(self, xid: str) -> BinlogPosition:
        return self._at_snapshot[xid] if xid in self._at_snapshot else super().__getitem__(xid)

    @cached_property
    def _at_snapshot(self) -> Mapping[str, BinlogPosition]:
        state = self._state
        if state.position is None or state.position == state.snapshot_position:
            return {}
        opener = self._settings.opener(self._role, state.reader, lambda *_: None, decodes=False)
        changes = CommittedChanges(
            opener, start=state.position, stop=StopRule(to=state.snapshot_position), prepared=state.prepared
        )
        with closing(changes):
            for _ in changes:
                pass
            return dict(changes.prepared)
