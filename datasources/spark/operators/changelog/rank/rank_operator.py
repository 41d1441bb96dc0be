"""Rows of a changing table by their rank within a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from datasources.errors import InternalError
from datasources.spark.operators.changelog.change_operator import OperatorState
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints, weights, with_weights
from datasources.spark.operators.changelog.multiplicities import (
    MISSING_REMOVALS,
    MergedRows,
    add_count,
    conformed,
    merged_rows,
)
from datasources.spark.operators.changelog.rank.rank_changes import (
    NO_LIMIT,
    RankChanges,
    RankRange,
    changes_with_ranks,
    changes_without_ranks,
    copies_in_range,
)
from datasources.spark.operators.changelog.rank.ranked_rows import RankedRows, RankFunction
from datasources.spark.operators.changelog.rank.value_order import OrderKey, is_sortable
from datasources.spark.operators.changelog.row_groups import sorted_unique


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOperator:
    """Returns the rows with a rank above ``offset`` up to ``limit``. A `ChangeOperator` with one input.

    A micro-batch ranks all rows of the partitions that it changes again. The state holds the table, each row once; of
    an insert-only table with a limit the rows up to the limit only.

    Attributes:
        schema: columns of the table.
        partition_keys: columns whose values form a partition; none: all rows are one partition. Rows of one partition
            have one hash.
        order: the columns of ORDER BY; none: the order of the whole rows counts.
        function: how rows are numbered. ROW_NUMBER numbers peers by the order of all their columns.
        limit: the largest rank returned; None is no limit.
        offset: ranks up to this one are not returned.
        rank_column: name of a last column with the rank. Without it a row whose rank changes within the range does not
            change.
        rank_type: type of that column.
        is_insert_only: whether no row of the table is ever removed.
    """

    schema: pa.Schema
    partition_keys: Sequence[str]
    order: Sequence[OrderKey]
    function: RankFunction
    limit: int | None = None
    offset: int = 0
    rank_column: str | None = None
    rank_type: pa.DataType = field(default_factory=pa.int32)
    is_insert_only: bool = False

    def __post_init__(self) -> None:
        """Raise a ValueError if the order has a type without one, or the range or the column's name is unusable."""
        for key in self.order:
            if not is_sortable(self.schema.field(key.column).type):
                raise ValueError(f"column {key.column} of type {self.schema.field(key.column).type} has no order here")
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise ValueError(f"limit {self.limit} or offset {self.offset} is negative")
        if self.rank_column in self.schema.names:
            raise ValueError(f"there already is a column {self.rank_column}")

    @property
    def output(self) -> pa.Schema:
        """The columns of the result, without the weight."""
        fields = [pa.field(each.name, each.type) for each in self.schema]
        if self.rank_column is not None:
            fields.append(pa.field(self.rank_column, self.rank_type))
        return pa.schema(fields)

    @property
    def state_names(self) -> tuple[str, ...]:
        """The name of the state: the rows of the table."""
        return ("rows",)

    @property
    def settings(self) -> Mapping[str, object]:
        """What the state depends on."""
        return {
            "columns": [f"{each.name} {each.type}" for each in self.schema],
            "partition by": list(self.partition_keys),
            "order by": [[key.column, bool(key.ascending), bool(key.nulls_first)] for key in self.order],
            "function": self.function.value,
            "limit": self.limit,
            "offset": self.offset,
            "rank column": self.rank_column,
            "insert-only": bool(self.is_insert_only),
        }

    @property
    def is_net(self) -> bool:
        """The rows of the table are merged, and each rank of a row changes once."""
        return True

    @property
    def placement(self) -> tuple[str, ...]:
        """The keys of partitions."""
        return tuple(self.partition_keys)

    def advance(self, state: OperatorState, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the changes of one micro-batch for one bucket; see `ChangeOperator.advance`.

        Raises:
            InternalError: a row is removed from an insert-only table.
        """
        changes = conformed(inputs[0], self.schema)
        if self.is_insert_only and (weights(changes) < 0).any():
            raise InternalError("a row is removed from a table that was planned as insert-only")
        pages, hashes = state.pages("rows"), sorted_unique(ints(changes, HASH_COLUMN))
        merged = merged_rows(pages.read(hashes), changes)
        is_total = self.function is RankFunction.ROW_NUMBER
        ranked = RankedRows.of(merged.rows, self.partition_keys, self.order, is_total=is_total)
        pages.replace(hashes, self._stored(merged, ranked, hashes))
        add_count(state, MISSING_REMOVALS, merged.missing)
        return self._result(merged, ranked)

    def _stored(self, merged: MergedRows, ranked: RankedRows, hashes: Ints) -> pa.Table:
        if not self.is_insert_only or self.limit is None:
            return merged.stored(hashes)
        reachable = RankRange(limit=self.limit)
        copies = copies_in_range(ranked, self.function, reachable, merged.after[ranked.order])
        kept = np.flatnonzero(copies)
        return with_weights(merged.rows.take(pa.array(ranked.order[kept])), copies[kept])

    def _result(self, merged: MergedRows, ranked: RankedRows) -> pa.Table:
        shown = RankRange(offset=self.offset, limit=NO_LIMIT if self.limit is None else max(self.limit, self.offset))
        before, after = merged.before[ranked.order], merged.after[ranked.order]
        find = changes_without_ranks if self.rank_column is None else changes_with_ranks
        return self._table(merged.rows, ranked, find(ranked, self.function, shown, before, after))

    def _table(self, rows: pa.Table, ranked: RankedRows, changes: RankChanges) -> pa.Table:
        found = rows.select(self.schema.names).take(pa.array(ranked.order[changes.rows]))
        columns = list(found.columns)
        if self.rank_column is not None:
            columns.append(pa.array(changes.ranks, type=pa.int64()).cast(self.rank_type))
        columns.append(rows.column(HASH_COLUMN).take(pa.array(ranked.order[changes.rows])))
        return with_weights(pa.Table.from_arrays(columns, names=[*self.output.names, HASH_COLUMN]), changes.weights)
