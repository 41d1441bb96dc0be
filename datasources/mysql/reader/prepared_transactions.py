"""XA transactions that are open at a batch's mark.

The offset knows those that are open where the batch begins. Between there and the mark others may be prepared; a chunk
must know them if they are committed behind the mark before the chunk is read. That is rare, so it is looked up then.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import cached_property

from datasources.mysql.binlog import BinlogPosition, StopRule
from datasources.mysql.binlog.reading.committed import CommittedChanges
from datasources.mysql.reader.prepared_before import PreparedBefore

__all__ = ["PreparedAtMark"]


class PreparedAtMark(PreparedBefore):
    """By name where each begins; lists those of the batch's begin, and finds the others by name."""

    def __getitem__(self, xid: str) -> BinlogPosition:
        return self._at_mark[xid] if xid in self._at_mark else super().__getitem__(xid)

    @cached_property
    def _at_mark(self) -> Mapping[str, BinlogPosition]:
        state = self._state
        if state.place is None or state.place == state.mark:
            return {}
        opener = self._reading.opener(self._role, state.reader, lambda *_: None, decodes=False)
        changes = CommittedChanges(opener, start=state.place, stop=StopRule(to=state.mark), prepared=state.prepared)
        with closing(changes):
            for _ in changes:
                pass
            return dict(changes.prepared)
