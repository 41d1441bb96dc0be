"""The ranks of the rows of some partitions before and after a micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints
from datasources.spark.operators.changelog.rank.value_order import (
    OrderKey,
    combined_parts,
    order_parts,
    peer_starts,
    sorted_positions,
)
from datasources.spark.operators.changelog.row_groups import Bools, hashed_codes, run_starts


class RankFunction(StrEnum):
    """How rows are numbered within their partition, from 1.

    ROW_NUMBER numbers all rows; peers, rows with equal values in ORDER BY, are ordered by all columns of the row in the
    order of the table, ascending, NULLs first. RANK gives peers the number of rows before them plus 1, DENSE_RANK the
    number of groups of peers before them plus 1.
    """

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRows:
    """Distinct rows sorted by partition and rank.

    Attributes:
        order: the position of each row in the table they come from.
        begins: which rows are the first of their partition.
        peers: which rows are the first of their group of peers.
    """

    order: Ints
    begins: Bools
    peers: Bools

    @classmethod
    def of(
        cls, rows: pa.Table, partition_keys: Sequence[str], keys: Sequence[OrderKey], *, is_total: bool
    ) -> RankedRows:
        """Sort rows that have HASH_COLUMN; with ``is_total`` peers are ordered by all their columns."""
        partitions = hashed_codes(rows, partition_keys)
        parts = combined_parts([partitions, *order_parts(rows, keys)])
        order = sorted_positions(parts, rows.num_rows)
        peers = peer_starts(parts, order)
        if is_total and not peers.all():
            order = _ordered_peers(rows, order, peers)
        return cls(order=order, begins=run_starts(partitions[order]), peers=peers)

    def ranks(self, function: RankFunction, copies: Ints) -> Ints:
        """Return the rank of each row, in sorted order; of a row that occurs several times that of the first.

        Args:
            function: how rows are numbered.
            copies: how often each row occurs, in sorted order.
        """
        if function is RankFunction.DENSE_RANK:
            present = np.flatnonzero(self.peers)
            if not len(present):
                return np.empty(0, dtype=np.int64)
            occurs = (np.add.reduceat(copies, present) > 0).astype(np.int64)
            earlier = _at_starts(np.cumsum(occurs) - occurs, self.begins[present])
            dense: Ints = (np.cumsum(occurs) - earlier)[np.cumsum(self.peers) - 1]
            return dense
        before: Ints = np.cumsum(copies) - copies
        ranks: Ints = before - _at_starts(before, self.begins) + 1
        return ranks if function is RankFunction.ROW_NUMBER else _at_starts(ranks, self.peers)


def _at_starts(values: Ints, starts: Bools) -> Ints:
    """Return for each row the value at the last start at or before it."""
    found: Ints = values[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    return found


def _ordered_peers(rows: pa.Table, order: Ints, peers: Bools) -> Ints:
    """Return the order with each group of peers sorted by all columns."""
    groups = np.cumsum(peers) - 1
    at = np.flatnonzero(np.bincount(groups)[groups] > 1)
    tied = rows.take(pa.array(order[at]))
    names = [name for name in rows.column_names if name != HASH_COLUMN]
    parts = combined_parts([groups[at], *order_parts(tied, [OrderKey(name) for name in names])])
    inner = sorted_positions(parts, len(at))
    order = order.copy()
    order[at] = order[at][inner]
    return order
